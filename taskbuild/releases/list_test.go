package releases

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel/taskbuild"
)

// listFile writes a list and returns its path.
func listFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "list.json")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

const hash = "c57e16065a97b7beb175f13c84d27cb05f7b7315741c2fbd5de541042f4ea6e1"

func TestAListNamesPairsOfAllEcosystems(t *testing.T) {
	list, err := ReadList(listFile(t, `[
		{"ecosystem": "pypi", "package": "pathspec", "from": "0.12.0", "from_sha256": "`+hash+`", "to": "0.12.1", "problem_statement": "p",
		 "image": "relabel/demo-pathspec:0.12.0", "recipe": {"dependencies": [], "test_command": "pytest {tests}"}},
		{"ecosystem": "npm", "package": "@scope/name", "from": "1.2.5", "to": "1.2.6", "problem_statement": "p"},
		{"ecosystem": "crates", "package": "bytes", "from": "1.7.1", "to": "1.7.2", "problem_statement": "p"},
		{"ecosystem": "go", "package": "github.com/Masterminds/semver/v3", "from": "v3.3.0", "to": "v3.3.1", "problem_statement": "p"},
		{"ecosystem": "maven", "package": "commons-cli:commons-cli", "from": "1.3", "to": "1.3.1", "from_sha256": ["`+hash+`", "`+hash+`", "`+hash+`"], "problem_statement": "p"}
	]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []struct{ repo, id string }{
		{"pypi/pathspec", "pypi__pathspec-0.12.1"}, {"npm/scope-name", "npm__scope-name-1.2.6"}, {"crates/bytes", "crates__bytes-1.7.2"},
		{"go/Masterminds-semver-v3", "go__Masterminds-semver-v3-3.3.1"}, {"maven/commons-cli-commons-cli", "maven__commons-cli-commons-cli-1.3.1"},
	}
	for i, e := range list {
		if e.repo() != want[i].repo || e.id() != want[i].id {
			t.Errorf("entry %d is %s of %s, expected %s of %s", i+1, e.id(), e.repo(), want[i].id, want[i].repo)
		}
	}
	r := taskbuild.Recipe{Name: "pytest", Dependencies: []string{"pip install ."}, TestCommand: "pytest -q {tests}"}
	if err := list[0].Recipe.apply(&r); err != nil {
		t.Fatal(err)
	}
	if r.Name != "pytest" || len(r.Dependencies) != 0 || r.TestCommand != "pytest {tests}" {
		t.Errorf("the recipe is %+v", r)
	}
	if len(list[0].FromSHA256) != 1 || len(list[4].FromSHA256) != 3 {
		t.Errorf("the hashes are %v and %v", list[0].FromSHA256, list[4].FromSHA256)
	}
}

func TestAWrongListNamesEntryAndField(t *testing.T) {
	entry := func(fields string) string {
		return `{"ecosystem": "pypi", "package": "p", "from": "1.0", "to": "1.1", "problem_statement": "p"` + fields + `}`
	}
	for name, c := range map[string]struct{ text, want string }{
		"no list":          {`{"package": "p"}`, "is not a list of pairs of releases"},
		"an unknown field": {"[" + entry(`, "form": "x"`) + "]", "form"},
		"an unknown field of a recipe": {
			"[" + entry(`, "recipe": {"test_cmd": "x"}`) + "]", "test_cmd"},
		"nothing":              {`[]`, "has no entry"},
		"an unknown ecosystem": {`[{"ecosystem": "rubygems", "package": "p"}]`, "entry 1: ecosystem"},
		"an option as a package": {
			`[{"ecosystem": "npm", "package": "--registry=x", "from": "1.0", "to": "1.1", "problem_statement": "p"}]`, "entry 1: package"},
		"a path as a package": {
			`[{"ecosystem": "go", "package": "../x", "from": "v1.0", "to": "v1.1", "problem_statement": "p"}]`, "entry 1: package"},
		"a range":     {`[{"ecosystem": "npm", "package": "p", "from": "^1.0", "to": "1.1", "problem_statement": "p"}]`, "entry 1: from"},
		"one version": {`[{"ecosystem": "npm", "package": "p", "from": "1.0", "to": "1.0", "problem_statement": "p"}]`, "entry 1: to"},
		"no statement": {
			`[` + entry("") + `, {"ecosystem": "npm", "package": "p", "from": "1.0", "to": "1.1"}]`, "entry 2: problem_statement"},
		"a short hash":    {"[" + entry(`, "to_sha256": "abc"`) + "]", "entry 1: to_sha256"},
		"too many hashes": {"[" + entry(`, "from_sha256": ["`+hash+`", "`+hash+`"]`) + "]", "must be of the source distribution, one hash each"},
		"an entry twice":  {"[" + entry("") + "," + entry("") + "]", "entry 2: to: is in the list twice: entry 1"},
	} {
		_, err := ReadList(listFile(t, c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "list.json") {
			t.Errorf("%s: %v, expected %q with the file", name, err, c.want)
		}
	}
}
