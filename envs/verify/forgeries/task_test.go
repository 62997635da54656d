package forgeries

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"relabel"
	"relabel/envs/docker/dockertest"
)

// workdir is where the images of all tasks hold their repository.
const workdir = "/testbed"

// shelf makes each task of testdata/tasks once, when it is first needed.
type shelf struct {
	t  *testing.T
	mu sync.Mutex
	// tasks are those that were made, by the names of their archives.
	tasks map[string]relabel.Task
}

// task returns the task of an archive, with its image built.
func (s *shelf) task(name string) relabel.Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	if task, made := s.tasks[name]; made {
		return task
	}
	task := makeTask(s.t, name)
	s.tasks[name] = task
	return task
}

// makeTask commits the files below base, builds the image, and takes the gold patch and the
// test patch from the files below gold and tests.
func makeTask(t *testing.T, name string) relabel.Task {
	t.Helper()
	header, files := readArchive(t, filepath.Join("testdata", "tasks", name+".txtar"))
	r := repository{t: t, dir: t.TempDir()}
	r.write(files, "base/")
	r.git("init", "-q")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "base")
	task := relabel.Task{
		InstanceID: name, Workdir: workdir, BaseCommit: strings.TrimSpace(r.git("rev-parse", "HEAD")),
		TestCmd: header["command"], LogParser: header["parser"],
		FailToPass: list(header["fail_to_pass"]), PassToPass: list(header["pass_to_pass"]),
	}
	task.Image = dockertest.ImageOn(t, header["base"], r.dir, workdir)
	task.Patch = r.patch(files, "gold/")
	task.TestPatch = r.patch(files, "tests/")
	if header["script"] == "true" {
		task.EvalScript = evaluationScript(task)
	}
	return task
}

// evaluationScript is a script that applies the test patch and runs the test command, as data sets
// have them.
func evaluationScript(task relabel.Task) string {
	return "#!/bin/bash\nset -uxo pipefail\ncd " + workdir + "\ngit apply -v - <<'EOF_1'\n" + task.TestPatch + "EOF_1\n" +
		": '>>>>> Start Test Output'\n" + task.TestCmd + "\n: '>>>>> End Test Output'\n"
}

// repository is a task's repository on this machine.
type repository struct {
	t   *testing.T
	dir string
}

// patch returns what the files below a folder of the archive change.
func (r repository) patch(files []txtar.File, folder string) string {
	r.t.Helper()
	r.write(files, folder)
	r.git("add", "-A")
	diff := r.git("diff", "--no-color", "--cached", "HEAD")
	r.git("reset", "-q", "--hard")
	if diff == "" {
		r.t.Fatalf("the files below %s change nothing", folder)
	}
	return diff
}

// write writes the files below a folder of the archive. A name that ends with
// " (executable)" is that of a program.
func (r repository) write(files []txtar.File, folder string) {
	r.t.Helper()
	for _, f := range files {
		name, below := strings.CutPrefix(f.Name, folder)
		if !below {
			continue
		}
		mode := fs.FileMode(0o644)
		if program, ok := strings.CutSuffix(name, " (executable)"); ok {
			name, mode = program, 0o755
		}
		full := filepath.Join(r.dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(full, f.Data, mode); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@invalid",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@invalid", "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z")
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %v: %v %s", args, err, out)
	}
	return string(out)
}
