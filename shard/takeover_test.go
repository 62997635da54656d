package shard

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/render"
	"relabel/shard/shardtest"
)

// A machine with other files of the student must not go on where another one crashed: the
// views would be of two tokenizers.
func TestATakeoverWithAnotherTokenizerRestarts(t *testing.T) {
	folder := shardtest.Student(t)
	tr := someTrajectory(1, 1, 6)
	tr.Task.ProblemStatement = "It fails."
	s := newFixedStore(tr)
	s.export.Form = relabel.ExportForm{Views: relabel.Views, Tokenizer: folder, Capacity: 20_000, MaxLength: 20_000, Normalisation: relabel.PerToken}
	x := newTestExporter(t, s)
	for _, step := range []relabel.ExportStep{relabel.CutExport, relabel.BuildPart} {
		if err := x.Step(context.Background(), relabel.ExportJob{ExportID: s.export.ID, Step: step}); err != nil {
			t.Fatal(err)
		}
	}
	s.done[0] = false // it crashed before it could say so
	s.parts[0].Files = s.parts[0].Files[:2]

	name := filepath.Join(folder, "tokenizer.json")
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(raw), `["c","o"],`, "", 1) // the word command has other tokens
	if other == string(raw) {
		t.Fatal("the tokenizer is as it was")
	}
	if err := os.WriteFile(name, []byte(other), 0o644); err != nil {
		t.Fatal(err)
	}
	student, err := render.Open(s.export.Form)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range check(t, export(t, s, x).Directory, student).Problems {
		t.Error(p)
	}
}
