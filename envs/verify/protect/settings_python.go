package protect

import (
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

// testSection matches tables and sections of test runners, their plugins and related tools.
var testSection = regexp.MustCompile(`^(pytest|tool:pytest|coverage|tox|testenv|nox|hatch|nosetests|unittest|aliases|test|options\.entry_points|entry|default)`)

// steersTests reports whether a table or section of this name controls the tests.
func steersTests(name string) bool { return testSection.MatchString(strings.ToLower(name)) }

// tomlSteering returns the tables of tools that control tests, and the project's entry points.
func tomlSteering(_ protection, content []byte) map[string]any {
	var file map[string]any
	if toml.Unmarshal(content, &file) != nil {
		return nil
	}
	found := map[string]any{}
	for _, top := range []string{"tool", "project", "envs", "env"} {
		table, _ := file[top].(map[string]any)
		for name, value := range table {
			if steersTests(name) || top == "envs" || top == "env" {
				found[top+"."+name] = value
			}
		}
	}
	for name, value := range file {
		if steersTests(name) {
			found[name] = value
		}
	}
	return found
}

// iniSteering returns the lines of sections that control tests. For some readers, an indented line
// with a bracket begins a section; for others, it continues a value. Here it begins a section,
// unless that would end a section that controls tests.
func iniSteering(_ protection, content []byte) map[string]any {
	found := map[string]any{}
	section := ""
	for _, line := range strings.FieldsFunc(string(content), pythonLineEnd) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "[") && (strings.HasPrefix(line, "[") || !steersTests(section)) {
			section = strings.TrimSpace(strings.Trim(trimmed, "[]"))
		}
		if trimmed != "" && steersTests(section) {
			before, _ := found[section].(string)
			found[section] = before + strings.TrimRight(line, " \t") + "\n"
		}
	}
	return found
}

// pythonLineEnd reports whether Python ends a line at a character.
func pythonLineEnd(r rune) bool {
	return r >= '\n' && r <= '\r' || r >= 0x1C && r <= 0x1E || r == 0x85 || r == 0x2028 || r == 0x2029
}
