package shard

import (
	"math/rand"
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
