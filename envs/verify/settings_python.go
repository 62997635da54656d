package verify

import (
	"strings"

	"github.com/BurntSushi/toml"
)

// steersTests reports whether a table or section of this name is read by a test runner,
// its plugins or the tools around it.
func steersTests(name string) bool {
	for _, prefix := range []string{"pytest", "tool:pytest", "coverage", "tox", "testenv", "nox", "hatch", "nosetests", "unittest", "aliases", "test", "options.entry_points", "entry"} {
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

// iniSteering returns the lines of the sections that steer tests. A line that begins with
// a bracket begins a section, however far it is indented.
func iniSteering(_ protection, content []byte) map[string]any {
	found := map[string]any{}
	section := ""
	for _, line := range strings.Split(string(content), "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "[") {
			section = strings.TrimSpace(strings.Trim(trimmed, "[]"))
		}
		if trimmed != "" && steersTests(section) {
			before, _ := found[section].(string)
			found[section] = before + strings.TrimRight(line, " \t\r") + "\n"
		}
	}
	return found
}
