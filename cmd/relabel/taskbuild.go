package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"relabel"
	"relabel/cli"
	"relabel/envs/docker"
	"relabel/envs/verify"
	"relabel/policy"
	"relabel/taskbuild"
	"relabel/taskbuild/history"
	"relabel/taskbuild/inject"
	"relabel/taskbuild/recipes"
	"relabel/taskbuild/releases"
	"relabel/testlog"
)

// detectRecipe returns the recipe file that fits the newest commit of a range.
func detectRecipe(ctx context.Context, c *cli.TasksBuild) ([]byte, error) {
	recipe, err := recipes.Detect(ctx, c.Repository, c.Range)
	if err != nil {
		return nil, err
	}
	return recipe.Text()
}

// buildTasks builds tasks out of a repository's history, or of pairs of releases.
func buildTasks(ctx context.Context, c *cli.TasksBuild, done func(string)) (cli.BuiltTasks, error) {
	recipe, folder, err := recipeOf(ctx, c)
	if err != nil {
		return nil, err
	}
	writer, writerName, err := openStatements(c.StatementFlags)
	if err != nil {
		return nil, err
	}
	images, err := imagesFrom(c.DockerFlags, policy.Secrets{})
	if err != nil {
		return nil, err
	}
	host, err := docker.NewHost(docker.Config{
		Address: cmp.Or(c.Docker...), Instance: "tasks build", Sandboxd: c.Sandboxd, Images: images, Log: newLog(),
	})
	if err != nil {
		return nil, cli.OnFlag(err, "--docker")
	}
	tester, drawn := buildTester{verify.New(host)}, inject.Figures{}
	builder := taskbuild.New(newBuildEngine(host), tester, taskbuild.Options{
		Out: c.Out, Source: sourceName(c), Again: c.Again, Recipe: recipe, Folder: folder, Jobs: c.Jobs, Before: c.Runs, After: c.Runs,
		MaxDisk: int64(c.MaxDisk), MinFree: int64(c.MinFree), Variables: taskbuild.RegistryVariables(os.Environ()),
		Writer: writer, WriterName: writerName,
		Done: func(e taskbuild.Entry) { done(e.Line()) },
	})
	source, release, err := openSource(ctx, c, recipe, builder, tester, rooms{host: host}, &drawn)
	if err != nil {
		return nil, errors.Join(err, host.Close())
	}
	report, err := builder.Build(ctx, source)
	err = errors.Join(err, source.Close(), release(), host.Close())
	return builtTasks{report, drawn, filepath.Join(c.Out, taskbuild.TasksFile)}, err
}

// sourceName says what tasks are made of.
func sourceName(c *cli.TasksBuild) string {
	switch {
	case c.Releases != "":
		return "releases"
	case c.Inject > 0:
		return "bugs in " + absolute(c.Repository)
	}
	return "the history of " + absolute(c.Repository)
}

// absolute returns a path from the root, as long as the working directory is known.
func absolute(name string) string {
	if full, err := filepath.Abs(name); err == nil {
		return full
	}
	return name
}

// openReleases opens a list of pairs of releases.
func openReleases(c *cli.TasksBuild) (*releases.Source, error) {
	list, err := releases.ReadList(c.Releases)
	if err != nil {
		return nil, err
	}
	out, err := filepath.Abs(c.Out)
	if err != nil {
		return nil, err
	}
	return releases.New(releases.Options{Entries: list, Folder: out, Jobs: c.Jobs, Detect: recipes.Detect, Check: checkParser}), nil
}

// recipeOf returns the recipe of a build and the folder of its file.
func recipeOf(ctx context.Context, c *cli.TasksBuild) (recipe taskbuild.Recipe, folder string, err error) {
	if c.Releases != "" { // its entries have recipes
		return recipe, filepath.Dir(c.Releases), nil
	}
	if c.Recipe != "" {
		recipe, err = taskbuild.ReadRecipe(c.Recipe)
	} else {
		recipe, err = recipes.Detect(ctx, c.Repository, c.Range)
	}
	if err != nil {
		return recipe, "", err
	}
	return recipe, filepath.Dir(c.Recipe), checkParser(recipe)
}

// checkParser fails if the log parser of a recipe does not exist.
func checkParser(r taskbuild.Recipe) error {
	if _, known := testlog.Find(r.LogParser); !known {
		return relabel.Errorf(relabel.CodeInvalid, "%q is not the name of a log parser", r.LogParser).On("log_parser")
	}
	return nil
}

// openHistory opens the history of the repository.
func openHistory(ctx context.Context, c *cli.TasksBuild, recipe taskbuild.Recipe) (*history.Source, error) {
	config := history.Config{
		Repository: c.Repository, Name: c.Name, Range: c.Range, Merges: c.Merges, Commits: c.Commits, MaxFiles: c.MaxFiles, MaxLines: c.MaxLines, Recipe: recipe,
		Unstated: c.StatementURL != "",
	}
	if c.Recipe == "" {
		config.Detect = func(ctx context.Context, commit string) (taskbuild.Recipe, bool, error) {
			return recipes.Fitting(ctx, c.Repository, commit)
		}
	}
	if c.Issues != "" {
		file, err := os.Open(c.Issues)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		if config.Issues, err = history.ReadIssues(file); err != nil {
			return nil, err
		}
	}
	return history.Open(ctx, config)
}

// builtTasks is the report of a build with the path of its tasks.
type builtTasks struct {
	taskbuild.Report
	Injection inject.Figures `json:"injection,omitzero"`
	File      string         `json:"file"`
}

// Lines implements cli.BuiltTasks.
func (b builtTasks) Lines() []string {
	return slices.Concat(b.Injection.Lines(), b.Report.Lines(), []string{b.File})
}

// buildTester runs tests as the verifier does.
type buildTester struct{ verifier *verify.Verifier }

// Test implements taskbuild.Tester. A container that failed is tried once more.
func (t buildTester) Test(ctx context.Context, task relabel.Task, patch string, timeout time.Duration) (taskbuild.TestRun, error) {
	o, err := t.verifier.Observe(ctx, task, patch, timeout)
	if err == nil && o.Engine && !o.DoesNotApply {
		o, err = t.verifier.Observe(ctx, task, patch, timeout)
	}
	return taskbuild.TestRun{Tests: o.Tests, DoesNotApply: o.DoesNotApply, TimedOut: o.TimedOut, Problem: o.Problem, Log: o.Log, Seconds: o.Seconds}, err
}

// buildEngine makes images on a Docker engine.
type buildEngine struct {
	*docker.Host
	certificates []byte // this machine's
}

// certificateFiles are where machines have the certificates that they trust.
var certificateFiles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}

// newBuildEngine returns an engine whose scripts trust the certificates of this machine, which may be those of a
// company.
func newBuildEngine(host *docker.Host) buildEngine {
	for _, name := range append([]string{os.Getenv("SSL_CERT_FILE")}, certificateFiles...) {
		if pem, err := os.ReadFile(name); err == nil && len(pem) > 0 {
			return buildEngine{host, pem}
		}
	}
	return buildEngine{host, nil}
}

// Labels implements taskbuild.Engine.
func (e buildEngine) Labels(ctx context.Context, label string, names []string) (map[string]string, error) {
	return e.ImageLabels(ctx, label, names)
}

// MakeImage implements taskbuild.Engine.
func (e buildEngine) MakeImage(ctx context.Context, s taskbuild.ImageSpec) error {
	return commandError(e.Host.MakeImage(ctx, docker.ImageSpec{
		Name: s.Name, From: s.From, Workdir: s.Workdir, Files: s.Files, Script: s.Script, Certificates: e.certificates,
		Variables: s.Variables, Environment: s.Environment, Labels: s.Labels, Timeout: s.Timeout, Log: s.Log,
	}))
}

// BuildImage implements taskbuild.Engine.
func (e buildEngine) BuildImage(ctx context.Context, s taskbuild.DockerfileSpec) error {
	return commandError(e.Host.BuildImage(ctx, docker.DockerfileSpec{
		Name: s.Name, Context: s.Context, Dockerfile: s.Dockerfile, Labels: s.Labels, Variables: s.Variables, Log: s.Log,
	}))
}

// commandError returns a failed command as the error of taskbuild.
func commandError(err error) error {
	var failed *docker.BuildError
	if errors.As(err, &failed) {
		return &taskbuild.CommandError{Exit: failed.Exit, TimedOut: failed.TimedOut, Output: failed.Output}
	}
	return err
}

// Tidy implements taskbuild.Engine.
func (e buildEngine) Tidy(ctx context.Context, label, value string) error {
	return e.RemoveContainers(ctx, label, value)
}

// Free implements taskbuild.Engine.
func (e buildEngine) Free(ctx context.Context) (int64, error) {
	condition, err := e.Look(ctx)
	return condition.Free, err
}
