package protect

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	"relabel"
	"relabel/envs/verify/tree"
)

func TestFilesThatControlTheRunnerAreReadFromSettings(t *testing.T) {
	read := func(name, content string) map[string]any {
		return protection{}.read(settingsReader(name), base64.StdEncoding.EncodeToString([]byte(content)))
	}
	for name, pair := range map[string][2]string{
		"pyproject.toml": {"[project]\nname = 'a'\n[tool.pytest.ini_options]\naddopts = '-q'\n", "[project]\nname = 'b'\ntool.x = 1\n[tool.black]\n[tool.pytest.ini_options]\naddopts = '-q'\n"},
		"c/setup.cfg":    {"[tool:pytest]\r\naddopts = -q\r\n", "[metadata]\nname = b\n[tool:pytest]\naddopts = -q\n"},
		"sub/setup.cfg":  {"[metadata]\nname = a\n[tool:pytest]\naddopts = -q\n", "[metadata]\nname = b\n\n[tool:pytest]\naddopts = -q\n"},
	} {
		if first, second := read(name, pair[0]), read(name, pair[1]); len(first) == 0 || !reflect.DeepEqual(first, second) {
			t.Errorf("%s: %v and %v", name, first, second)
		}
	}
	for name, pair := range map[string][2]string{
		"pyproject.toml":     {"[tool.pytest.ini_options]\naddopts = '-q'\n", "[tool.pytest.ini_options]\naddopts = '-p cheat'\n"},
		"sub/pyproject.toml": {"", "tool = {pytest = {ini_options = {addopts = '-p cheat'}}}\n"},
		"a/pyproject.toml":   {"", "\"tool\".\"pytest\".ini_options.addopts = '-p cheat'\n"},
		"b/pyproject.toml":   {"", "[project.entry-points.pytest11]\nx = 'cheat'\n"},
		"setup.cfg":          {"[metadata]\n", "[metadata]\n[tool:pytest]\naddopts = -p cheat\n"},
		"tox.ini":            {"[flake8]\n", "[flake8]\n  [pytest]\naddopts = -p cheat\n"},
		"a/tox.ini":          {"[pytest]\nmarkers =\n  [x]\n", "[pytest]\nmarkers =\n  [x]\naddopts = -p cheat\n"},
		"b/tox.ini":          {"[flake8]\na = 1\n", "[flake8]\na = 1\r[pytest]\raddopts = -p cheat\n"},
		"c/tox.ini":          {"[flake8]\na = 1\n", "[flake8]\na = 1\x0c[pytest]\u2028addopts = -p cheat\n"},
		"b/setup.cfg":        {"[metadata]\n", "[metadata]\n[DEFAULT]\nplugins = cheat\n"},
	} {
		if first, second := read(name, pair[0]), read(name, pair[1]); reflect.DeepEqual(first, second) {
			t.Errorf("%s: both are %v", name, first)
		}
	}
	if got := read("pyproject.toml", "not toml ["); got != nil {
		t.Errorf("a broken file steers: %v", got)
	}
}

// alike compares settings as a submission's are compared with those of the base, where the
// gold patch has what the submission has not.
func alike(p protection, name, base, mine string) bool {
	p.exported = exportsOf([]byte(base))
	read := func(content string) map[string]any {
		return p.read(settingsReader(name), base64.StdEncoding.EncodeToString([]byte(content)))
	}
	return steersAlike(read(mine), read(base), read(base))
}

func TestEachKeyThatSteersMayBeAsTheBaseOrTheGoldPatchHasIt(t *testing.T) {
	base, gold := map[string]any{"a": "base", "b": "base", "old": "base"}, map[string]any{"a": "gold", "b": "gold", "new": "gold"}
	for _, mine := range []map[string]any{base, gold, {"a": "base", "b": "gold"}, {"a": "gold", "b": "base", "old": "base", "new": "gold"}} {
		if !steersAlike(mine, base, gold) {
			t.Errorf("%v is foreign", mine)
		}
	}
	for _, mine := range []map[string]any{nil, {"a": "base"}, {"a": "base", "b": "own"}, {"a": "base", "b": "base", "old": "gold"}, {"a": "base", "b": "base", "own": "base"}} {
		if steersAlike(mine, base, gold) {
			t.Errorf("%v is alike", mine)
		}
	}
}

func TestFilesThatControlTestsAreReadFromSettingsOfNodeAndGo(t *testing.T) {
	p := protection{commands: "npm run unit -- --ci"}
	for name, pairs := range map[string][][2]string{
		"package.json": {
			{`{"version":"1","scripts":{"unit":"jest"}}`, `{"version":"2","scripts":{"unit":"jest","lint":"eslint"},"dependencies":{"a":"1"}}`},
			{`{"exports":{".":"./a.js"}}`, `{"exports":{".":"./a.js","./b":"./b.js"}}`},
			{`{}`, `{"exports":"./a.js","main":"a.js"}`},
		},
		"tsconfig.json": {
			{"// base\n{\"compilerOptions\": {\"strict\": true,},}", `{"compilerOptions": {"strict": true, "target": "es2020"}, "include": ["src"]}`},
			{`{"compilerOptions": {"baseUrl": "https://x//y"}}`, `{"compilerOptions": {"baseUrl": "https://x//y" /* kept */}}`},
		},
		"go.mod": {
			{"module a\n\ngo 1.20\n", "module a\n\ngo 1.21\n\ntoolchain go1.21.3\n\nrequire example.com/b v1.0.0\n"},
		},
		"go.work": {{"go 1.20\n\nuse ./a\n", "go 1.21\n\nuse ./a\n"}},
	} {
		for _, pair := range pairs {
			if !alike(p, name, pair[0], pair[1]) {
				t.Errorf("%s: %s does not steer as %s", name, pair[1], pair[0])
			}
		}
	}
	for name, pairs := range map[string][][2]string{
		"package.json": {
			{`{"scripts":{"unit":"jest"}}`, `{"scripts":{"unit":"true"}}`},
			{`{"scripts":{"unit":"jest"}}`, `{"scripts":{"unit":"jest","preunit":"node x.js"}}`},
			{`{"scripts":{"unit":"run-s test:*","test:a":"jest"}}`, `{"scripts":{"unit":"run-s test:*","test:a":"true"}}`},
			{`{"scripts":{"unit":"jest"}}`, `{"scripts":{}}`},
			{`{}`, `{"jest":{"runner":"./x.js"}}`},
			{`{}`, `{"type":"module"}`},
			{`{"imports":{"#a":"./a.js"}}`, `{"imports":{"#a":"./b.js"}}`},
			{`{"imports":{"#a/*":"./a/*.js"}}`, `{"imports":{"#a/*":"./a/*.js","#a/testing":"./b.js"}}`},
			{`{"exports":{"./a":"./a.js"}}`, `{"exports":{"./a":"./b.js"}}`},
			{`{"exports":"./a.js"}`, `{"exports":{".":"./b.js"}}`},
			{`{"exports":{"./*":"./a/*.js"}}`, `{"exports":{"./*":"./a/*.js","./testing":"./b.js"}}`},
			{`{"name":"a"}`, `{"name":"a","name":"a"}`},
			{`{}`, `not json`},
			{`{}`, `[1]`},
		},
		"tsconfig.test.json": {
			{`{}`, `{"extends":"./x.json"}`},
			{`{"compilerOptions":{"paths":{"@/*":["src/*"]}}}`, `{"compilerOptions":{"paths":{"@/*":["x/*"]}}}`},
			{`{"compilerOptions":{"strict":true}}`, `{"compilerOptions":{"strict":false}}`},
			{`{"compilerOptions":{}}`, `{"compilerOptions":{"baseUrl":"x"},"compilerOptions":{}}`},
		},
		"go.mod": {
			{"module a\n", "module b\n"},
			{"module a\n", "module a\n\nreplace example.com/b => ./b\n"},
			{"module a\n\nreplace example.com/b => ./b\n", "module a\n"},
			{"module a\n", "module a\n\nexclude example.com/b v1.0.0\n"},
			{"module a\n", "module a\n\ngodebug default=go1.10\n"},
			{"module a\n", "module a\n\ntoolchain go1.21.3-mine\n"},
			{"module a\n", "module a\n\nignore ./tests\n"},
			{"module a\n", "module a\n\nunknown b\n"},
		},
		"go.work": {{"go 1.20\n\nuse ./a\n", "go 1.20\n\nuse ./b\n"}},
	} {
		for _, pair := range pairs {
			if alike(p, name, pair[0], pair[1]) {
				t.Errorf("%s: %s passes for %s", name, pair[1], pair[0])
			}
		}
	}
}

func TestFilesThatAreComparedAsAWholeBecomeThoseOfTheGoldPatch(t *testing.T) {
	const mine, golds = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	p := protection{}
	c := tree.Change{Path: "conftest.py", OldMode: "100644", OldID: strings.Repeat("0", 40), NewMode: "100644", NewID: mine}
	for name, test := range map[string]struct {
		gold      string
		elsewhere bool
		differs   bool
		entry     string
	}{
		"as the gold patch":              {"100644 " + mine, true, false, ""},
		"other content":                  {"100644 " + golds, true, true, "100644 " + golds + "\tconftest.py\x00"},
		"another mode":                   {"100755 " + mine, true, true, "100755 " + mine + "\tconftest.py\x00"},
		"the gold patch removes it":      {"", true, true, "000000 " + strings.Repeat("0", 40) + "\tconftest.py\x00"},
		"the gold patch is nothing else": {"100644 " + golds, false, false, ""},
	} {
		back, differs := p.compared(c, []string{"", test.gold, "", ""}, test.elsewhere)
		if differs != test.differs || differs && (back.Entry != test.entry || back.Reason.Reason != programReason) {
			t.Errorf("%s: %v %+v", name, differs, back)
		}
	}
}

func TestALinkInThePlaceOfSettingsIsDropped(t *testing.T) {
	c := tree.Change{Path: "setup.cfg", OldMode: "100644", NewMode: tree.LinkMode, Link: "other.cfg"}
	if back, differs := (protection{}).compared(c, []string{"", "100644 1", "", "b3RoZXIuY2Zn"}, true); !differs || back.Reason.Reason != settingsReason {
		t.Errorf("a link is graded: %+v", back)
	}
}

func TestAGoldPatchOfNothingButSettingsIsTheSolution(t *testing.T) {
	for names, want := range map[string]bool{
		"conftest.py": false, "conftest.py docs/a.md CHANGES": false, "jest.config.js package.json": false, "run.sh tests/test_a.py": false,
		"conftest.py pkg/core.py": true, "package.json src/index.ts": true,
	} {
		task := relabel.Task{Patch: patchOf(strings.Fields(names)...), TestCmd: "bash run.sh", LogParser: "jest"}
		if got := protectionOf(task, edits([]string{"run.sh"})).solvesElsewhere(); got != want {
			t.Errorf("%s: %v", names, got)
		}
	}
}
