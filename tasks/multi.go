package tasks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"relabel"
)

// multiHidden are the files of Multi-SWE-bench's images that hold the solution and the tests.
var multiHidden = []string{"/home/fix.patch", "/home/test.patch", "/home/fix-run.sh", "/home/test-run.sh"}

// multiParsers are the parsers by language where Multi-SWE-bench reads the logs of all repositories alike. For other
// languages it has a parser per repository.
var multiParsers = map[string]string{"go": "gotest", "rust": "cargo"}

// multiRepos are the parsers of repositories whose logs are read as Multi-SWE-bench reads them, in lower case.
var multiRepos = map[string]string{
	"alibaba/fastjson2": "surefire", "apache/dubbo": "surefire", "google/gson": "surefire",
	"fasterxml/jackson-core": "surefire", "fasterxml/jackson-databind": "surefire", "fasterxml/jackson-dataformat-xml": "surefire",
	"elastic/logstash": "gradle", "googlecontainertools/jib": "gradle", "mockito/mockito": "gradle",
	"catchorg/catch2": "ctest", "fmtlib/fmt": "ctest", "nlohmann/json": "ctest", "simdjson/simdjson": "ctest",
	"yhirose/cpp-httplib": "googletest", "jqlang/jq": "jq",
	"vuejs/core": "vitest", "sveltejs/svelte": "vitest",
	"anuraghazra/github-readme-stats": "jest_titles", "darkreader/darkreader": "jest_titles", "iamkun/dayjs": "jest_titles",
	"axios/axios": "mocha", "expressjs/express": "mocha_json",
}

// expressSpec are the changes of expressjs/express whose tests run with Mocha's reporter spec.
var expressSpec = []int{4212, 4852, 5555, 5841}

// languages are names of languages by the endings of their files.
var languages = map[string]string{
	".go": "go", ".rs": "rust", ".java": "java", ".c": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++", ".hpp": "c++",
	".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".ts": "typescript", ".tsx": "typescript", ".py": "python",
}

// readMulti reads a row of Multi-SWE-bench or Multi-SWE-RL. run.sh of its images runs the tests of the working tree.
func (l *taskLine) readMulti() relabel.Task {
	org, repo, number := l.need("org"), l.need("repo"), l.numberOf("number")
	t := relabel.Task{
		Kind: relabel.Repair, InstanceID: l.text("instance_id"), Repo: org + "/" + repo, Workdir: "/home/" + repo, Hidden: multiHidden,
		BaseCommit: l.baseSHA(), ProblemStatement: l.resolvedIssues(), HintsText: l.text("hints"), Patch: l.need("fix_patch"), TestPatch: l.need("test_patch"),
		FailToPass: l.multiTests("f2p_tests", "s2p_tests", "n2p_tests"), PassToPass: l.multiTests("p2p_tests"), TestCmd: "bash /home/run.sh",
	}
	if t.InstanceID == "" {
		t.InstanceID = fmt.Sprintf("%s__%s-%d", org, repo, number)
	}
	if number == 0 && !l.wrong("number") {
		l.refuse("number", "is missing")
	}
	if l.has("image") || l.has("image_name") || l.has("docker_image") {
		t.Image = l.image(FormatMultiSWE)
	} else {
		t.Image = strings.ToLower(fmt.Sprintf("mswebench/%s_m_%s", org, repo)) + fmt.Sprintf(":pr-%d", number)
	}
	if l.has("test_cmd") {
		l.readTestCommand(&t)
		return t
	}
	l.multiParser(&t, number)
	return t
}

// multiParser sets the parser of the row, or the one of its repository or language.
func (l *taskLine) multiParser(t *relabel.Task, number int) {
	if l.has("log_parser") {
		t.LogParser = l.parser(l.need("log_parser"))
		return
	}
	if parser, known := multiRepos[strings.ToLower(t.Repo)]; known {
		t.LogParser = parser
		if t.Repo == "expressjs/express" && slices.Contains(expressSpec, number) {
			t.LogParser = "mocha"
		}
		return
	}
	language := strings.ToLower(l.text("lang"))
	if language == "" || language == "golang" {
		language = languageOf(t.Patch)
	}
	parser, alike := multiParsers[language]
	switch {
	case !alike:
		l.refuse("log_parser", "is missing: for %s, Multi-SWE-bench reads the logs of each repository in another way, which the row does not say. Add log_parser, one of %s",
			cmp.Or(language, "this language"), "the parsers of docs/log-parsers.md")
	case !knownParser(parser):
		l.refuse("log_parser", "is missing, and there is no parser %s for the logs of %s", parser, language)
	}
	t.LogParser = parser
}

// languageOf is the language of most files of a patch.
func languageOf(patch string) string {
	count := map[string]int{}
	for _, file := range testFiles(patch) {
		if language := languages[path.Ext(file)]; language != "" {
			count[language]++
		}
	}
	most := ""
	for _, language := range slices.Sorted(maps.Keys(count)) {
		if most == "" || count[language] > count[most] {
			most = language
		}
	}
	return most
}

// baseSHA reads the hash of the field base.
func (l *taskLine) baseSHA() string {
	l.used["base"] = true
	var base struct{ SHA string }
	if !l.has("base") || json.Unmarshal(l.object("base"), &base) != nil || base.SHA == "" {
		l.refuse("base", "is not an object with the sha of the base commit")
	}
	return base.SHA
}

// resolvedIssues are the issues that the change resolves, which are its problem statement.
func (l *taskLine) resolvedIssues() string {
	const field = "resolved_issues"
	if l.has("problem_statement") {
		return l.need("problem_statement")
	}
	l.used[field] = true
	var issues []struct {
		Title string
		Body  *string
	}
	if !l.has(field) || json.Unmarshal(l.object(field), &issues) != nil {
		l.refuse(field, "is not a list of issues with title and body")
		return ""
	}
	var texts []string
	for _, issue := range issues {
		text := issue.Title
		if issue.Body != nil {
			text += "\n" + *issue.Body
		}
		texts = append(texts, strings.TrimSpace(text))
	}
	text := l.checkText(field, l.fields[field], strings.Join(texts, "\n\n"))
	if strings.TrimSpace(text) == "" && !l.wrong(field) {
		l.refuse(field, "is empty: without an issue the task has no problem statement")
	}
	return text
}

// multiTests lists the tests of fields that map test names to their outcomes: an object by name, or an object of lists
// whose list name has the names.
func (l *taskLine) multiTests(fields ...string) []string {
	var names []string
	for _, field := range fields {
		l.used[field] = true
		if !l.has(field) {
			continue
		}
		raw := l.object(field)
		if list := memberOf(raw, "name"); len(list) > 0 && list[0] == '[' {
			var listed []string
			if json.Unmarshal(list, &listed) != nil {
				l.refuse(field, "name is not a list of test names")
			}
			names = append(names, listed...)
			continue
		}
		tests, wrong := parseObject(raw)
		if wrong != "" {
			l.refuse(field, "is not an object of outcomes by test")
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(tests)) {
			if string(tests[name]) != "null" { // a column of a Parquet file for a test of other rows
				names = append(names, l.checkText(field, raw, name))
			}
		}
	}
	return distinct(names)
}
