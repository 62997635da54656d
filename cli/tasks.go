package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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

// TasksImport is `relabel tasks import FILE`.
type TasksImport struct {
	ClientFlags
	File         string `arg:"" type:"existingpath" help:"JSONL file, one task per line, or a folder, tar file or zip file with task folders of Harbor; imported completely or not at all."`
	Name         string `placeholder:"NAME" help:"Name of the task set. Default: the file's name."`
	Format       string `default:"auto" enum:"auto,relabel,swebench,swebenchlive,swegym,swerebench,swerebenchv2" help:"Format of the lines: auto, relabel, swebench, swebenchlive, swegym, swerebench or swerebenchv2."`
	HeldOut      string `xor:"held-out" type:"existingfile" placeholder:"FILE" help:"File with one instance id per line: tasks that are never rolled out for training."`
	HeldOutCount *int   `xor:"held-out" placeholder:"N" help:"Hold out N tasks instead, drawn with --held-out-seed."`
	HeldOutSeed  *int64 `placeholder:"N" help:"Seed of that draw. Default: 0."`
}

// Validate refuses an empty draw, and a seed without a draw.
func (c *TasksImport) Validate() error {
	if c.HeldOutCount != nil && *c.HeldOutCount < 1 {
		return relabel.Errorf(relabel.CodeInvalid, "is %d: must be at least 1", *c.HeldOutCount).On("--held-out-count")
	}
	if c.HeldOutSeed != nil && c.HeldOutCount == nil {
		return relabel.Errorf(relabel.CodeInvalid, "needs --held-out-count").On("--held-out-seed")
	}
	return nil
}

// Run imports the file.
func (c *TasksImport) Run(ctx context.Context) error {
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
		if len(names) == 0 { // every task would be trained on silently
			return relabel.Errorf(relabel.CodeInvalid, "%s names no instance", c.HeldOut).On("--held-out")
		}
		query.Set("held_out", strings.Join(names, ","))
	}
	if c.HeldOutCount != nil {
		query.Set("held_out_count", fmt.Sprint(*c.HeldOutCount))
		query.Set("held_out_seed", fmt.Sprint(deref(c.HeldOutSeed)))
	}
	body, err := readLines(c.File)
	if err != nil {
		return err
	}
	return c.With(ctx, func(cl *Session) error {
		set, err := cl.ImportTaskset(ctx, query, body)
		if err != nil {
			return err
		}
		say("%s  %s: %d tasks, %d of them held out", set.ID, set.Name, set.Tasks, set.HeldOut)
		for _, field := range slices.Sorted(maps.Keys(set.UnusedFields)) {
			say("not used: %s (%d lines)", field, set.UnusedFields[field])
		}
		return nil
	})
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
			heads := []string{"INSTANCE", "REPOSITORY", "GOLD FILES", "GOLD FUNCTIONS", "HELD OUT", "EXCLUDED"}
			return printTable(tasks, heads, func(t relabel.Task) []any {
				return []any{t.InstanceID, t.Repo, len(t.GoldFiles), len(t.GoldFunctions), t.HeldOut, t.Excluded}
			})
		}
		if set.Kind == relabel.Terminal {
			heads := []string{"INSTANCE", "IMAGE", "TEST SECONDS", "SOLUTION", "HELD OUT", "EXCLUDED"}
			return printTable(tasks, heads, func(t relabel.Task) []any {
				return []any{t.InstanceID, t.Image, t.Terminal.TestSeconds, t.Terminal.Solution.Bytes > 0, t.HeldOut, t.Excluded}
			})
		}
		heads := []string{"INSTANCE", "IMAGE", "FAIL_TO_PASS", "PASS_TO_PASS", "HELD OUT", "EXCLUDED"}
		return printTable(tasks, heads, func(t relabel.Task) []any {
			return []any{t.InstanceID, t.Image, len(t.FailToPass), len(t.PassToPass), t.HeldOut, t.Excluded}
		})
	})
}

// findTaskset finds a task set by its id or its name.
func findTaskset(ctx context.Context, cl *Session, nameOrID string) (relabel.Taskset, error) {
	set, err := cl.Taskset(ctx, nameOrID)
	return named(set, err, "task set", nameOrID, "tasks list")
}

// ReadTaskFile reads a file of tasks in any known format.
func ReadTaskFile(path string) ([]relabel.Task, error) {
	body, err := readLines(path)
	if err != nil {
		return nil, err
	}
	file, err := tasks.Read(bytes.NewReader(body), tasks.FormatAuto)
	return file.Tasks, err
}

// readLines reads a file of tasks, or task folders of Harbor as such a file, and refuses a blank one.
func readLines(path string) ([]byte, error) {
	set, closeSet, err := openHarbor(path)
	if err != nil {
		return nil, err
	}
	if set != nil {
		lines, err := harborLines(set, false)
		return lines, errors.Join(err, closeSet())
	}
	body, err := os.ReadFile(path)
	if err == nil && len(bytes.TrimSpace(body)) == 0 {
		err = relabel.Errorf(relabel.CodeInvalid, "%s contains no task; a task file is JSONL, one task per line", path)
	}
	return body, err
}

// digestOf is the hex SHA-256 of a file's content.
func digestOf(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}
