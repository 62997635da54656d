package cli

import (
	"context"
	"errors"

	"relabel"
)

// TasksValidate is `relabel tasks validate FILE` and `relabel tasks validate --taskset NAME`. The first needs no
// database. Both need Docker, of this machine or another, but for tasks to localise.
type TasksValidate struct {
	DockerFlags
	MirrorFlags
	ClientFlags
	File          string   `arg:"" optional:"" type:"existingpath" help:"File or folder of tasks as for an import, or task folders of Harbor. Either this or --taskset is required."`
	Taskset       string   `placeholder:"NAME" help:"Instead of a file, the tasks of an imported task set, by name or id: each result is stored there as it ends."`
	Only          []string `placeholder:"INSTANCE" help:"Only these instances."`
	Times         int      `default:"1" placeholder:"N" help:"Run the tests N times with the gold patch and N times without a patch, 1 to 10. From 2 on, tests that flicker are found."`
	Jobs          int      `default:"2" aliases:"parallel" placeholder:"N" help:"Validate N tasks at once."`
	VerifySeconds int      `default:"1800" placeholder:"N" help:"Time limit of the test command in each run, in seconds."`
	Again         bool     `help:"Validate tasks again that have a result. Default: the same command continues where it stopped."`
	Results       string   `type:"path" placeholder:"DIR" help:"Folder for results and logs of a file's tasks. Default: FILE.validation."`
	Sound         string   `type:"path" placeholder:"FILE" help:"Write the rows of the sound tasks to this file as JSONL, in the format of their data set. Lines of JSONL are unchanged."`
	DropFlaky     bool     `help:"Drop the tests that flicker: of a task set in a new revision; of a file in the lines that --sound writes."`
	ExcludeBroken bool     `help:"Exclude the broken tasks of a task set in a new revision, each with its problem as the reason."`
	JSON          bool     `name:"json" help:"Print each result as a line of JSON instead of a table. Progress goes to standard error."`
}

// Validate refuses options that do not fit together.
func (c *TasksValidate) Validate() error {
	inSet := c.Taskset != ""
	switch {
	case inSet == (c.File != ""):
		return relabel.Errorf(relabel.CodeInvalid, "give either a file of tasks or --taskset NAME")
	case c.Times < 1 || c.Times > relabel.MaxValidationTimes:
		return relabel.Errorf(relabel.CodeInvalid, "is %d; give 1 to %d", c.Times, relabel.MaxValidationTimes).On("--times")
	case c.Jobs < 1:
		return relabel.Errorf(relabel.CodeInvalid, "is %d; give at least 1", c.Jobs).On("--jobs")
	case c.VerifySeconds < 1:
		return relabel.Errorf(relabel.CodeInvalid, "is %d; give at least 1", c.VerifySeconds).On("--verify-seconds")
	case inSet && c.Results != "":
		return relabel.Errorf(relabel.CodeInvalid, "is for a file; the results of a task set are stored with it").On("--results")
	case inSet && c.Sound != "":
		return relabel.Errorf(relabel.CodeInvalid, "is for a file; --exclude-broken excludes the other tasks of a task set").On("--sound")
	case !inSet && c.ExcludeBroken:
		return relabel.Errorf(relabel.CodeInvalid, "is for a task set; --sound writes the sound lines of a file").On("--exclude-broken")
	case !inSet && c.DropFlaky && c.Sound == "":
		return relabel.Errorf(relabel.CodeInvalid, "needs --sound FILE, or --taskset").On("--drop-flaky")
	}
	return nil
}

// Run validates and prints a table. It fails if a task is not sound.
func (c *TasksValidate) Run(ctx context.Context, p *Ports) error {
	if c.Taskset != "" {
		return c.With(ctx, func(cl *Session) error { return c.validateSet(ctx, p, cl) })
	}
	tasks, err := ReadTaskFile(c.File)
	if err != nil {
		return err
	}
	all := tasks
	if tasks, err = onlyThese(tasks, c.Only); err != nil {
		return err
	}
	if tasks[0].Kind == relabel.Localise {
		return validateLocalise(ctx, p, c.MirrorFlags, tasks)
	}
	return c.validateFile(ctx, p, all, tasks)
}

// validateFile validates the tasks of a file and keeps the results in a folder. all are the tasks of the file.
func (c *TasksValidate) validateFile(ctx context.Context, p *Ports, all, tasks []relabel.Task) error {
	dir := c.Results
	if dir == "" {
		dir = c.File + ".validation"
	}
	results, err := openResults(dir)
	if err != nil {
		return err
	}
	known := map[string]relabel.Validation{}
	for _, t := range tasks {
		if v, is := results.find(t, c.options()); is && !c.Again {
			known[t.InstanceID] = v
		}
	}
	found, err := c.run(ctx, p, tasks, known, results.add)
	if err := errors.Join(err, results.close()); err != nil {
		return err
	}
	if err := c.print(tasks, found, "Logs: "+results.logs()); err != nil {
		return err
	}
	if c.Sound != "" {
		if err := writeSound(c.File, c.Sound, all, found, c.DropFlaky); err != nil {
			return err
		}
	}
	return failUnlessSound(found)
}

func (c *TasksValidate) options() ValidateOptions {
	return ValidateOptions{Times: c.Times, VerifySeconds: c.VerifySeconds}
}

// run validates the tasks that are not known on Docker, and keeps each result as it ends.
func (c *TasksValidate) run(ctx context.Context, p *Ports, tasks []relabel.Task, known map[string]relabel.Validation, keep keepValidation) (map[string]relabel.Validation, error) {
	w := validating{options: c.options(), jobs: c.Jobs, known: known, keep: keep}
	if len(known) == len(tasks) {
		return w.all(ctx, tasks)
	}
	validate, closeDocker, err := p.OpenValidation(ctx, c.DockerFlags)
	if err != nil {
		return nil, err
	}
	w.validate = validate
	found, err := w.all(ctx, tasks)
	return found, errors.Join(err, closeDocker())
}

// onlyThese returns the named tasks. An unknown name is an error.
func onlyThese(tasks []relabel.Task, names []string) ([]relabel.Task, error) {
	if len(names) == 0 {
		return tasks, nil
	}
	var kept []relabel.Task
	for _, name := range names {
		t := Find(tasks, func(t relabel.Task) bool { return t.InstanceID == name })
		if t == nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "there is no instance %q", name).On("--only")
		}
		kept = append(kept, *t)
	}
	return kept, nil
}

// failUnlessSound fails if a task is not sound.
func failUnlessSound(found map[string]relabel.Validation) error {
	for _, v := range found {
		if !v.Sound() {
			return ErrSomeFailed
		}
	}
	return nil
}
