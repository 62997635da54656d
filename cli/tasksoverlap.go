package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"relabel"
	"relabel/api"
)

// TasksOverlap is `relabel tasks overlap TASKSET`.
type TasksOverlap struct {
	ClientFlags
	Taskset   string   `arg:"" help:"Name or id of a task set."`
	With      []string `name:"with" query:"other" placeholder:"NAME|FILE" sep:"none" help:"Compare with this benchmark, exclusion list or task set (benchmark:NAME, exclusions:NAME or taskset:NAME if several have the name), or with the instance ids and repositories in a file, one per line; may be repeated. Default: all benchmarks and exclusion lists, and the task set itself, for near duplicates."`
	Threshold float64  `default:"0.5" help:"Smallest share of the smaller patch's grams of 13 tokens that counts, from 0.01 to 1."`
	Format    string   `default:"text" enum:"text,json" help:"text or json."`
}

// Validate refuses a threshold out of its bounds.
func (c *TasksOverlap) Validate() error {
	if c.Threshold < 0.01 || c.Threshold > 1 {
		return relabel.Errorf(relabel.CodeInvalid, "is %g: must be from 0.01 to 1", c.Threshold).On("--threshold")
	}
	return nil
}

// query reads the files among the names to compare with.
func (c *TasksOverlap) query() (query api.OverlapsQuery, err error) {
	query.Threshold = c.Threshold
	for _, with := range c.With {
		if info, err := os.Stat(with); err != nil || info.IsDir() {
			query.With = append(query.With, with)
			continue
		}
		entries, err := readEntries(with)
		if err != nil {
			return query, err
		}
		query.Entries = append(query.Entries, entries...)
	}
	if len(query.Entries) > 5000 {
		return query, relabel.Errorf(relabel.CodeInvalid, "the files have %d entries: add a list of more than 5000 with `relabel exclusions add NAME FILE`, and compare with its name", len(query.Entries)).On("--with")
	}
	return query, nil
}

// Run prints the overlaps.
func (c *TasksOverlap) Run(ctx context.Context) error {
	query, err := c.query()
	if err != nil {
		return err
	}
	return c.report(ctx, query)
}

// report asks for the report and prints it.
func (c *TasksOverlap) report(ctx context.Context, query api.OverlapsQuery) error {
	return c.ClientFlags.With(ctx, func(cl *Session) error {
		set, err := findTaskset(ctx, cl, c.Taskset)
		if err != nil {
			return err
		}
		report, err := cl.Overlaps(ctx, set.ID, query)
		if err != nil {
			return err
		}
		if c.Format == "json" {
			return json.NewEncoder(os.Stdout).Encode(report)
		}
		return printOverlaps(report)
	})
}

func printOverlaps(report relabel.OverlapReport) error {
	say("%s, compared with %s: %s", counted(report.Tasks, "task"), cmp.Or(strings.Join(report.With, ", "), "nothing"), affectedText(report))
	if left := report.Total - len(report.Overlaps); left > 0 {
		say("%d more overlaps are not listed", left)
	}
	if report.Total == 0 {
		return nil
	}
	return printTable(report.Overlaps, []string{"TASK", "KIND", "WITH", "OTHER", "SHARE", "GRAMS"}, func(o relabel.Overlap) []any {
		if o.Common == 0 {
			return []any{o.InstanceID, o.Kind, o.With, o.Other, "", ""}
		}
		return []any{o.InstanceID, o.Kind, o.With, o.Other, fmt.Sprintf("%.0f%%", 100*o.Share), o.Common}
	})
}

// affectedText says how many tasks have overlaps of each kind.
func affectedText(report relabel.OverlapReport) string {
	var parts []string
	for _, kind := range []relabel.OverlapKind{relabel.SameInstance, relabel.SameCommit, relabel.SameRepository, relabel.SimilarPatch} {
		if n := report.Affected[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d by %s", n, kind))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no overlap")
}
