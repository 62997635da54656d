package taskbuild

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"relabel"
)

// trial is a candidate on its way to a task.
type trial struct {
	*Builder
	candidate    Candidate
	recipe       Recipe
	key          string // see Entry.Key
	dependencies string // commit whose tree the dependencies are installed in; "": none are
	from         string // the image that its image is made from
	line         Line
}

// newTrial prepares a candidate without running anything of it.
func (b *Builder) newTrial(ctx context.Context, c Candidate) (*trial, error) {
	t := &trial{Builder: b, candidate: c, recipe: b.options.Recipe}
	if c.Recipe != nil {
		t.recipe = *c.Recipe
	}
	var err error
	if t.dependencies, err = dependencyCommit(ctx, c, t.recipe); err != nil {
		return nil, err
	}
	if t.key, err = t.digest(); err != nil {
		return nil, err
	}
	t.line = Line{
		InstanceID: c.ID, Repo: c.Repo, BaseCommit: c.Base, Image: c.Image, Workdir: t.recipe.Workdir, ProblemStatement: c.ProblemStatement, HintsText: c.HintsText,
		Patch: c.Patch, TestPatch: c.TestPatch, TestCmd: t.recipe.command(c.TestFiles), LogParser: t.recipe.LogParser,
	}
	if !c.At.IsZero() {
		t.line.CreatedAt = c.At.UTC().Format(time.RFC3339)
	}
	if t.line.Image == "" {
		t.line.Image = imageName(c, b.folder.id, t.key)
	}
	return t, nil
}

// digest is the key of the candidate.
func (t *trial) digest() (string, error) {
	c, from := t.candidate, t.images.identity(t.recipe)
	c.Recipe, c.Repository = nil, "" // where it is does not matter
	parts, err := json.Marshal([]any{c, t.recipe, from, t.dependencies, t.options.Before, t.options.After, t.options.WriterName})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(parts)
	return hex.EncodeToString(sum[:16]), nil
}

// run makes the image and runs the tests. An error ends the whole build; a problem of the candidate is
// in the entry.
func (t *trial) run(ctx context.Context) (Entry, error) {
	e := Entry{Key: t.key, ID: t.candidate.ID, Change: t.candidate.Change, Title: t.candidate.Title}
	refusal, err := t.images.make(ctx, t)
	if err != nil {
		return e, err
	}
	if refusal == nil {
		if refusal, err = t.test(ctx, &e); err != nil {
			return e, err
		}
	}
	if refusal == nil {
		if refusal, err = t.fixInImage(ctx); err != nil {
			return e, err
		}
	}
	if refusal != nil {
		e.Reason, e.Detail = refusal.Reason, refusal.Detail
		return e, nil
	}
	e.Task, e.From = &t.line, t.from
	sizes, err := t.engine.ImagesWith(ctx, LabelBuild, t.folder.id)
	e.Bytes = sizes[t.line.Image]
	return e, err
}

// test runs the tests and stores in the task those that separate before from after. It returns why there
// are none.
func (t *trial) test(ctx context.Context, e *Entry) (*Refusal, error) {
	var before, after []TestRun
	for round := range max(t.options.Before, t.options.After) {
		for _, with := range []bool{true, false} { // with the change first: it shows whether the recipe works
			runs, wanted := &before, t.options.Before
			if with {
				runs, wanted = &after, t.options.After
			}
			if round >= wanted {
				continue
			}
			run, refusal, err := t.once(ctx, with, round+1)
			if err != nil || refusal != nil {
				return refusal, err
			}
			*runs = append(*runs, run)
		}
		if s := separate(before, after); len(s.FailToPass) == 0 {
			return nothingFails(s, round, before[0], after[0]), nil
		}
	}
	s := separate(before, after)
	t.line.FailToPass, t.line.PassToPass, e.Flaky = s.FailToPass, s.PassToPass, s.Flaky
	return t.state(ctx, before[0], after[0])
}

// state has the writer of the build, if it has one, write the problem statement.
func (t *trial) state(ctx context.Context, before, after TestRun) (*Refusal, error) {
	if t.options.Writer == nil {
		return nil, nil
	}
	text, refusal, err := t.options.Writer.Write(ctx, StatementRequest{
		Repo: t.line.Repo, Patch: t.line.Patch, TestPatch: t.line.TestPatch, Failing: t.line.FailToPass, Output: FailureOutput(before.Log, after.Log),
	})
	if err == nil && refusal == nil {
		t.line.ProblemStatement = text
	}
	return refusal, err
}

// once runs the tests once. It returns a refusal if the run shows that the candidate is no task.
func (t *trial) once(ctx context.Context, with bool, round int) (TestRun, *Refusal, error) {
	name, patch := "before", ""
	if with {
		name, patch = "after", t.line.Patch
	}
	run, err := t.tester.Test(ctx, t.line.task(), patch, time.Duration(t.recipe.TestSeconds)*time.Second)
	if err != nil {
		return run, nil, err
	}
	log, err := t.logFile(t.candidate.ID, fmt.Sprintf("%s-%d", name, round))
	if err == nil {
		_, err = log.Write(run.Log)
		err = errors.Join(err, log.Close())
	}
	if err != nil {
		return run, nil, err
	}
	return run, t.refuse(run, name), nil
}

// refuse returns why a run shows that the candidate is no task, or nil.
func (t *trial) refuse(run TestRun, when string) *Refusal {
	switch {
	case run.DoesNotApply:
		return &Refusal{Reason: ReasonDoesNotApply, Detail: lastLines(run.Log, 3)}
	case run.TimedOut:
		return &Refusal{Reason: ReasonNeverEnds, Detail: fmt.Sprintf("%s the change, after %d s", when, t.recipe.TestSeconds)}
	case run.Problem != "":
		return &Refusal{Reason: ReasonInfrastructure, Detail: run.Problem}
	case when == "after" && len(run.Tests) == 0:
		return &Refusal{Reason: ReasonNoOutcome, Detail: lastLines(run.Log, 3)}
	}
	return nil
}

// nothingFails is the refusal of a candidate whose tests do not tell before from after.
func nothingFails(s separated, round int, before, after TestRun) *Refusal {
	if round > 0 {
		return &Refusal{Reason: ReasonOnlyFlaky, Detail: fmt.Sprintf("%d tests, such as %s", len(s.Flaky), s.Flaky[0])}
	}
	return &Refusal{Reason: ReasonNothingFails, Detail: fmt.Sprintf("%d of %d tests pass before, %d of %d after",
		passing(before), len(before.Tests), passing(after), len(after.Tests))}
}

// passing counts the tests of a run that passed.
func passing(run TestRun) int {
	n := 0
	for _, status := range run.Tests {
		if status == relabel.TestPassed {
			n++
		}
	}
	return n
}
