package cli

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"relabel"
	"relabel/codeindex"
	"relabel/localise"
	"relabel/tasks"
)

// MirrorFlags say where mirrors are.
type MirrorFlags struct {
	Repositories string `env:"RELABEL_REPOSITORIES" type:"existingdir" placeholder:"DIR" help:"Folder of bare git mirrors (owner__name.git)."`
}

// OpenMirrors opens a folder of mirrors with the parsers of the index. missing says which parsers are not installed.
type OpenMirrors func(dir string) (r localise.Repositories, missing []error, close func(), err error)

// open opens the mirrors and prints which parsers are not installed.
func (f MirrorFlags) open(open OpenMirrors) (r localise.Repositories, close func(), err error) {
	r, missing, close, err := open(f.Repositories)
	for _, m := range missing {
		fmt.Fprintln(os.Stderr, "relabel: files of these languages have no functions: "+m.Error())
	}
	return r, close, err
}

// TasksLocalise is `relabel tasks localise`. It needs neither Docker nor a database.
type TasksLocalise struct {
	MirrorFlags
	Pairs   string   `xor:"input" required:"" type:"existingfile" placeholder:"FILE" help:"JSONL file of issues with their changes, one pair per line. Either this or --tasks is required."`
	Tasks   string   `xor:"input" required:"" type:"existingfile" placeholder:"FILE" help:"Instead of --pairs, a task file whose gold patches are the changes: relabel's own format, SWE-bench, SWE-Gym or SWE-rebench."`
	Out     string   `required:"" placeholder:"FILE" help:"Task file to write; an existing one is replaced when all is done."`
	Exclude []string `sep:"none" type:"existingfile" placeholder:"FILE" help:"File with one owner/name or instance id per line that become no task. May be repeated."`
	JSON    bool     `name:"json" help:"Print the counts as JSON, with each pair that became no task."`
}

// Validate refuses a command line without mirrors.
func (c *TasksLocalise) Validate() error {
	if c.Repositories == "" {
		return relabel.Errorf(relabel.CodeInvalid, "is missing: the folder of bare git mirrors").On("--repositories")
	}
	return nil
}

// Run makes the tasks, writes them and prints what became of the pairs.
func (c *TasksLocalise) Run(ctx context.Context, p *Ports) error {
	exclude := new(localise.Exclusions)
	for _, name := range c.Exclude {
		if err := readExclusions(exclude, name); err != nil {
			return err
		}
	}
	candidates, err := c.candidates()
	if err != nil {
		return err
	}
	mirrors, closeMirrors, err := c.open(p.OpenMirrors)
	if err != nil {
		return err
	}
	defer closeMirrors()
	builder := localise.Builder{Repositories: mirrors, Exclude: exclude, Done: new(atomic.Int64)}
	over := showCount(ctx, builder.Done, len(candidates))
	result, err := builder.Build(ctx, candidates)
	over()
	if err != nil {
		return err
	}
	if result.Made > 0 {
		if err := writeAside(c.Out, result.Tasks); err != nil {
			return err
		}
	}
	if err := c.print(result); err != nil {
		return err
	}
	if result.Made == 0 {
		return relabel.Errorf(relabel.CodeInvalid, "no pair became a task, so %s is not written", c.Out)
	}
	return nil
}

func readExclusions(e *localise.Exclusions, name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := e.Read(bytes.NewReader(text)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// candidates reads the pairs or the tasks.
func (c *TasksLocalise) candidates() ([]localise.Candidate, error) {
	if c.Tasks != "" {
		repairs, err := ReadTaskFile(c.Tasks)
		if err != nil {
			return nil, err
		}
		if repairs[0].Kind != relabel.Repair {
			return nil, relabel.Errorf(relabel.CodeInvalid, "%s has tasks to localise already; gold is made of tasks with patches", c.Tasks).On("--tasks")
		}
		return localise.FromTasks(repairs), nil
	}
	file, err := os.ReadFile(c.Pairs)
	if err != nil {
		return nil, err
	}
	pairs, unused, err := tasks.ReadPairs(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	for _, field := range slices.Sorted(maps.Keys(unused)) {
		fmt.Fprintf(os.Stderr, "not used: %s (%d lines)\n", oneLine(field), unused[field])
	}
	return localise.Candidates(pairs), nil
}

// writeAside writes a task file beside its place and then renames it.
func writeAside(name string, all []relabel.Task) (err error) {
	aside, err := os.CreateTemp(filepath.Dir(name), ".relabel-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(aside.Name()) // the error above is the one to report
		}
	}()
	defer aside.Close() // a second close does nothing
	if err := localise.Write(aside, all); err != nil {
		return err
	}
	if err := aside.Chmod(0o644); err != nil {
		return err
	}
	if err := aside.Sync(); err != nil {
		return err
	}
	if err := aside.Close(); err != nil {
		return err
	}
	return os.Rename(aside.Name(), name)
}

// print prints what became of the pairs.
func (c *TasksLocalise) print(r localise.Result) error {
	if c.JSON {
		return printJSON(r)
	}
	filters := newTable("FILTER", "DROPPED", "LEFT", "WHY")
	left := r.Candidates
	filters.row("", "", left, "all pairs")
	for _, reason := range localise.Reasons {
		left -= r.Counts[reason]
		filters.row(reason, r.Counts[reason], left, reason.Text())
	}
	if err := filters.print(); err != nil {
		return err
	}
	fmt.Println()
	languages := newTable("LANGUAGE", "TASKS", "GOLD FILES", "GOLD FUNCTIONS")
	for _, l := range codeindex.Languages {
		if n, ok := r.Languages[l]; ok {
			languages.row(l, n.Tasks, n.Files, n.Functions)
		}
	}
	languages.row("all", r.Made, r.Files, r.Functions)
	if err := languages.print(); err != nil {
		return err
	}
	fmt.Println()
	say("%d tasks have gold files but no gold function; %d functions that changes add are no gold.", r.FilesOnly, r.AddedFunctions)
	if r.Made > 0 {
		say("%s: %d tasks", c.Out, r.Made)
	}
	return nil
}

// showCount shows on a terminal how many of all are done, until over.
func showCount(ctx context.Context, done *atomic.Int64, all int) (over func()) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(readingPeriod)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				fmt.Fprint(os.Stderr, "\r\x1b[K")
				return
			case <-tick.C:
				fmt.Fprintf(os.Stderr, "\r\x1b[K%d of %d pairs", done.Load(), all)
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// validateLocalise checks tasks to localise and prints their problems.
func validateLocalise(ctx context.Context, p *Ports, f MirrorFlags, all []relabel.Task) error {
	if f.Repositories == "" {
		say("%d tasks to localise have a valid form: fields, instance ids, commits, and gold functions within gold files. "+
			"With --repositories DIR their mirrors, commits, gold files and gold functions are checked too.", len(all))
		return nil
	}
	mirrors, closeMirrors, err := f.open(p.OpenMirrors)
	if err != nil {
		return err
	}
	defer closeMirrors()
	done := new(atomic.Int64)
	over := showCount(ctx, done, len(all))
	problems, err := localise.CheckAll(ctx, mirrors, all, done)
	over()
	if err != nil {
		return err
	}
	sound := len(all)
	for i, task := range all {
		if len(problems[i]) > 0 {
			sound--
		}
		for _, problem := range problems[i] {
			say("%s: %s", task.InstanceID, problem)
		}
	}
	say("%d of %d tasks are sound: the mirror has the base commit with the gold files, in a language of the index, and the gold functions.", sound, len(all))
	if sound < len(all) {
		return ErrSomeFailed
	}
	return nil
}
