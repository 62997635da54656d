package shard

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"testing"

	"relabel"
)

func TestARowOfAnExportIsReadWithItsTokensDecoded(t *testing.T) {
	folder, _ := testStudent(t)
	s := newFixedStore(mix{Rand: rand.New(rand.NewSource(1)), turns: 9, long: 9}.trajectory(1, 0))
	s.export.Form = relabel.ExportForm{Views: relabel.Views, Tokenizer: folder, Capacity: 4000, MaxLength: 4000, Normalisation: relabel.PerToken}
	x := newTestExporter(t, s)
	e := export(t, s, x)
	for _, view := range relabel.Views {
		shown, err := x.Row(t.Context(), e, view, 0)
		if err != nil || shown.Of == 0 || shown.Row.ID == "" || shown.File == "" || len(shown.Texts) != len(shown.Row.IDs) || view != relabel.ViewMessages && shown.Texts[len(shown.Texts)-1] != "<|im_end|>" {
			t.Errorf("%s: %d texts of %+v, %v", view, len(shown.Texts), shown.Row.ID, err)
		}
		if _, err := x.Row(t.Context(), e, view, shown.Of); relabel.CodeOf(err) != relabel.CodeNotFound {
			t.Errorf("%s: a row after the last: %v", view, err)
		}
	}
	if _, err := x.Row(t.Context(), e, "other", 0); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("a view that is not there: %v", err)
	}
}

func TestTheRowsOfATrajectoryAreFoundInTheFilesOfItsPart(t *testing.T) {
	folder, _ := testStudent(t)
	random := mix{Rand: rand.New(rand.NewSource(2)), turns: 9, long: 9}
	s := newFixedStore(random.trajectory(1, 0), random.trajectory(1, 2), random.trajectory(1, 4))
	s.export.Form = relabel.ExportForm{Views: relabel.Views, Tokenizer: folder, Capacity: 40000, MaxLength: 40000, Normalisation: relabel.PerToken}
	x := newTestExporter(t, s)
	x.partBytes = 1 // a trajectory a part
	e := export(t, s, x)
	if e.Parts < 2 {
		t.Fatalf("%d parts", e.Parts)
	}
	for number := range e.Parts {
		part, err := s.FindExportPart(t.Context(), e.ID, number)
		must(t, err)
		whose := part.Trajectories[0].ID
		mine := func(path string) bool {
			return slices.ContainsFunc(part.Files, func(f relabel.ExportFile) bool { return f.Path == path })
		}
		for _, view := range relabel.Views {
			held, err := x.Holds(t.Context(), e, view, whose, mine)
			must(t, err)
			everywhere, err := x.Holds(t.Context(), e, view, whose, func(string) bool { return true })
			must(t, err)
			if !reflect.DeepEqual(held, everywhere) || len(held) == 0 {
				t.Errorf("part %d, %s: %d labels in its files, %d in all", number, view, len(held), len(everywhere))
			}
			for _, h := range held {
				shown, err := x.Row(t.Context(), e, view, h.Row)
				must(t, err)
				if view == relabel.ViewMessages && shown.Row.ID != fmt.Sprintf("%s/%d", whose, h.Span.Turn) || view != relabel.ViewMessages && !slices.ContainsFunc(shown.Row.Spans, func(s relabel.ExportSpan) bool { return reflect.DeepEqual(s, h.Span) }) {
					t.Errorf("part %d, %s: row %d (%s) does not hold turn %d", number, view, h.Row, shown.Row.ID, h.Span.Turn)
				}
			}
			if none, err := x.Holds(t.Context(), e, view, relabel.NewID(), mine); err != nil || len(none) > 0 {
				t.Errorf("%s: of another trajectory: %d labels, %v", view, len(none), err)
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
