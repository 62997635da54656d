package tree

import (
	"reflect"
	"strings"
	"testing"
)

func TestPatchFilesNamesBothSidesOfEveryChange(t *testing.T) {
	patch := strings.Join([]string{
		"diff --git a/src/a.py b/src/a.py",
		"index 1111111..2222222 100644",
		"--- a/src/a.py",
		"+++ b/src/a.py",
		"@@ -1,3 +1,3 @@ def f():",
		" one",
		"--- a/not/a/header",
		"+++ b/not/a/header",
		" three",
		"diff --git a/old name.py b/new name.py",
		"similarity index 90%",
		"rename from old name.py",
		"rename to new name.py",
		"diff --git a/empty file.txt b/empty file.txt",
		"new file mode 100644",
		"index 0000000..e69de29",
		`diff --git "a/caf\303\251.py" "b/caf\303\251.py"`,
		"deleted file mode 100644",
		"index 1111111..0000000",
		`--- "a/caf\303\251.py"`,
		"+++ /dev/null",
		"@@ -1 +0,0 @@",
		"-x",
		`\ No newline at end of file`,
		"diff --git a/mode.sh b/mode.sh",
		"old mode 100644",
		"new mode 100755",
		"",
	}, "\n")
	got := PatchFiles(patch)
	want := []patchFile{
		{Path: "src/a.py"}, {Path: "old name.py"}, {Path: "new name.py"},
		{Path: "empty file.txt"}, {Path: "café.py", Deleted: true}, {Path: "mode.sh"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// Text between the files of a mailed patch is not part of it.
func TestProseBetweenFilesOfAPatchIsIgnored(t *testing.T) {
	section := func(name string) string {
		return "diff --git a/" + name + " b/" + name + "\nnew file mode 100644\n--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+x\n"
	}
	want := []patchFile{{Path: "pkg/n.py"}, {Path: "tests/u.py"}}
	for _, prose := range []string{"@@foo\n", "@@@ -1 -1 +1 @@@\n", "rename to snake case\n", "rename from a\n", "deleted file mode x\n", "new file mode x\n", "copy to b\n"} {
		if got := PatchFiles(section("pkg/n.py") + prose + section("tests/u.py")); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %v, want %v", prose, got, want)
		}
	}
}

func TestUnsafeChangesAreNamed(t *testing.T) {
	link := func(name, target string) Change { return Change{Path: name, NewMode: LinkMode, Link: target} }
	for name, c := range map[string]Change{
		"climbing":            {Path: "../../etc/passwd"},
		"absolute":            {Path: "/etc/cron.d/x"},
		"a dot":               {Path: "./pytest.py"},
		"two slashes":         {Path: "a//b"},
		"git folder":          {Path: ".git/hooks/x"},
		"git in another case": {Path: "sub/.GIT/config"},
		"git's short name":    {Path: "GIT~1/config"},
		"git and a dot":       {Path: ".git./config"},
		"git and a stream":    {Path: ".git::$INDEX_ALLOCATION/config"},
		"git and a joiner":    {Path: ".g\u200cit/config"},
		"submodule":           {Path: "sub", NewMode: gitlinkMode},
		"link to the root":    link("data", "/"),
		"link that climbs":    link("a/b/data", "../../../etc"),
		"link into .git":      link("data", ".git/hooks"),
		"link by a link":      link("a/b", "c/../../../etc"),
		"empty link":          link("a", ""),
	} {
		if Unsafe([]Change{c}) == "" {
			t.Errorf("%s: not seen", name)
		}
	}
	for name, c := range map[string]Change{
		"link inside": link("a/b/data", "../../data"), "link to the repository": link("a/b", ".."),
		"dots in names": {Path: "x..y"}, "git in a name": {Path: ".github/.gitignore"},
	} {
		if problem := Unsafe([]Change{c}); problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
	}
}
