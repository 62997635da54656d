package repair

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// unpack writes the archive of a task to a folder and returns its repository.
func unpack(t *testing.T, task Task) string {
	t.Helper()
	var archive bytes.Buffer
	if err := WriteArchive(&archive, []Task{task}); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for in := tar.NewReader(&archive); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(root, Folder, task.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(root, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(name, 0o755)
		} else {
			content, _ := io.ReadAll(in)
			err = errors.Join(os.WriteFile(name, content, 0o644), os.Chtimes(name, h.ModTime, h.ModTime))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// sh runs a command in a repository and returns its output.
func sh(t *testing.T, dir, stdin, command string) string {
	t.Helper()
	c := exec.Command("bash", "-c", command)
	c.Dir, c.Stdin = dir, strings.NewReader(stdin)
	c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "GIT_CONFIG_GLOBAL=/dev/null", "PATH=/usr/bin:"+os.Getenv("PATH"))
	out, _ := c.CombinedOutput()
	return strings.TrimRight(string(out), "\n")
}

func TestARepositoryIsCleanAndItsCheckFailsUntilTheGoldPatch(t *testing.T) {
	for i := range 4 {
		task := Draw(fmt.Sprint(i), i%2 == 0)
		dir := unpack(t, task)
		if got := sh(t, dir, "", "git fsck --strict 2>&1; git status --porcelain; git rev-parse HEAD"); got != task.repository().commit {
			t.Fatalf("%s: %s", task.ID, got)
		}
		if got := sh(t, dir, "", "git checkout "+task.Faulty); got != "Updated 0 paths from the index" {
			t.Errorf("%s: %s", task.ID, got)
		}
		if got := sh(t, dir, "", "python3 check.py"); !strings.HasPrefix(got, "FAIL ") || !strings.Contains(got, ": got ") {
			t.Errorf("%s: %s", task.ID, got)
		}
		if got := sh(t, dir, task.goldPatch(), "git apply && python3 check.py"); got != allPassed {
			t.Errorf("%s: %s", task.ID, got)
		}
		if got := sh(t, dir, task.testPatch(), "git apply && python3 -m unittest -v test_check"); !strings.HasSuffix(got, "OK") {
			t.Errorf("%s: %s", task.ID, got)
		}
		sh(t, dir, "", "echo 'def f(:' > "+task.Faulty)
		if got := sh(t, dir, "", "python3 check.py"); got != "SyntaxError: "+task.Faulty+" line 1" {
			t.Errorf("%s: %s", task.ID, got)
		}
	}
}

func TestHeldOutTasksShareNoNameAndNoPairWithOthers(t *testing.T) {
	for i := range 200 {
		for _, heldOut := range []bool{true, false} {
			task := Draw(fmt.Sprint(i), heldOut)
			for _, c := range task.Checks {
				if isHeldOut(c.Function) != heldOut || isHeldOut(fmt.Sprintf("%d,%d", c.A, c.B)) != heldOut {
					t.Fatalf("%s: %+v", task.ID, c)
				}
			}
		}
	}
}

func TestASeedDrawsTheSameTask(t *testing.T) {
	one, err := Draw("3-1", false).Line("image")
	if err != nil {
		t.Fatal(err)
	}
	other, _ := Draw("3-1", false).Line("image")
	if !bytes.Equal(one, other) {
		t.Error("two draws of one seed differ")
	}
	if another, _ := Draw("3-2", false).Line("image"); bytes.Equal(one, another) {
		t.Error("two seeds draw the same task")
	}
}
