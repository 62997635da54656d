package tasks

import (
	"slices"
	"strings"

	"relabel"
	"relabel/gitdiff"
)

// smithPytest is the test command of most repositories of SWE-smith; it gets the test files.
const smithPytest = "pytest --disable-warnings --color=no --tb=no --verbose"

// smithCommand is how the tests of a repository of SWE-smith run.
type smithCommand struct {
	command string
	parser  string
	whole   bool // the command runs all tests, not the files of FAIL_TO_PASS
}

// smithCommands are the repositories whose command is not smithPytest, by SWE-smith's own table.
var smithCommands = map[string]smithCommand{
	"gin-gonic/gin":        {"go test -v ./...", "gotest", true},
	"hips/autograd":        {smithPytest, "pytest_v2", false},
	"jax-ml/jax":           {smithPytest + " -n auto", "pytest_v2", false},
	"mido/mido":            {smithPytest + " -rs -c /dev/null", "pytest_v2", false},
	"paramiko/paramiko":    {"pytest -rA --color=no --disable-warnings", "pytest", false},
	"pydantic/pydantic":    {"/root/.local/bin/uv run " + smithPytest, "pytest_v2", false},
	"python/mypy":          {"pytest --color=no -rA -k", "mypy", false},
	"tornadoweb/tornado":   {"python -m tornado.test --verbose", "tornado", true},
	"un33k/python-slugify": {"python test.py --verbose", "unittest", true},
}

// readSmith reads a row of SWE-smith: its patch puts a bug into the repository of the image, so the gold patch is the
// reverse.
func (l *taskLine) readSmith() relabel.Task {
	t := relabel.Task{
		Kind: relabel.Repair, InstanceID: l.need("instance_id"), Image: l.smithImage(), Workdir: "/testbed",
		ProblemStatement: l.need("problem_statement"), HintsText: l.text("hints_text"), StartPatch: l.need("patch"),
		FailToPass: l.tests("FAIL_TO_PASS"), PassToPass: l.tests("PASS_TO_PASS"),
	}
	l.text("base_commit") // the commit of the bug's branch, which the image does not have
	l.text("repo")
	t.Repo = smithRepo(t.InstanceID)
	if gold, err := gitdiff.Reverse(t.StartPatch); err == nil {
		t.Patch = gold
	} else if t.StartPatch != "" {
		l.refuse("patch", "cannot be reversed: it %s", err)
	}
	if l.has("test_cmd") {
		l.readTestCommand(&t)
	} else {
		l.smithTests(&t)
	}
	return t
}

// smithImage is the image of the row, or the one that SWE-smith publishes under another name.
func (l *taskLine) smithImage() string {
	image := l.image(FormatSWESmith)
	if image != "" && !strings.Contains(image, "/") {
		image = "jyangballin/" + strings.ReplaceAll(image, "__", "_1776_")
	}
	return image
}

// smithRepo is the repository of an instance id, OWNER__NAME.COMMIT.BUG.
func smithRepo(id string) string {
	parts := strings.Split(id, ".")
	if len(parts) < 3 {
		return ""
	}
	return strings.Replace(strings.Join(parts[:len(parts)-2], "."), "__", "/", 1)
}

// smithTests sets the test command of the repository.
func (l *taskLine) smithTests(t *relabel.Task) {
	command, known := smithCommands[strings.ToLower(t.Repo)]
	switch {
	case !known && slices.ContainsFunc(t.FailToPass, func(name string) bool { return !strings.Contains(name, ".py::") }):
		l.refuse("repo", "%s is not one of SWE-smith's Python repositories, and the row does not say how its tests run: add test_cmd and log_parser", t.Repo)
		return
	case !known:
		command = smithCommand{smithPytest, "pytest_v2", false}
	case !knownParser(command.parser):
		l.refuse("repo", "the log of the tests of %s cannot be read: there is no parser %s", t.Repo, command.parser)
		return
	}
	t.TestCmd, t.LogParser = command.command, command.parser
	switch {
	case command.whole:
	case command.parser == "mypy":
		keys := make([]string, len(t.FailToPass))
		for i, name := range t.FailToPass {
			keys[i] = name[strings.LastIndex(name, "::")+1:]
			keys[i] = strings.TrimPrefix(keys[i], ":")
		}
		t.TestCmd += " " + shellQuote(strings.Join(keys, " or "))
	default:
		l.smithFiles(t)
	}
	t.EvalScript = makeEvalScript([]string{"source /opt/miniconda3/bin/activate", "conda activate testbed"}, t.TestCmd)
}

// smithFiles runs the files of FAIL_TO_PASS and drops the tests of others, as SWE-smith does.
func (l *taskLine) smithFiles(t *relabel.Task) {
	var files []string
	for _, name := range t.FailToPass {
		if file, _, _ := strings.Cut(name, "::"); !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	t.TestCmd = onTestFiles(t.TestCmd, files)
	kept := t.PassToPass[:0]
	for _, name := range t.PassToPass {
		if file, _, _ := strings.Cut(name, "::"); slices.Contains(files, file) {
			kept = append(kept, name)
		}
	}
	if len(kept) < len(t.PassToPass) {
		l.fields["PASS_TO_PASS outside of the files of FAIL_TO_PASS"] = []byte("true")
	}
	t.PassToPass = kept
}
