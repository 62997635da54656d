package store_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

// sqlWords are what no message may hold that people read.
var sqlWords = regexp.MustCompile(`(?i)sqlstate|constraint|duplicate key|violates|relation |column`)

// wantTaken fails the test unless err is a conflict that names the name, says what to do
// and, cause and all, speaks no SQL.
func wantTaken(t *testing.T, err error, name, todo string) {
	t.Helper()
	wantCode(t, err, relabel.CodeConflict)
	var e *relabel.Error
	if !errors.As(err, &e) || e.Field != "name" || !strings.Contains(e.Message, `"`+name+`"`) || !strings.Contains(e.Message, todo) {
		t.Errorf("it does not name %q, or does not say %q: %v", name, todo, err)
	}
	if sqlWords.MatchString(err.Error()) {
		t.Errorf("SQL is shown: %v", err)
	}
}

func TestANameThatIsTakenIsNamed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	again := d.Run
	again.ID = relabel.NewID()
	wantTaken(t, s.CreateRun(ctx, again), d.Run.Name, "choose another name")
	wantTaken(t, s.CreateTaskset(ctx, relabel.Taskset{Name: d.Taskset.Name}, relabel.TaskList(nil)), d.Taskset.Name, "another name")
	_, err := s.CreateToken(ctx, "ci", relabel.FullAccess)
	must(t, err)
	_, err = s.CreateToken(ctx, "ci", relabel.FullAccess)
	wantTaken(t, err, "ci", "revoke that one first")

	deleteRun(t, s, d.Run.ID)
	must(t, s.CreateRun(ctx, again)) // the name is free again
}

func TestRunsMadeAtOnceUnderOneNameAreOneRun(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	var made atomic.Int32
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			run := d.Run
			run.ID, run.Name = relabel.NewID(), "the same"
			switch err := s.CreateRun(context.Background(), run); relabel.CodeOf(err) {
			case "":
				made.Add(1)
			case relabel.CodeConflict:
			default:
				t.Error(err)
			}
		})
	}
	work.Wait()
	if n := value[int](t, s, "SELECT count(*) FROM runs WHERE name = 'the same'"); n != 1 || made.Load() != 1 {
		t.Errorf("%d runs, %d of them said so", n, made.Load())
	}
}

func TestAMessageSpeaksNoSQL(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	run := func(change func(*relabel.Run)) func() error {
		return func() error {
			r := d.Run
			r.ID, r.Name = relabel.NewID(), "another"
			change(&r)
			return s.CreateRun(ctx, r)
		}
	}
	token := func(name string) func() error {
		return func() error {
			_, err := s.CreateToken(ctx, name, relabel.FullAccess)
			return err
		}
	}
	incompressible := strings.Builder{} // an index holds less than 3 kB of it
	for range 1000 {
		incompressible.WriteString(relabel.NewID().String())
	}
	for name, c := range map[string]struct {
		write func() error
		code  relabel.Code
	}{
		"a run without a name":         {run(func(r *relabel.Run) { r.Name = "" }), relabel.CodeInvalid},
		"a run with a NUL":             {run(func(r *relabel.Run) { r.Name = "a\x00" }), relabel.CodeInvalid},
		"a run with an endless name":   {run(func(r *relabel.Run) { r.Name = incompressible.String() }), relabel.CodeInvalid},
		"a run of no turns":            {run(func(r *relabel.Run) { r.Limits.MaxTurns = 0 }), relabel.CodeInvalid},
		"a run without a taskset":      {run(func(r *relabel.Run) { r.TasksetID = relabel.NewID() }), relabel.CodeInvalid},
		"a run twice":                  {run(func(r *relabel.Run) { r.ID = d.Run.ID }), relabel.CodeConflict},
		"a taskset without a name":     {func() error { return s.CreateTaskset(ctx, relabel.Taskset{}, relabel.TaskList(nil)) }, relabel.CodeInvalid},
		"a token without a name":       {token(""), relabel.CodeInvalid},
		"a token with a NUL":           {token("a\x00"), relabel.CodeInvalid},
		"a token of no text":           {token("\xff"), relabel.CodeInvalid},
		"a token with an endless name": {token(incompressible.String()), relabel.CodeInvalid},
		"an export of nothing": {func() error {
			return s.CreateExport(ctx, relabel.Export{Selection: relabel.ExportSelection{RunID: relabel.NewID()}})
		}, relabel.CodeInvalid},
		"an export of iteration -1": {func() error {
			return s.CreateExport(ctx, relabel.Export{Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: -1}})
		}, relabel.CodeInvalid},
		"a policy that is too hot": {func() error {
			_, err := s.CreatePolicy(ctx, relabel.Policy{Name: "p", Sampling: relabel.Sampling{Temperature: 1e6}})
			return err
		}, relabel.CodeInvalid},
		"an iteration without a student": {func() error {
			p := relabel.PlannedIteration{Iteration: d.Iteration, Trajectories: d.Trajectories}
			p.Iteration.ID, p.Iteration.Number, p.Iteration.StudentID = relabel.NewID(), 2, relabel.NewID()
			return s.CreateIteration(ctx, p)
		}, relabel.CodeInvalid},
	} {
		err := c.write()
		var e *relabel.Error
		if !errors.As(err, &e) || e.Code != c.code {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if sqlWords.MatchString(e.Message) {
			t.Errorf("%s: the message speaks SQL: %s", name, e.Message)
		}
	}
}
