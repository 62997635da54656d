package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relabel"
	"relabel/tasks"
)

// tasksCommand is `relabel tasks`.
type tasksCommand struct {
	Import   tasksImport   `cmd:"" help:"Import a JSONL file: relabel's own form, SWE-bench, SWE-bench Verified, SWE-Gym or SWE-rebench."`
	List     tasksList     `cmd:"" help:"List task sets, or the tasks of one."`
	Validate tasksValidate `cmd:"" help:"Run the gold patch and the empty patch of each task of a file: the first must resolve it, the second must not."`
}

// tasksImport is `relabel tasks import FILE`.
type tasksImport struct {
	clientFlags
	File         string `arg:"" type:"existingfile" help:"JSONL, a task a line. One bad line and nothing is imported."`
	Name         string `help:"Name of the task set. Default: the file's."`
	Format       string `default:"auto" enum:"auto,relabel,swebench,swebenchlive,swegym,swerebench,swerebenchv2" help:"Form of the lines: ${enum}."`
	HeldOut      string `type:"existingfile" placeholder:"FILE" help:"File of instance ids, one a line, that are never rolled out for training."`
	HeldOutCount int    `placeholder:"N" help:"Instead: hold N tasks out, drawn with --held-out-seed."`
	HeldOutSeed  int64  `default:"0" help:"Seed of that draw."`
}

// Run imports the file.
func (c *tasksImport) Run(ctx context.Context) error {
	query := url.Values{"name": {c.Name}, "format": {c.Format}}
	if c.Name == "" {
		query.Set("name", strings.TrimSuffix(filepath.Base(c.File), filepath.Ext(c.File)))
	}
	if c.HeldOut != "" {
		ids, err := os.ReadFile(c.HeldOut)
		if err != nil {
			return err
		}
		names := strings.Fields(string(ids))
		if len(names) == 0 { // every task would be trained on, and nobody told
			return relabel.Errorf(relabel.CodeInvalid, "%s names no instance", c.HeldOut).On("--held-out")
		}
		query.Set("held_out", strings.Join(names, ","))
	}
	if c.HeldOutCount > 0 {
		query.Set("held_out_count", fmt.Sprint(c.HeldOutCount))
		query.Set("held_out_seed", fmt.Sprint(c.HeldOutSeed))
	}
	body, err := readLines(c.File)
	if err != nil {
		return err
	}
	return c.with(ctx, func(cl *session) error {
		set, err := cl.ImportTaskset(ctx, query, body)
		if err != nil {
			return err
		}
		fmt.Printf("%s  %s: %d tasks, %d of them held out\n", set.ID, set.Name, set.Tasks, set.HeldOut)
		for _, field := range slices.Sorted(maps.Keys(set.UnusedFields)) {
			fmt.Printf("not used: %s (%d lines)\n", field, set.UnusedFields[field])
		}
		return nil
	})
}

// tasksList is `relabel tasks list [TASKSET]`.
type tasksList struct {
	clientFlags
	Taskset string `arg:"" optional:"" help:"Name or id of a task set."`
}

// Run prints task sets or tasks.
func (c *tasksList) Run(ctx context.Context) error {
	return c.with(ctx, func(cl *session) error {
		if c.Taskset == "" {
			return printTasksets(ctx, cl)
		}
		set, err := findTaskset(ctx, cl, c.Taskset)
		if err != nil {
			return err
		}
		tasks, err := cl.Tasks(ctx, set.ID)
		if err != nil {
			return err
		}
		t := newTable("INSTANCE", "IMAGE", "FAIL_TO_PASS", "PASS_TO_PASS", "HELD OUT")
		for _, task := range tasks {
			t.row(task.InstanceID, task.Image, len(task.FailToPass), len(task.PassToPass), yes(task.HeldOut))
		}
		return t.print()
	})
}

func printTasksets(ctx context.Context, cl *session) error {
	sets, err := cl.Tasksets(ctx)
	if err != nil {
		return err
	}
	t := newTable("ID", "NAME", "TASKS", "HELD OUT", "IMPORTED")
	for _, s := range sets {
		t.row(s.ID, s.Name, s.Tasks, s.HeldOut, s.CreatedAt.Format("2006-01-02 15:04"))
	}
	return t.print()
}

// findTaskset finds a task set by its id or its name.
func findTaskset(ctx context.Context, cl *session, nameOrID string) (relabel.Taskset, error) {
	set, err := cl.Taskset(ctx, nameOrID)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		err = relabel.Errorf(relabel.CodeNotFound, "no task set %q; `relabel tasks list` shows what there is", nameOrID)
	}
	return set, err
}

// readTaskFile reads a file of tasks of any known form.
func readTaskFile(path string) ([]relabel.Task, error) {
	body, err := readLines(path)
	if err != nil {
		return nil, err
	}
	file, err := tasks.Read(bytes.NewReader(body), tasks.FormatAuto)
	return file.Tasks, err
}

// readLines reads a file of tasks that is not blank.
func readLines(path string) ([]byte, error) {
	body, err := os.ReadFile(path)
	if err == nil && len(bytes.TrimSpace(body)) == 0 {
		err = relabel.Errorf(relabel.CodeInvalid, "%s holds no task; a task file is JSONL, a task a line", path)
	}
	return body, err
}

// fileDigest is the hex SHA-256 of a file.
func fileDigest(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
