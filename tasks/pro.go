package tasks

import (
	"strings"

	"relabel"
)

// readPro reads a row of SWE-bench Pro. How its tests run and how their log reads lies not in the rows but in two files
// per instance of the data set's repository, which can be added to the rows.
func (l *taskLine) readPro() relabel.Task {
	t := relabel.Task{
		Kind: relabel.Repair, InstanceID: l.need("instance_id"), Repo: l.text("repo"), Image: l.proImage(), Workdir: "/app",
		BaseCommit: l.need("base_commit"), ProblemStatement: l.proStatement(), HintsText: l.text("hints_text"),
		Patch: l.need("patch"), TestPatch: l.text("test_patch"),
		FailToPass: l.literalTests(l.either("fail_to_pass_select", "FAIL_TO_PASS")), PassToPass: l.literalTests(l.either("pass_to_pass_select", "PASS_TO_PASS")),
	}
	if l.has("workdir") {
		t.Workdir = l.text("workdir")
	}
	if l.has("test_cmd") {
		l.readTestCommand(&t)
		return t
	}
	run, parse := l.text(l.either("run_script.sh", "run_script")), l.text(l.either("parsing_script.py", "parser.py"))
	files := l.literalList("selected_test_files_to_run", "a list of test files", "a file")
	if strings.TrimSpace(run) == "" || strings.TrimSpace(parse) == "" {
		l.refuse("run_script.sh", "is missing: SWE-bench Pro's rows do not say how their tests run. Add run_scripts/%s/run_script.sh and parser.py "+
			"of its repository to the row, as the fields run_script.sh and parsing_script.py; or add test_cmd and log_parser", t.InstanceID)
		return t
	}
	l.proTests(&t, run, parse, files)
	return t
}

// either returns the first field if the row has it, otherwise the second.
func (l *taskLine) either(first, second string) string {
	if l.has(first) {
		return first
	}
	return second
}

// proStatement is the problem with the requirements and the interface that SWE-bench Pro gives its agents too.
func (l *taskLine) proStatement() string {
	text := l.need("problem_statement")
	if requirements := l.text("requirements"); requirements != "" {
		text += "\n\nRequirements:\n" + requirements
	}
	if face := l.text("interface"); face != "" {
		text += "\n\nNew interfaces introduced:\n" + face
	}
	return text
}

// proImage is the image of the row, by its tag in SWE-bench Pro's repository.
func (l *taskLine) proImage() string {
	if tag := l.text("dockerhub_tag"); tag != "" && !l.has("image_name") && !l.has("docker_image") && !l.has("image") {
		image := "jefzda/sweap-images:" + tag
		if !validImage(image) {
			l.refuse("dockerhub_tag", "%q is not a tag of an image", tag)
		}
		return image
	}
	return l.image(FormatSWEBenchPro)
}

// proTests makes the evaluation script: it writes the two scripts, puts the tests of the change in place as the last
// line of before_repo_set_cmd does, runs the tests and prints what the parser made of their output.
func (l *taskLine) proTests(t *relabel.Task, run, parse string, files []string) {
	setup := strings.Split(strings.TrimSpace(l.text("before_repo_set_cmd")), "\n")
	before := []string{
		"pro=$(mktemp -d)",
		"printf '%s' " + shellQuote(run) + " > $pro/run_script.sh",
		"printf '%s' " + shellQuote(parse) + " > $pro/parser.py",
		setup[len(setup)-1],
	}
	t.TestCmd = "bash $pro/run_script.sh " + shellQuote(strings.Join(files, ",")) + " > $pro/stdout.log 2> $pro/stderr.log; " +
		"python3 $pro/parser.py $pro/stdout.log $pro/stderr.log $pro/output.json && cat $pro/output.json"
	t.LogParser = "testsjson"
	t.EvalScript = makeEvalScript(before, t.TestCmd)
}
