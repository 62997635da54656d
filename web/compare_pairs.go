package web

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"relabel"
	"relabel/safetext"
	"relabel/web/show"
)

// pairView is the texts of a row.
type pairView struct {
	TA, TB int // 0: that side has no turn
	A, B   *turnView
	Coarse bool
}

type testPair struct {
	Name string
	A, B testWord
}

// readPairs reads the texts of pairs such as "3-3" and "4-0".
func (v *viewer) readPairs(ctx context.Context, view *compareView, keys []string) error {
	if len(keys) > pairsAtOnce {
		return relabel.Errorf(relabel.CodeInvalid, "at most %d pairs are shown at once", pairsAtOnce).On("pairs")
	}
	for _, key := range keys {
		first, second, _ := strings.Cut(key, "-")
		ta, errA := strconv.Atoi(first)
		tb, errB := strconv.Atoi(second)
		if errA != nil || errB != nil || ta < 0 || tb < 0 || ta > len(view.A.Heads) || tb > len(view.B.Heads) || ta+tb == 0 {
			return relabel.Errorf(relabel.CodeInvalid, "%.50q is not a pair of turns", safetext.Plain(key)).On("pairs")
		}
		pair, err := v.readPair(ctx, *view, ta, tb)
		if err != nil {
			return err
		}
		view.Pairs = append(view.Pairs, pair)
	}
	return nil
}

func (v *viewer) readPair(ctx context.Context, view compareView, ta, tb int) (pair pairView, err error) {
	pair = pairView{TA: ta, TB: tb}
	a, err := v.excerptOf(ctx, view.A, ta)
	if err != nil {
		return pair, err
	}
	b, err := v.excerptOf(ctx, view.B, tb)
	if err != nil {
		return pair, err
	}
	var d show.Difference
	both := a != nil && b != nil && a.ActionBytes+b.ActionBytes == 0
	if both {
		d = show.Compare(a.Action.Message, b.Action.Message)
		pair.Coarse = d.Coarse
	}
	if a != nil {
		pair.A = view.A.executed(*a, both, d.A, d.WordsA)
	}
	if b != nil {
		pair.B = view.B.executed(*b, both, d.B, d.WordsB)
	}
	return pair, nil
}

// excerptOf reads a turn of a side; nil for turn 0.
func (v *viewer) excerptOf(ctx context.Context, s compareSide, t int) (*relabel.TurnExcerpt, error) {
	if t == 0 {
		return nil, nil
	}
	excerpts, err := v.Store.ListExcerpts(ctx, s.ID, s.Shown, t, t+1, show.HeadShown, show.TailShown)
	if err != nil || len(excerpts) == 0 {
		return nil, err
	}
	return &excerpts[0], nil
}

// executed renders the action of one side, with marks if it was compared.
func (s compareSide) executed(e relabel.TurnExcerpt, compared bool, calls []show.Call, words []show.Span) *turnView {
	if !compared {
		calls = show.LayOut(e.Action.Message.ToolCalls)
	}
	return new(executed(e, s.Heads[e.T-1], s.Base(), calls, words, show.Card(fmt.Sprintf("%s/turns/%d", s.Base(), e.T))))
}

// compareEnds renders patches and verdicts of both, with marks on what the other lacks.
func (v *viewer) compareEnds(ctx context.Context, view *compareView) error {
	var patches [2][]show.Line
	sides := []*compareSide{&view.A, &view.B}
	for i, side := range sides {
		patch, err := v.patchOf(ctx, side.ID)
		if err != nil {
			return err
		}
		side.Outcome.Bytes, patches[i] = len(patch), show.PatchLines(patch)
		side.Outcome.Verdict, err = v.Store.FindVerdict(ctx, side.ID)
		if err != nil && relabel.CodeOf(err) != relabel.CodeNotFound {
			return err
		}
		side.Outcome.HasVerdict = err == nil && side.Outcome.Verdict.Infra == ""
		if side.localises() {
			side.Outcome.Ranking = rankingOf(side.trajectoryView, side.Outcome.Verdict)
		}
		side.Outcome.Tests = testRows(side.Task, side.Outcome.Verdict.Tests)
		side.Outcome.Count = countTests(side.Outcome.Tests)
	}
	same := false
	if len(patches[0]) > 0 && len(patches[1]) > 0 {
		show.ComparePatches(patches[0], patches[1])
		same = !show.AnyOwn(patches[0]) && !show.AnyOwn(patches[1])
	}
	for i, side := range sides {
		side.Outcome.Same = same
		side.Outcome.Patch = side.cardLimits().Diff(patches[i])
	}
	if view.A.Outcome.HasVerdict && view.B.Outcome.HasVerdict {
		view.Tests = differingTests(view.A.Outcome.Tests, view.B.Outcome.Tests)
	}
	return nil
}

// differingTests are the tests with different results, by name.
func differingTests(a, b []testRow) (tests []testPair) {
	results := map[string][2]testWord{}
	for _, r := range a {
		results[r.Name] = [2]testWord{r.testWord, wordOf("")}
	}
	for _, r := range b {
		first, known := results[r.Name]
		if !known {
			first[0] = wordOf("")
		}
		results[r.Name] = [2]testWord{first[0], r.testWord}
	}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		if pair := results[name]; pair[0].Class != pair[1].Class {
			tests = append(tests, testPair{name, pair[0], pair[1]})
		}
	}
	return tests
}
