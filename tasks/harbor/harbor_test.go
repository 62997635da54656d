package harbor

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"relabel"
	"relabel/tasks"
)

func readSet(t *testing.T, set fs.FS) []Folder {
	t.Helper()
	folders, err := Read(set)
	if err != nil {
		t.Fatal(err)
	}
	return folders
}

func TestTaskFoldersBecomeTasksInATerminal(t *testing.T) {
	folders := readSet(t, os.DirFS("testdata/set"))
	if len(folders) != 3 {
		t.Fatalf("%d folders", len(folders))
	}
	unsolved, sum, greeting := folders[0], folders[1], folders[2]
	for _, f := range folders {
		if f.Refused != nil || !f.Build || !strings.HasPrefix(f.Task.Image, relabel.LocalImages+"harbor:") || f.Task.Kind != relabel.Terminal {
			t.Errorf("%s: %v, %+v", f.Path, f.Refused, f.Task)
		}
	}
	if sum.Task.InstanceID != "made-up__sum-column" || greeting.Task.InstanceID != "write-greeting" {
		t.Errorf("%q, %q", sum.Task.InstanceID, greeting.Task.InstanceID)
	}
	if strings.Contains(greeting.Task.ProblemStatement, "canary") || !strings.HasPrefix(greeting.Task.ProblemStatement, "Write the file") {
		t.Error(greeting.Task.ProblemStatement)
	}
	s := greeting.Task.Terminal
	if s.Env["GREETED"] != "world" || s.TestSeconds != 60 || s.CPUs != 1 || s.MemoryBytes != 512<<20 || s.DiskBytes != 1<<30 || s.Network {
		t.Errorf("%+v", s)
	}
	if !unsolved.Task.Terminal.Network || !strings.Contains(unsolved.Downloads, "curl") || sum.Task.Terminal.Network || sum.Downloads != "" {
		t.Errorf("%+v, %q", unsolved.Task.Terminal, unsolved.Downloads)
	}
	if len(greeting.Unused) != 1 || greeting.Unused[0] != "agent.timeout_sec" {
		t.Errorf("unused: %q", greeting.Unused)
	}
	if n := len(Images(folders)); n != 3 {
		t.Errorf("%d images", n)
	}
}

func TestALineHasTheWholeTask(t *testing.T) {
	want := readSet(t, os.DirFS("testdata/set"))[1].Task
	var line bytes.Buffer
	if err := tasks.WriteTerminal(&line, want); err != nil {
		t.Fatal(err)
	}
	file, err := tasks.Read(bytes.NewReader(line.Bytes()), tasks.FormatAuto)
	if err != nil {
		t.Fatal(err)
	}
	got := file.Tasks[0]
	if got.InstanceID != want.InstanceID || got.Image != want.Image || got.ProblemStatement != want.ProblemStatement ||
		!bytes.Equal(got.Terminal.Tests.Content, want.Terminal.Tests.Content) || got.Terminal.Solution.SHA256 != want.Terminal.Solution.SHA256 ||
		got.Terminal.TestSeconds != want.Terminal.TestSeconds {
		t.Errorf("%+v", got)
	}
}

// plainTask are the files of a task that can be used.
func plainTask() fstest.MapFS {
	return fstest.MapFS{
		"a/task.toml":              {Data: []byte("version = \"1.0\"\n")},
		"a/instruction.md":         {Data: []byte("Do it.\n")},
		"a/environment/Dockerfile": {Data: []byte("FROM scratch\n")},
		"a/tests/test.sh":          {Data: []byte("echo 1 >/logs/verifier/reward.txt\n")},
	}
}

func TestWhatSandboxesDoNotHaveIsRefusedByName(t *testing.T) {
	for config, field := range map[string]string{
		"[[steps]]\nname = \"one\"":                                     "steps",
		"[environment]\nos = \"windows\"":                               "environment.os",
		"[environment]\ngpus = 1":                                       "environment.gpus",
		"[environment.tpu]\ntype = \"v6e\"\ntopology = \"2x2\"":         "environment.tpu",
		"[[environment.mcp_servers]]\nname = \"x\"\nurl = \"http://x\"": "environment.mcp_servers",
		"[environment.healthcheck]\ncommand = \"true\"":                 "environment.healthcheck",
		"[agent]\nuser = \"dev\"":                                       "agent.user",
		"[verifier]\nenvironment_mode = \"separate\"":                   "verifier.environment_mode",
		"[verifier.environment]\ndocker_image = \"x\"":                  "verifier.environment",
		"[verifier.env]\nKEY = \"${API_KEY}\"":                          "verifier.env: KEY",
		"[environment]\nmemory = \"much\"":                              "environment.memory",
		"[environment":                                                  "task.toml",
		"[environment]\ncpus = \"two\"":                                 "task.toml",
	} {
		set := plainTask()
		set["a/task.toml"] = &fstest.MapFile{Data: []byte(config)}
		if f := readSet(t, set)[0]; f.Refused == nil || relabel.CodeOf(f.Refused) != relabel.CodeInvalid || !strings.Contains(f.String(), field) {
			t.Errorf("%s: %s", config, f)
		}
	}
}

func TestMissingAndStrangeFilesAreRefusedByName(t *testing.T) {
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		want   string
	}{
		"no instruction": {func(s fstest.MapFS) { delete(s, "a/instruction.md") }, "instruction.md: is missing"},
		"no image":       {func(s fstest.MapFS) { delete(s, "a/environment/Dockerfile") }, "environment/Dockerfile: is missing"},
		"no tests":       {func(s fstest.MapFS) { delete(s, "a/tests/test.sh") }, "tests: has no test.sh"},
		"compose":        {func(s fstest.MapFS) { s["a/environment/docker-compose.yaml"] = &fstest.MapFile{} }, "several containers"},
		"a link in tests": {func(s fstest.MapFS) {
			s["a/tests/x"] = &fstest.MapFile{Data: []byte("/etc/passwd"), Mode: fs.ModeSymlink}
		}, "x is not a plain file"},
		"no solve.sh": {func(s fstest.MapFS) { s["a/solution/x"] = &fstest.MapFile{} }, "solution: has no solve.sh"},
		"a link outside": {func(s fstest.MapFS) {
			s["a/environment/x"] = &fstest.MapFile{Data: []byte("../../b"), Mode: fs.ModeSymlink}
		}, "leaves the folder"},
		"not UTF-8": {func(s fstest.MapFS) { s["a/instruction.md"] = &fstest.MapFile{Data: []byte("\xff")} }, "instruction.md: is not text"},
		"large tests": {func(s fstest.MapFS) {
			s["a/tests/x"] = &fstest.MapFile{Data: make([]byte, relabel.MaxUnpacked+1)}
		}, "more than 64 MiB"},
		"twice": {func(s fstest.MapFS) {
			for _, name := range []string{"task.toml", "instruction.md", "environment/Dockerfile", "tests/test.sh"} {
				s["0/a/"+name] = s["a/"+name]
			}
		}, "is that of 0/a too"},
	} {
		set := plainTask()
		c.change(set)
		folders := readSet(t, set)
		if f := folders[len(folders)-1]; f.Refused == nil || !strings.Contains(f.String(), c.want) {
			t.Errorf("%s: %s", name, f)
		}
	}
	if _, err := Read(fstest.MapFS{"a/b": {}}); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Error(err)
	}
}

func TestAnImageIsNamedByItsEnvironment(t *testing.T) {
	set := plainTask()
	before := readSet(t, set)[0].Task.Image
	set["a/instruction.md"] = &fstest.MapFile{Data: []byte("Do more.\n")}
	if after := readSet(t, set)[0].Task.Image; after != before {
		t.Error("the instruction changes the image")
	}
	set["a/environment/Dockerfile"] = &fstest.MapFile{Data: []byte("FROM other\n")}
	if after := readSet(t, set)[0].Task.Image; after == before {
		t.Error("another environment has the same image")
	}
	set["a/task.toml"] = &fstest.MapFile{Data: []byte("[environment]\ndocker_image = \"example/a:1\"\n")}
	if f := readSet(t, set)[0]; f.Build || f.Task.Image != "example/a:1" {
		t.Errorf("%+v", f)
	}
	delete(set, "a/environment/Dockerfile")
	set["a/environment/data.txt"] = &fstest.MapFile{}
	if f := readSet(t, set)[0]; f.Refused == nil {
		t.Error("files that nobody would copy are accepted")
	}
	if err := WriteContext(io.Discard, errorFS{}); err == nil {
		t.Error("an unreadable environment is accepted")
	}
}

type errorFS struct{}

func (errorFS) Open(string) (fs.File, error) { return nil, errors.New("broken") }
