package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"relabel"
	"relabel/api"
	"relabel/tasks"
)

// TasksImport is `relabel tasks import FILE…`.
type TasksImport struct {
	ClientFlags
	Files        []string `arg:"" type:"path" name:"file" help:"Files or folders of tasks, one per row: JSONL, JSON or Parquet, also in .gz or .zst, or a tar archive; or task folders of Harbor. Imported completely or not at all."`
	Name         string   `placeholder:"NAME" help:"Name of the task set. Default: the name of the first file."`
	Format       string   `default:"auto" enum:"auto,relabel,swebench,swebenchlive,swegym,swerebench,swerebenchv2,swesmith,r2egym,scaleswe,swebenchpro,multiswebench" help:"Format of the rows: auto, relabel, swebench, swebenchlive, swegym, swerebench, swerebenchv2, swesmith, r2egym, scaleswe, swebenchpro or multiswebench."`
	Split        string   `placeholder:"SPLIT" help:"Of a folder or several files, only this split: train of train-00000-of-00003.parquet."`
	Append       bool     `help:"Add the tasks to the existing task set --name, as its next revision."`
	SkipBad      bool     `help:"Leave out rows that cannot be read, and list them."`
	CheckImages  bool     `help:"After the import, have a worker look for the image of each task; fail if one is missing. No image is pulled."`
	HeldOut      string   `xor:"held-out" type:"existingfile" placeholder:"FILE" help:"File with one instance id per line, # begins a comment: tasks that are never rolled out for training."`
	HeldOutCount *int     `xor:"held-out" placeholder:"N" help:"Hold out N tasks instead, drawn with --held-out-seed; with --append, N of the new ones."`
	HeldOutSeed  *int64   `placeholder:"N" help:"Seed of that draw. Default: 0."`
}

// Validate refuses an empty draw, a seed without a draw, and an append to no name.
func (c *TasksImport) Validate() error {
	switch {
	case c.HeldOutCount != nil && *c.HeldOutCount < 1:
		return relabel.Errorf(relabel.CodeInvalid, "is %d: must be at least 1", *c.HeldOutCount).On("--held-out-count")
	case c.HeldOutSeed != nil && c.HeldOutCount == nil:
		return relabel.Errorf(relabel.CodeInvalid, "needs --held-out-count").On("--held-out-seed")
	case c.Append && c.Name == "":
		return relabel.Errorf(relabel.CodeInvalid, "needs --name, the task set to add to").On("--append")
	}
	return nil
}

// Run imports the files.
func (c *TasksImport) Run(ctx context.Context) error {
	query, err := c.query()
	if err != nil {
		return err
	}
	body, err := upload(c.Files, c.SkipBad)
	if err != nil {
		return err
	}
	if body.file != "" {
		query.Set("file", body.file)
	}
	return errors.Join(c.With(ctx, func(cl *Session) error {
		set, err := cl.ImportTaskset(ctx, query, body.Reader, body.size)
		if err != nil {
			return err
		}
		printImport(set, c.Append)
		if !c.CheckImages {
			return nil
		}
		return reportImages(ctx, cl, set.Taskset)
	}), body.end())
}

// query returns the parameters of the request.
func (c *TasksImport) query() (url.Values, error) {
	query := url.Values{"name": {c.Name}, "format": {c.Format}}
	if c.Name == "" {
		query.Set("name", nameOfFile(c.Files[0]))
	}
	if c.Split != "" {
		query.Set("split", c.Split)
	}
	for flag, set := range map[string]bool{"append": c.Append, "skip_bad": c.SkipBad} {
		if set {
			query.Set(flag, "true")
		}
	}
	if c.HeldOut != "" {
		var names []string
		err := eachLine(c.HeldOut, func(_ int, line string) error {
			names = append(names, strings.Fields(line)...)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(names) == 0 { // every task would be trained on silently
			return nil, relabel.Errorf(relabel.CodeInvalid, "%s names no instance", c.HeldOut).On("--held-out")
		}
		query.Set("held_out", strings.Join(names, ","))
	}
	if c.HeldOutCount != nil {
		query.Set("held_out_count", fmt.Sprint(*c.HeldOutCount))
		query.Set("held_out_seed", fmt.Sprint(deref(c.HeldOutSeed)))
	}
	return query, nil
}

// nameOfFile is a file's name without the endings that say how it is written.
func nameOfFile(path string) string {
	name := filepath.Base(path)
	for _, packed := range []string{".gz", ".zst", ".zstd"} {
		name = strings.TrimSuffix(name, packed)
	}
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// mostSkipped bounds the skipped rows that are printed.
const mostSkipped = 20

// printImport prints what became of an import.
func printImport(set api.ImportedTaskset, appended bool) {
	say("%s  %s: %s, %d of them held out", set.ID, set.Name, counted(set.Tasks, "task"), set.HeldOut)
	if appended {
		say("%s added, %d unchanged; revision %d", counted(set.Added, "task"), set.Unchanged, set.Revision)
	}
	if len(set.Files) > 0 {
		say("files: %s", oneLine(strings.Join(set.Files, ", ")))
	}
	if set.SkippedRows > 0 {
		say("skipped rows: %d", set.SkippedRows)
	}
	for i, s := range set.Skipped {
		if i == mostSkipped {
			say("  … and more; REST lists up to 1000")
			break
		}
		say("  %s", oneLine(skippedText(s)))
	}
	for _, field := range slices.Sorted(maps.Keys(set.UnusedFields)) {
		say("not used: %s (%s)", oneLine(field), counted(set.UnusedFields[field], "row"))
	}
}

// skippedText names a problem with its row and field.
func skippedText(s api.SkippedRow) string {
	where := fmt.Sprintf("row %d", s.Row)
	if s.File != "" {
		where = s.File + ": " + where
	}
	if s.Field != "" {
		where += ": " + s.Field
	}
	return where + ": " + s.Message
}

// TasksList is `relabel tasks list [TASKSET]`.
type TasksList struct {
	ClientFlags
	Taskset string `arg:"" optional:"" help:"Name or id of a task set."`
}

// Run prints task sets or tasks.
func (c *TasksList) Run(ctx context.Context) error {
	if c.Taskset == "" {
		heads := []string{"ID", "NAME", "REVISION", "TASKS", "HELD OUT", "EXCLUDED", "IMPORTED"}
		return list(ctx, c.ClientFlags, (*Session).Tasksets, heads, func(s relabel.Taskset) []any {
			return []any{s.ID, s.Name, s.Revision, s.Tasks, s.HeldOut, s.Excluded, s.CreatedAt}
		})
	}
	return c.With(ctx, func(cl *Session) error {
		set, err := findTaskset(ctx, cl, c.Taskset)
		if err != nil {
			return err
		}
		tasks, err := cl.Tasks(ctx, set.ID)
		if err != nil {
			return err
		}
		if set.Kind == relabel.Localise {
			heads := []string{"INSTANCE", "REPOSITORY", "GOLD FILES", "GOLD FUNCTIONS", "HELD OUT", "EXCLUDED", "RESERVED BY"}
			return printTable(tasks, heads, func(t relabel.Task) []any {
				return []any{t.InstanceID, t.Repo, len(t.GoldFiles), len(t.GoldFunctions), t.HeldOut, t.Excluded, strings.Join(t.ReservedBy, ", ")}
			})
		}
		if set.Kind == relabel.Terminal {
			heads := []string{"INSTANCE", "IMAGE", "TEST SECONDS", "SOLUTION", "HELD OUT", "EXCLUDED", "RESERVED BY"}
			return printTable(tasks, heads, func(t relabel.Task) []any {
				return []any{t.InstanceID, t.Image, t.Terminal.TestSeconds, t.Terminal.Solution.Bytes > 0, t.HeldOut, t.Excluded, strings.Join(t.ReservedBy, ", ")}
			})
		}
		heads := []string{"INSTANCE", "IMAGE", "FAIL_TO_PASS", "PASS_TO_PASS", "HELD OUT", "EXCLUDED", "RESERVED BY"}
		return printTable(tasks, heads, func(t relabel.Task) []any {
			return []any{t.InstanceID, t.Image, len(t.FailToPass), len(t.PassToPass), t.HeldOut, t.Excluded, strings.Join(t.ReservedBy, ", ")}
		})
	})
}

// findTaskset finds a task set by its id or its name.
func findTaskset(ctx context.Context, cl *Session, nameOrID string) (relabel.Taskset, error) {
	set, err := cl.Taskset(ctx, nameOrID)
	return named(set, err, "task set", nameOrID, "tasks list")
}

// ReadTaskFile reads a file or folder of tasks in any known format.
func ReadTaskFile(path string) ([]relabel.Task, error) {
	return ReadTaskFiles([]string{path}, tasks.Options{})
}

// digestOf is the hex SHA-256 of a file's content.
func digestOf(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}
