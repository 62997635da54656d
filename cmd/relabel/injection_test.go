package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel/cli"
	"relabel/codeindex/languages/languagestest"
	"relabel/envs/docker"
	"relabel/envs/docker/dockertest"
	"relabel/envs/envstest"
	"relabel/envs/verify"
	"relabel/gitdiff"
	"relabel/taskbuild"
	"relabel/taskbuild/inject"
	"relabel/tasks"
)

// injection is a build of bugs in a repository of testdata.
type injection struct {
	t       *testing.T
	command cli.TasksBuild
	recipe  taskbuild.Recipe
	host    *docker.Host
}

// newInjection makes a repository out of a folder of testdata.
func newInjection(t *testing.T, language string, recipe taskbuild.Recipe) injection {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "stock")
	if err := os.CopyFS(dir, os.DirFS("../../taskbuild/inject/testdata/"+language)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@invalid", "commit", "-q", "-m", "Release"}} {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	recipe.Image = envstest.MadeImage(t, recipe.Image)
	recipe.Workdir, recipe.Tests, recipe.TestSeconds, recipe.BuildSeconds = "/testbed", taskbuild.TestsAll, 300, 300
	out := filepath.Join(t.TempDir(), "out")
	return injection{t, cli.TasksBuild{Repository: dir, Out: out, Range: "HEAD", Inject: 3, Seed: 1, PerFunction: 1}, recipe, dockertest.NewHost(t)}
}

// build builds the tasks, and returns them as an import reads them.
func (i injection) build() (taskbuild.Report, inject.Figures, tasks.File) {
	i.t.Helper()
	ctx, engine, tester := context.Background(), newBuildEngine(i.host), buildTester{verify.New(i.host)}
	writer, name, err := openStatements(i.command.StatementFlags)
	if err != nil {
		i.t.Fatal(err)
	}
	builder := taskbuild.New(engine, tester, taskbuild.Options{Out: i.command.Out, Recipe: i.recipe, Jobs: 2, Before: 1, After: 1, Writer: writer, WriterName: name})
	var figures inject.Figures
	source, release, err := openSource(ctx, &i.command, i.recipe, builder, tester, rooms{host: i.host}, &figures)
	if err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(i.removeImages)
	report, err := builder.Build(ctx, source)
	if err != nil {
		i.t.Fatal(err)
	}
	if err := source.Close(); err != nil {
		i.t.Error(err)
	}
	if err := release(); err != nil {
		i.t.Error(err)
	}
	text, err := os.ReadFile(filepath.Join(i.command.Out, taskbuild.TasksFile))
	if err != nil {
		i.t.Fatal(err)
	}
	made, err := tasks.Read(bytes.NewReader(text), tasks.FormatAuto)
	if err != nil && report.Sound > 0 {
		i.t.Fatal(err)
	}
	return report, figures, made
}

// removeImages removes what the builds made.
func (i injection) removeImages() {
	id, err := os.ReadFile(filepath.Join(i.command.Out, "id"))
	if err != nil {
		i.t.Error(err)
		return
	}
	ctx, engine := context.Background(), newBuildEngine(i.host)
	names, err := engine.ImagesWith(ctx, taskbuild.LabelBuild, strings.TrimSpace(string(id)))
	if err != nil {
		i.t.Error(err)
	}
	for name := range names {
		if err := engine.RemoveImage(ctx, name); err != nil {
			i.t.Error(err)
		}
	}
}

var injections = map[string]taskbuild.Recipe{
	"python": {
		Name: "pytest", Image: "relabel/base:bookworm", TestCommand: "python3 -m pytest -rA -p no:cacheprovider tests", LogParser: "pytest",
		TestFiles: []string{"tests/**"}, SourceFiles: []string{"**/*.py"},
	},
	"go": {
		Name: "go", Image: "relabel/base-go:bookworm", TestCommand: "go test -v ./...", LogParser: "gotest",
		TestFiles: []string{"**/*_test.go"}, SourceFiles: []string{"**/*.go"},
	},
	"javascript": {
		Name: "jest", Image: "relabel/base-jest:bookworm", TestCommand: "npx jest --verbose", LogParser: "jest",
		TestFiles: []string{"**/*.test.js"}, SourceFiles: []string{"**/*.js"},
	},
}

func TestInjectedBugsBecomeTasks(t *testing.T) {
	t.Setenv("RELABEL_PARSERS", languagestest.Folder(t))
	for language, recipe := range injections {
		t.Run(language, func(t *testing.T) {
			i := newInjection(t, language, recipe)
			report, figures, made := i.build()
			if report.Changes == 0 || report.Sound == 0 || figures.Drawn != report.Changes || figures.Executed >= figures.Possible || len(made.Tasks) != report.Sound {
				t.Fatalf("%+v of %+v", report, figures)
			}
			for _, task := range made.Tasks {
				if task.TestPatch != "" || len(task.FailToPass) == 0 || len(task.PassToPass) == 0 || !strings.Contains(task.ProblemStatement, task.FailToPass[0]) {
					t.Errorf("%s: %q, %q fail, %q pass\n%s", task.InstanceID, task.TestPatch, task.FailToPass, task.PassToPass, task.ProblemStatement)
				}
				if leaks := taskbuild.Leaks(task.ProblemStatement, task.Patch); len(leaks) > 0 {
					t.Errorf("%s quotes %q", task.InstanceID, leaks)
				}
				changed, err := gitdiff.Parse(task.Patch)
				if err != nil || len(changed) != 1 || !strings.HasPrefix(changed[0].New, "stock.") || strings.Contains(changed[0].New, "test") {
					t.Errorf("%v: %s", err, task.Patch)
				}
			}
			i.checkNoTrace(made.Tasks[0])
			i.checkTestsCannotBeEdited(made.Tasks[0], language)
			again, _, same := i.build()
			if again.Built != 0 || !slices.Equal(again.Tasks, report.Tasks) || same.Tasks[0].ProblemStatement != made.Tasks[0].ProblemStatement {
				t.Errorf("the second build: %+v", again)
			}
		})
	}
}

func TestAModelWritesTheStatementsOfInjectedBugs(t *testing.T) {
	t.Setenv("RELABEL_PARSERS", languagestest.Folder(t))
	i := newInjection(t, "python", injections["python"])
	m := &model{answers: []string{good}}
	server := httptest.NewServer(m)
	defer server.Close()
	i.command.StatementURL, i.command.StatementModel = server.URL+"/v1", "writer"
	report, _, made := i.build()
	if report.Sound == 0 || len(m.requests) != report.Sound {
		t.Fatalf("%d requests, %+v", len(m.requests), report)
	}
	for n, task := range made.Tasks {
		if task.ProblemStatement != good {
			t.Errorf("%s: %s", task.InstanceID, task.ProblemStatement)
		}
		var asked struct{ Content string }
		if err := json.Unmarshal([]byte(m.requests[n]), &asked); err != nil || !strings.Contains(asked.Content, "tests/test_stock.py::") {
			t.Errorf("%v: asked %s", err, asked.Content)
		}
	}
	if again, _, _ := i.build(); again.Built != 0 || len(m.requests) != report.Sound {
		t.Errorf("the second build asks again: %d requests, %+v", len(m.requests), again)
	}
}
