package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"relabel"
	"relabel/chat"
	"relabel/safetext"
)

// How many matches are listed, in all and of one turn; all are counted.
const (
	mostListed = 300
	mostOfTurn = 20
)

// foundView is what was found in a trajectory.
type foundView struct {
	trajectoryView
	Words  string
	Hits   []hit
	Total  int
	Places int // turns and other texts with a match
}

// hit is a match with the address at which it is read.
type hit struct {
	relabel.Match
	Link string
}

// showFound looks for a text, in any case, in everything that belongs to a trajectory.
func (v *viewer) showFound(w http.ResponseWriter, r *http.Request, view trajectoryView) error {
	found := foundView{trajectoryView: view, Words: r.URL.Query().Get("q")}
	if len(found.Words) > relabel.MostSearchedFor {
		return relabel.Errorf(relabel.CodeInvalid, "at most %d bytes", relabel.MostSearchedFor).On("q")
	}
	if strings.TrimSpace(found.Words) != "" {
		f := chat.NewFinder(found.Words, mostListed, mostOfTurn)
		if err := v.findInTurns(r.Context(), view, f); err != nil {
			return err
		}
		if err := v.findInOutcome(r.Context(), view, f); err != nil {
			return err
		}
		found.Total, found.Places = f.Matches, f.Places
		for _, m := range f.Kept {
			found.Hits = append(found.Hits, hit{m, linkOf(m, view.Base(), view.Query())})
		}
	}
	return v.render(w, r, page{Template: "find", Title: "Find in " + safetext.Plain(view.InstanceID), Section: "Trajectories", Crumbs: view.crumbsBelow(), View: found})
}

// linkOf is where a match is read, in the trajectory at base.
func linkOf(m relabel.Match, base, query string) string {
	switch {
	case m.T > 0:
		return fmt.Sprintf("%s%s#t%d", base, query, m.T)
	case m.Place == "patch", m.Place == "gold patch":
		return base + "/patch"
	case m.Place == "test":
		return base + "#tests"
	case m.Place == "test output":
		return base + "/test-output"
	}
	return base + query
}

// findInTurns goes through the turns.
func (v *viewer) findInTurns(ctx context.Context, view trajectoryView, f *chat.Finder) error {
	return v.walkTurns(ctx, view, func(turns []relabel.Turn) error {
		for _, turn := range turns {
			f.Turn(turn)
		}
		return nil
	})
}

// readAtOnce is about how many bytes of turns are read in one go.
const readAtOnce = 8 << 20

// walkTurns hands all turns of the attempt that is shown to fn, some at a time, in order
// and whole. It holds a few megabytes of them at a time, or one turn that has more.
func (v *viewer) walkTurns(ctx context.Context, view trajectoryView, fn func([]relabel.Turn) error) error {
	heads, err := v.Store.ListHeads(ctx, view.ID, view.Shown)
	if err != nil {
		return err
	}
	for from := 0; from < len(heads); {
		to, bytes := from, int64(0)
		for to < len(heads) && to-from < 50 && (to == from || bytes < readAtOnce) {
			bytes += int64(heads[to].ActionBytes+heads[to].LabelBytes) + heads[to].OutputBytes
			to++
		}
		turns, err := v.Store.ListAttemptTurns(ctx, view.ID, view.Shown, from+1, to+1)
		if err != nil {
			return err
		}
		if err := fn(turns); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// findInOutcome looks at what is no turn: the task, the patch, the tests.
func (v *viewer) findInOutcome(ctx context.Context, view trajectoryView, f *chat.Finder) error {
	f.Other("the task", view.Task.ProblemStatement)
	f.Other("failure", view.FailureDetail)
	patch, err := v.Store.FindPatch(ctx, view.ID)
	if err != nil && relabel.CodeOf(err) != relabel.CodeNotFound {
		return err
	}
	f.Other("patch", string(patch))
	f.Other("gold patch", view.Task.Patch)
	verdict, err := v.Store.FindVerdict(ctx, view.ID)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		return nil
	}
	for _, row := range testRows(view.Task, verdict.Tests) {
		f.Other("test", row.Name)
	}
	f.Other("test output", string(verdict.Output))
	return err
}
