package tasks

import (
	"path"
	"slices"
	"strings"

	"relabel"
)

// scaleTest is the file that Scale-SWE writes its own tests to.
const scaleTest = "test_fail_to_pass.py"

// readScale reads a row of Scale-SWE: the tests are those of the pull request, f2p_patch, and a script of its own,
// f2p_script, which becomes a file of the test patch.
func (l *taskLine) readScale() relabel.Task {
	t := relabel.Task{
		Kind: relabel.Repair, InstanceID: l.need("instance_id"), Repo: l.text("repo"), Image: l.image(FormatScaleSWE), Workdir: l.folder(FormatScaleSWE),
		ProblemStatement: l.need("problem_statement"), Patch: l.need("patch"), FailToPass: l.literalTests("FAIL_TO_PASS"), PassToPass: l.literalTests("PASS_TO_PASS"),
	}
	if user := l.text("user"); user != "" && t.Repo != "" {
		t.Repo = user + "/" + t.Repo
	}
	if t.BaseCommit = l.text("parent_commit"); t.BaseCommit == "" {
		t.BaseCommit = l.need("base_commit")
	}
	t.TestPatch = l.text("f2p_patch")
	if script := l.text("f2p_script"); strings.TrimSpace(script) != "" {
		t.TestPatch = withNewFile(t.TestPatch, scaleTest, script)
	}
	if l.has("test_cmd") {
		l.readTestCommand(&t)
		return t
	}
	var files []string
	for _, name := range slices.Concat(t.FailToPass, t.PassToPass) {
		if file, _, _ := strings.Cut(name, "::"); !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	t.TestCmd, t.LogParser = onTestFiles("python -m pytest -rA --color=no -p no:cacheprovider", files), "pytest"
	if commands := strings.TrimSuffix(strings.TrimSpace(l.text("pre_commands")), `\n`); commands != "" && !justChecksOut(commands) {
		l.refuse("pre_commands", "does more than check out the commit: %.200q. Build an image in which it has run, and drop the field", commands)
	}
	return t
}

// justChecksOut reports whether commands only bring the repository to a commit, which relabel does itself.
func justChecksOut(commands string) bool {
	return !slices.ContainsFunc(strings.FieldsFunc(commands, func(r rune) bool { return r == '\n' || r == '&' || r == ';' }), func(command string) bool {
		words := strings.Fields(command)
		switch {
		case len(words) == 0 || words[0] == "cd":
			return false
		case words[0] == "git" && len(words) > 1:
			return !slices.Contains([]string{"checkout", "reset", "clean", "restore", "config", "status", "stash"}, words[1])
		}
		return true
	})
}

// withNewFile adds a new file to a patch.
func withNewFile(patch, name, content string) string {
	if patch != "" && !strings.HasSuffix(patch, "\n") {
		patch += "\n"
	}
	return patch + newFileDiff(path.Clean(name), content)
}
