package tasks

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"relabel"
)

// readInstallConfig reads SWE-rebench's recipe. Version 1 reinstalls the repository before it
// runs test_cmd on the files of the test patch. In version 2 the image has it installed, and
// test_cmd names the tests.
func (l *taskLine) readInstallConfig(t *relabel.Task, format Format) {
	l.used["install_config"] = true
	fields, wrong := parseObject(bytes.TrimSpace(l.object("install_config")))
	if wrong != "" {
		l.refuse("install_config", "%s", wrong)
		return
	}
	inner := newTaskLine(l.place, fields)
	inner.readTestCommand(t)
	if t.TestCmd == "" && len(inner.problems) == 0 {
		inner.refuse("test_cmd", "is missing or empty")
	}
	if format != FormatSWERebenchV2 && len(inner.problems) == 0 {
		t.TestCmd = onTestFiles(t.TestCmd, testFiles(t.TestPatch))
		t.EvalScript = makeEvalScript(inner.installation(), t.TestCmd)
	}
	l.adopt("install_config", inner)
}

// adopt copies the problems and the unused fields of an object in field.
func (l *taskLine) adopt(field string, inner *taskLine) {
	for _, p := range inner.problems {
		l.refuse(field+"."+p.Field, "%s", p.Message)
	}
	for _, name := range inner.unused() {
		l.fields[field+"."+name] = inner.fields[name]
	}
}

// offline makes pip use the packages in the image, since sandboxes have no network. pip reads
// PIP_NO_BUILD_ISOLATION=0 as --no-build-isolation: the values of its no- options are inverted.
const offline = "export PIP_NO_BUILD_ISOLATION=0 PIP_RETRIES=0 PIP_DISABLE_PIP_VERSION_CHECK=1"

// installation returns the commands of SWE-rebench's recipe that run before its tests.
func (l *taskLine) installation() []string {
	commands := []string{"export LANG=C.UTF-8 LC_ALL=C.UTF-8"}
	commands = append(commands, l.exports("env_vars")...)
	if install := l.commands("install"); len(install) > 0 {
		commands = append(append(commands, offline), install...)
	}
	return commands
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// exports reads an object of environment variables, or a JSON string that holds one, as
// shell commands that set them.
func (l *taskLine) exports(field string) []string {
	l.used[field] = true
	if !l.has(field) {
		return nil
	}
	raw := bytes.TrimSpace(l.object(field))
	if len(raw) == 0 {
		return nil
	}
	var values map[string]string
	if json.Unmarshal(raw, &values) != nil {
		l.refuse(field, "is neither an object of strings nor a JSON string that holds one")
		return nil
	}
	var commands []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !variableName.MatchString(name) {
			l.refuse(field, "%q is not the name of an environment variable", name)
			return nil
		}
		commands = append(commands, "export "+name+"="+shellQuote(l.checkText(field, raw, values[name])))
	}
	return commands
}

// readLiveCommands reads SWE-bench-Live's commands: they rebuild the repository, run the tests,
// and print the log if the tests do not.
func (l *taskLine) readLiveCommands(t *relabel.Task) {
	t.LogParser = l.parser(l.need("log_parser"))
	tests := l.commands("test_cmds")
	if len(tests) == 0 && !l.wrong("test_cmds") {
		l.refuse("test_cmds", "is missing or empty")
		return
	}
	t.TestCmd = strings.Join(append(tests, l.commands("print_cmds")...), "\n")
	if rebuild := l.commands("rebuild_cmds"); len(rebuild) > 0 {
		t.EvalScript = makeEvalScript(rebuild, t.TestCmd)
	}
}
