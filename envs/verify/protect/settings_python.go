package protect

import (
	"strings"

	"github.com/BurntSushi/toml"
)

// steersTests reports whether a table or section of this name is read by a test runner,
// its plugins or the tools around it.
func steersTests(name string) bool {
	for _, prefix := range []string{"pytest", "tool:pytest", "coverage", "tox", "testenv", "nox", "hatch", "nosetests", "unittest", "aliases", "test", "options.entry_points", "entry", "default"} {
		if strings.HasPrefix(strings.ToLower(name), prefix) {
			return true
		}
	}
	return false
}

// tomlSteering returns the tables of tools that steer tests, and the project's entry
// points.
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

// iniSteering returns the lines of the sections that steer tests. Readers differ on an
// indented line with a bracket: it begins a section, or continues with a value. So it begins
// one, unless that would end a section that steers.
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
