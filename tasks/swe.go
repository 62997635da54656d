package tasks

import (
	"encoding/json"
	"slices"
	"strings"

	"relabel"
	"relabel/gitdiff"
)

// readSWE reads the fields of the SWE-bench family: how to run its tests and parse their log.
func (l *taskLine) readSWE(t *relabel.Task, format Format) {
	t.BaseCommit, t.TestPatch = l.need("base_commit"), l.need("test_patch")
	switch {
	case l.has("test_cmd"): // added by the file's author: it replaces the data set's own
		l.readTestCommand(t)
	case l.has("install_config"):
		l.readInstallConfig(t, format)
	case format == FormatSWEBenchLive:
		l.readLiveCommands(t)
	default:
		l.readEvalScript(t)
	}
}

// readTestCommand reads test_cmd, a string or a list of commands that run in sequence, and
// log_parser. Without both, the verifier decides; a command without a parser is pytest's.
func (l *taskLine) readTestCommand(t *relabel.Task) {
	t.TestCmd = strings.Join(l.commands("test_cmd"), " && ")
	if t.LogParser = l.parser(l.text("log_parser")); t.LogParser == "" && t.TestCmd != "" {
		t.LogParser = "pytest"
	}
}

// commands reads a shell command or a list of them; nil if there is none.
func (l *taskLine) commands(field string) []string {
	var list []string
	if raw := l.fields[field]; len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &list) == nil {
		l.used[field] = true
		for i := range list {
			list[i] = l.checkText(field, raw, list[i])
		}
		return list
	}
	if command := l.text(field); command != "" {
		return []string{command}
	}
	return nil
}

// readEvalScript reads SWE-bench v5's parser and its evaluation script, which runs completely.
// Earlier versions have neither; readTestRun knows how they are tested.
func (l *taskLine) readEvalScript(t *relabel.Task) {
	t.LogParser = l.parser(l.text("log_parser"))
	if kind := l.text("eval_type"); kind != "" && kind != "pass_and_fail" {
		l.refuse("eval_type", "%q is not supported: a test that is absent would count as passed", kind)
	}
	script := l.text("eval_script")
	if script == "" {
		l.readTestRun(t)
		return
	}
	parts, marked := SplitEvalScript(script)
	switch {
	case !marked:
		l.refuse("eval_script", "lacks the marks around its test command")
	case parts.Tests == "":
		l.refuse("eval_script", "has no command between its marks")
	}
	t.EvalScript, t.TestCmd = script, parts.Tests
}

// notTests are suffixes of data files in a test patch.
var notTests = []string{".json", ".png", ".csv", ".txt", ".md", ".jpg", ".jpeg", ".pkl", ".yml", ".yaml", ".toml"}

// testFiles lists the files of a test patch that the test command runs, without deleted ones.
func testFiles(testPatch string) []string {
	changes, err := gitdiff.Parse(testPatch)
	if err != nil {
		return nil // checkPatch reports it
	}
	var files []string
	for _, c := range changes {
		data := slices.ContainsFunc(notTests, func(ending string) bool { return strings.HasSuffix(c.New, ending) })
		if c.New != "" && !data {
			files = append(files, c.New)
		}
	}
	return files
}

// onTestFiles appends files to a command, quoted for a shell.
func onTestFiles(command string, files []string) string {
	for _, f := range files {
		command += " " + shellQuote(f)
	}
	return command
}

func shellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
