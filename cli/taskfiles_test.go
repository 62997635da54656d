package cli

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel/tasks"
)

// taskRow is a task in relabel's own format.
func taskRow(id string) string {
	return `{"instance_id": "` + id + `", "repo": "r/r", "image": "i", "workdir": "/w", "base_commit": "` + strings.Repeat("a", 40) + `", "problem_statement": "p", ` +
		`"patch": "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "test_cmd": "true", "log_parser": "pytest", "FAIL_TO_PASS": ["a"]}` + "\n"
}

// folderOf writes files into a new folder of a name.
func folderOf(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	for file, text := range files {
		path := filepath.Join(folder, file)
		noError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		noError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return folder
}

// namesOf lists the files of the archive that an import of paths sends.
func namesOf(t *testing.T, paths ...string) (names []string) {
	t.Helper()
	body, err := upload(paths, false)
	noError(t, err)
	defer func() { noError(t, body.end()) }()
	archive := tar.NewReader(body)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		noError(t, err)
		names = append(names, header.Name)
	}
}

func TestOfABuildsFolderOnlyTheTasksAreRead(t *testing.T) {
	files := map[string]string{"tasks.jsonl": taskRow("a"), "journal.jsonl": "{}\n", "report.json": "{}", "injection.jsonl": "{}\n", "logs/x.json": "{}"}
	folder := folderOf(t, "built", files)
	if names := namesOf(t, folder); !slices.Equal(names, []string{"tasks.jsonl"}) {
		t.Errorf("sends %q", names)
	}
	if all, err := ReadTaskFile(folder); err != nil || len(all) != 1 {
		t.Errorf("read %d tasks, %v", len(all), err)
	}
	noError(t, os.Remove(filepath.Join(folder, "journal.jsonl")))
	if names := namesOf(t, folder); !slices.Equal(names, []string{"injection.jsonl", "logs/x.json", "report.json", "tasks.jsonl"}) {
		t.Errorf("of another folder it sends %q", names)
	}
}

func TestFoldersWithEqualFileNamesAreReadAtOnce(t *testing.T) {
	verified := folderOf(t, "verified", map[string]string{"data/test-00000-of-00001.jsonl": taskRow("a"), "data/dev-00000-of-00001.jsonl": taskRow("c")})
	lite := folderOf(t, ".lite", map[string]string{"data/test-00000-of-00001.jsonl": taskRow("b")})
	want := []string{"lite/data/test-00000-of-00001.jsonl", "verified/data/dev-00000-of-00001.jsonl", "verified/data/test-00000-of-00001.jsonl"}
	if names := namesOf(t, verified, lite); !slices.Equal(names, want) {
		t.Errorf("sends %q, want %q", names, want)
	}
	all, err := ReadTaskFiles([]string{verified, lite}, tasks.Options{Split: "test"})
	if err != nil || len(all) != 2 || all[0].InstanceID != "a" || all[1].InstanceID != "b" {
		t.Errorf("of the split test: %+v, %v", all, err)
	}
	if names := namesOf(t, lite); !slices.Equal(names, []string{"data/test-00000-of-00001.jsonl"}) {
		t.Errorf("of one folder it sends %q", names)
	}
}

func TestAFolderOfHarborThatCannotBeReadIsAnError(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "task.toml"), []byte("[environment]\ngpus = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTaskFiles([]string{filepath.Dir(folder)}, tasks.Options{}); err == nil || !strings.Contains(err.Error(), "gpus") {
		t.Errorf("%v", err)
	}
}
