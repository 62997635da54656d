package verify

import (
	"bytes"
	"context"
	"encoding/base64"
	"path"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"

	"relabel"
)

// A file of settings that the gold patch changes is graded, because it may be part of the
// solution. What steers the test runner in it must be as at the base or as the gold patch
// has it: otherwise the change is dropped.

// foreignSettings returns those changes of settings that the gold patch allows and that
// steer the runner in a third way. A trial is returned where the container failed.
func (s *stage) foreignSettings(ctx context.Context, p protection) ([]change, *trial) {
	var shared []change
	args := []string{s.index(), s.tree}
	for _, c := range s.changes {
		if base := path.Base(c.path); p.gold[c.path] && !p.tests[c.path] && !c.deleted() && settings[base] && base != "conftest.py" {
			shared = append(shared, c)
			args = append(args, c.path)
		}
	}
	if len(shared) == 0 || s.own {
		return nil, nil
	}
	const doing = "comparing settings with those of the gold patch"
	r, problem := s.run(ctx, doing, settingsScript, []byte(s.task.Patch), maxReading, args...)
	lines := bytes.Split(r.Output, []byte("\n"))
	if problem == "" && (r.Exit != 0 || len(lines) < 3*len(shared)) {
		problem = failed(doing, r)
	}
	if problem != "" {
		return nil, &trial{ran: true, doubt: problem}
	}
	var foreign []change
	for i, c := range shared {
		base, gold, mine := steering(c.path, lines[3*i]), steering(c.path, lines[3*i+1]), steering(c.path, lines[3*i+2])
		if mine == nil || (!reflect.DeepEqual(mine, base) && !reflect.DeepEqual(mine, gold)) {
			foreign = append(foreign, c)
		}
	}
	return foreign, nil
}

// settingsReason is why such a change is dropped.
const settingsReason = "steers the test runner neither as the base does nor as the gold patch"

// droppedSettings returns changes with that reason.
func droppedSettings(changes []change) []relabel.DroppedPath {
	var paths []relabel.DroppedPath
	for _, c := range changes {
		paths = append(paths, relabel.DroppedPath{Path: c.path, Reason: settingsReason})
	}
	return paths
}

// steering returns what of a file of settings, in base64, steers test runners. It is nil
// where that cannot be read.
func steering(name string, encoded []byte) map[string]any {
	content, err := base64.StdEncoding.DecodeString(string(encoded))
	if err != nil {
		return nil
	}
	switch {
	case strings.HasSuffix(name, ".toml"):
		return tomlSteering(content)
	case path.Base(name) == "setup.cfg", path.Base(name) == "tox.ini":
		return iniSteering(content)
	}
	return map[string]any{"": string(content)}
}

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
func tomlSteering(content []byte) map[string]any {
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
func iniSteering(content []byte) map[string]any {
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
