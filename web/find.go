package web

import (
	"context"
	"net/http"
	"strings"

	"relabel"
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

// hit is a match with what stands around it.
type hit struct {
	T                    int    // 0: in none of the turns
	Place                string // where, in words
	Part                 string // of a turn's card
	Nth                  int    // of the matches in that part, from 0
	Link                 string
	Before, Match, After string
}

// showFound looks for a text, in any case, in everything that belongs to a trajectory.
func (v *viewer) showFound(w http.ResponseWriter, r *http.Request) error {
	view, err := v.findTrajectory(r)
	if err != nil {
		return err
	}
	found := foundView{trajectoryView: view, Words: r.URL.Query().Get("q")}
	if len(found.Words) > 500 {
		return relabel.Errorf(relabel.CodeInvalid, "at most 500 bytes are looked for").On("q")
	}
	if strings.TrimSpace(found.Words) != "" {
		f := newFinder(found.Words, &found)
		if err := v.findInTurns(r.Context(), view, f); err != nil {
			return err
		}
		if err := v.findInOutcome(r.Context(), view, f); err != nil {
			return err
		}
	}
	return v.render(w, r, page{Template: "find", Title: "Find in " + plain(view.InstanceID), Section: "Trajectories", Crumbs: view.crumbsBelow(), View: found})
}

// findInTurns goes through the turns.
func (v *viewer) findInTurns(ctx context.Context, view trajectoryView, f *finder) error {
	return v.walkTurns(ctx, view, func(turns []relabel.Turn) error {
		for _, turn := range turns {
			f.turn(turn, view.Base()+view.Query())
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
func (v *viewer) findInOutcome(ctx context.Context, view trajectoryView, f *finder) error {
	f.other("the task", view.Base()+view.Query(), view.Task.ProblemStatement)
	f.other("failure", view.Base()+view.Query(), view.FailureDetail)
	patch, err := v.Store.FindPatch(ctx, view.ID)
	if err != nil && relabel.CodeOf(err) != relabel.CodeNotFound {
		return err
	}
	f.other("patch", view.Base()+"/patch", string(patch))
	f.other("gold patch", view.Base()+"/patch", view.Task.Patch)
	verdict, err := v.Store.FindVerdict(ctx, view.ID)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		return nil
	}
	for _, row := range testRows(view.Task, verdict.Tests) {
		f.other("test", view.Base()+"#tests", row.Name)
	}
	f.other("test output", view.Base()+"/test-output", string(verdict.Output))
	return err
}
