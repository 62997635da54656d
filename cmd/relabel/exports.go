package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"relabel"
)

// pollPeriod is between two looks at an export.
const pollPeriod = 500 * time.Millisecond

// exportCommand is `relabel export`.
type exportCommand struct {
	Start exportStart `cmd:"" help:"Build a data set from a run's labelled states and wait for it."`
	List  exportList  `cmd:"" help:"List data sets."`
	Show  exportShow  `cmd:"" help:"Show a data set: its files, and what was left out and why."`
}

// exportStart is `relabel export start RUN`.
type exportStart struct {
	clientFlags
	RunName     string `arg:"" name:"run" help:"Name or id of the run."`
	Iteration   int    `placeholder:"I" help:"Iteration. Default: the latest that is done."`
	Aggregated  bool   `help:"Iterations 1 to I together (D1 ∪ … ∪ Di), instead of I alone."`
	Submitted   bool   `default:"true" negatable:"" help:"Only valid submissions, as the paper's recipes do."`
	Resolved    bool   `help:"Only resolved trajectories (rejection sampling)."`
	LabelPolicy string `placeholder:"POLICY" help:"Another teacher's labels, that run relabel asked for, instead of the run's teacher's."`
	View        string `default:"messages" enum:"messages" help:"${enum}."`
}

// Run starts the export and waits for its end.
func (c *exportStart) Run(ctx context.Context) error {
	return c.with(ctx, func(cl *client) error {
		run, err := findRun(ctx, cl, c.RunName)
		if err != nil {
			return err
		}
		body := map[string]any{"run": run.ID, "iteration": c.Iteration, "aggregated": c.Aggregated, "submitted": c.Submitted, "resolved": c.Resolved, "view": c.View}
		if c.LabelPolicy != "" {
			body["label_policy"] = c.LabelPolicy
		}
		var e relabel.Export
		if err := cl.post(ctx, "/v1/exports", body, &e); err != nil {
			return err
		}
		id := e.ID
		if e, err = c.build(ctx, cl, id); ctx.Err() != nil {
			return interruptedf("the export goes on %s: `relabel export show %s` says how far it is", cl.elsewhere(), id)
		}
		if err != nil {
			return err
		}
		return printExport(e)
	})
}

// build waits for an export's end. Where no server runs that would build it, this
// process does.
func (c *exportStart) build(ctx context.Context, cl *client, id relabel.ID) (e relabel.Export, err error) {
	if cl.here != nil {
		stop, err := startExports(ctx, cl.here, c.exportsFolder())
		if err != nil {
			return e, err
		}
		defer func() { err = errors.Join(err, stop()) }()
	} else {
		sayIfNobodyWorks(ctx, cl)
	}
	return watchExport(ctx, cl, id)
}

// watchExport waits for an export's end.
func watchExport(ctx context.Context, cl *client, id relabel.ID) (relabel.Export, error) {
	for {
		var e relabel.Export
		if err := cl.get(ctx, "/v1/exports/"+id.String(), &e); err != nil {
			return e, err
		}
		switch e.State {
		case relabel.ExportDone:
			return e, nil
		case relabel.ExportFailed:
			return e, relabel.Errorf(relabel.CodeInternal, "the export failed: %s", e.Failure)
		}
		select {
		case <-ctx.Done():
			return e, ctx.Err()
		case <-time.After(pollPeriod):
		}
	}
}

// printExport prints where a data set is and what it holds, or why there is none.
func printExport(e relabel.Export) error {
	switch e.State {
	case relabel.ExportDone:
		fmt.Printf("%s  %s: %d rows in %s\n", e.ID, e.State, e.Rows, e.Directory)
	case relabel.ExportFailed:
		fmt.Printf("%s  %s: %s\n", e.ID, e.State, e.Failure)
	default:
		fmt.Printf("%s  %s\n", e.ID, e.State)
	}
	for _, reason := range slices.Sorted(maps.Keys(e.LeftOut)) {
		fmt.Printf("  left out: %d × %s\n", e.LeftOut[reason], reason)
	}
	if len(e.Files) == 0 {
		return nil
	}
	t := newTable("FILE", "ROWS", "BYTES", "SHA-256")
	for _, f := range e.Files {
		t.row(f.Path, f.Rows, f.Bytes, f.SHA256)
	}
	return t.print()
}

// exportList is `relabel export list`.
type exportList struct{ clientFlags }

// Run prints the exports.
func (c *exportList) Run(ctx context.Context) error {
	return c.with(ctx, func(cl *client) error {
		exports, err := list[relabel.Export](ctx, cl, "/v1/exports")
		if err != nil {
			return err
		}
		runs, err := list[relabel.Run](ctx, cl, "/v1/runs")
		if err != nil {
			return err
		}
		t := newTable("ID", "RUN", "ITERATIONS", "VIEW", "ROWS", "STATE", "FOLDER", "FAILURE")
		for _, e := range exports {
			name := e.Selection.RunID.String()
			if run := find(runs, func(r relabel.Run) bool { return r.ID == e.Selection.RunID }); run != nil {
				name = run.Name
			}
			t.row(e.ID, name, iterationsIn(e.Selection), e.View, e.Rows, e.State, e.Directory, oneLine(e.Failure))
		}
		return t.print()
	})
}

// iterationsIn says which iterations a data set was asked of.
func iterationsIn(s relabel.ExportSelection) string {
	last := "latest"
	if s.Iteration > 0 {
		last = fmt.Sprint(s.Iteration)
	}
	if s.Aggregated && s.Iteration != 1 {
		return "1 to " + last
	}
	return last
}

// exportShow is `relabel export show ID`.
type exportShow struct {
	clientFlags
	ID string `arg:"" help:"Id of the export."`
}

// Run prints one export.
func (c *exportShow) Run(ctx context.Context) error {
	return c.with(ctx, func(cl *client) error {
		id, err := relabel.ParseID("export", c.ID)
		if err != nil {
			return err
		}
		var e relabel.Export
		if err := cl.get(ctx, "/v1/exports/"+id.String(), &e); err != nil {
			return err
		}
		return printExport(e)
	})
}
