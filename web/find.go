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

// Most matches that are listed, in total and per turn; all are counted.
const (
	mostListed = 300
	mostOfTurn = 20
)

type foundView struct {
	trajectoryView
	Words  string
	Hits   []hit
	Total  int
	Places int // turns and other texts with a match
}

type hit struct {
	relabel.Match
	Link string
}

// showFound searches all texts of a trajectory, ignoring case.
func (v *viewer) showFound(w http.ResponseWriter, r *http.Request, view trajectoryView) error {
	found := foundView{trajectoryView: view, Words: r.URL.Query().Get("q")}
	if len(found.Words) > relabel.MostSearchedFor {
		return relabel.Errorf(relabel.CodeInvalid, "must have at most %d bytes", relabel.MostSearchedFor).On("q")
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

// linkOf is the address of a match in the trajectory at base.
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

func (v *viewer) findInTurns(ctx context.Context, view trajectoryView, f *chat.Finder) error {
	return v.walkTurns(ctx, view, func(turns []relabel.Turn) error {
		for _, turn := range turns {
			f.Turn(turn)
		}
		return nil
	})
}

// readAtOnce is about the size of turns in bytes that are read in one query.
const readAtOnce = 8 << 20

// walkTurns passes all whole turns of the shown attempt to fn in order, a few megabytes at a
// time.
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

func (v *viewer) findInOutcome(ctx context.Context, view trajectoryView, f *chat.Finder) error {
	f.Other("the task", view.Task.ProblemStatement)
	f.Other("failure", view.FailureDetail)
	patch, err := v.patchOf(ctx, view.ID)
	if err != nil {
		return err
	}
	f.Other("patch", patch)
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
