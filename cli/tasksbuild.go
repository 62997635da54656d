package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"relabel"
)

// TasksBuild is `relabel tasks build REPOSITORY`. It needs Docker, but no database.
type TasksBuild struct {
	DockerFlags
	Repository  string `arg:"" optional:"" type:"existingdir" help:"Git repository: a clone or a bare mirror."`
	Releases    string `type:"existingfile" placeholder:"FILE" help:"Build tasks of the pairs of releases in this list instead of a repository's history. The registries' clients (pip, npm, cargo, go, mvn) download the packages."`
	Out         string `placeholder:"DIR" help:"Folder of tasks.jsonl, report.json, logs and the journal of the build. A build that was interrupted continues there."`
	PrintRecipe bool   `help:"Print the recipe that fits the newest commit of the range, to edit and to pass with --recipe, and end."`
	Recipe      string `type:"existingfile" placeholder:"FILE" help:"Recipe file. Default: the built-in recipe that fits the repository."`
	Name        string `placeholder:"OWNER/NAME" help:"Name of the repository in the tasks. Default: the end of its path."`

	Range    string `default:"HEAD" placeholder:"RANGE" help:"Commits to examine, as git log takes them, for example v1.0..main."`
	Merges   bool   `help:"Examine merge commits, each with its difference to its first parent, instead of single commits."`
	Commits  int    `default:"0" help:"Examine at most this many of the newest commits. 0: all."`
	Issues   string `type:"existingfile" placeholder:"FILE" help:"JSONL file with the texts of issues: {\"commit\"|\"number\"|\"pull\": …, \"title\": …, \"text\": …}, one per line. A commit's issue is found by its hash, or by #NUMBER in its message. Default: commit messages."`
	MaxFiles int    `default:"20" help:"Refuse changes of more source files."`
	MaxLines int    `default:"1000" help:"Refuse changes with more added and removed lines of source."`

	Inject      int   `default:"0" placeholder:"N" help:"Put bugs into N places that the tests execute, one at a time, in the commit of --range, instead of examining commits. 0: none."`
	Seed        int64 `default:"0" help:"Seed of the draw of these places."`
	PerFunction int   `default:"2" help:"Bugs in one function, at most."`

	StatementFlags

	Jobs    int  `default:"2" help:"Candidates at once."`
	Runs    int  `default:"3" help:"Runs of the tests without the change, and again with it. Tests that do not agree in all of them are flaky and left out."`
	MaxDisk Size `default:"20GiB" help:"Disk space that the images of the build may use on top of those that they start from. When it is used up, the other candidates wait for the next build. 0: no limit."`
	MinFree Size `default:"5GiB" help:"Disk space to keep free where Docker stores images. 0 disables the check."`
	Again   bool `help:"Retry candidates whose image could not be made, for example because the network failed."`
	JSON    bool `name:"json" help:"Print the report as JSON."`
}

// Validate refuses values that cannot be used.
func (c *TasksBuild) Validate() error {
	if (c.Repository == "") == (c.Releases == "") {
		return relabel.Errorf(relabel.CodeInvalid, "name a repository, or a list of releases with --releases").On("REPOSITORY")
	}
	if err := c.checkReleases(); err != nil {
		return err
	}
	if c.Out == "" && !c.PrintRecipe {
		return relabel.Errorf(relabel.CodeInvalid, "is missing: the folder to write").On("--out")
	}
	for _, bound := range []struct {
		flag       string
		value, min int
	}{{"--commits", c.Commits, 0}, {"--max-files", c.MaxFiles, 1}, {"--max-lines", c.MaxLines, 1}, {"--jobs", c.Jobs, 1}, {"--runs", c.Runs, 1},
		{"--inject", c.Inject, 0}, {"--per-function", c.PerFunction, 1}} {
		if bound.value < bound.min {
			return relabel.Errorf(relabel.CodeInvalid, "is %d: must be at least %d", bound.value, bound.min).On(bound.flag)
		}
	}
	if c.Inject > 0 && (c.Merges || c.Commits > 0 || c.Issues != "") {
		return relabel.Errorf(relabel.CodeInvalid, "examines no commits: leave out --merges, --commits and --issues").On("--inject")
	}
	if _, err := c.StatementFlags.Policy(); err != nil {
		return err
	}
	if len(c.Docker) > 1 {
		return relabel.Errorf(relabel.CodeInvalid, "images are built on one engine: name one").On("--docker")
	}
	return nil
}

// checkReleases refuses flags that only concern the history of a repository.
func (c *TasksBuild) checkReleases() error {
	for flag, used := range map[string]bool{"--print-recipe": c.PrintRecipe, "--recipe": c.Recipe != "", "--name": c.Name != "", "--range": c.Range != "HEAD",
		"--merges": c.Merges, "--commits": c.Commits != 0, "--issues": c.Issues != "", "--inject": c.Inject != 0} {
		if used && c.Releases != "" {
			return relabel.Errorf(relabel.CodeInvalid, "needs a repository: the entries of --releases have such settings themselves").On(flag)
		}
	}
	return nil
}

// BuiltTasks is the report of a build, with more as JSON.
type BuiltTasks interface {
	// Lines returns the counts, the reasons why changes are not tasks, and the file of the tasks.
	Lines() []string
}

// Run builds the tasks and prints what became of the changes.
func (c *TasksBuild) Run(ctx context.Context, p *Ports) error {
	if c.PrintRecipe {
		text, err := p.DetectRecipe(ctx, c)
		if err != nil {
			return err
		}
		_, err = os.Stdout.Write(text)
		return err
	}
	report, err := p.BuildTasks(ctx, c, func(line string) { fmt.Fprintln(os.Stderr, line) })
	if errors.Is(err, context.Canceled) {
		return Interruptedf("the same command continues the build in %s", c.Out)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(report)
	}
	for _, line := range report.Lines() {
		say("%s", line)
	}
	return nil
}
