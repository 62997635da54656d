package shard

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/shardtest"
	"relabel/shard/tree"
	"relabel/shard/verify"
)

// longExport exports a mix of trajectories of which some rows are over its max_length.
func longExport(t *testing.T, how relabel.TooLong) (dir string, m relabel.Manifest) {
	t.Helper()
	folder, student := testStudent(t)
	mixture := mixes["mixture"]
	mixture.form.TooLong = how
	mixes["too long"] = mixture
	t.Cleanup(func() { delete(mixes, "too long") })
	dir = mixed(t, "too long", folder, student, 3)
	r := check(t, dir, student)
	for _, p := range r.Problems {
		t.Error(p)
	}
	return dir, readManifest(t, dir)
}

// TestALongTrunkIsCutByDefault: labels that fit stay, in all views alike, and what the limit
// excludes is counted.
func TestALongTrunkIsCutByDefault(t *testing.T) {
	dir, byDefault := longExport(t, "")
	_, cut := longExport(t, relabel.CutTooLong)
	_, drop := longExport(t, relabel.DropTooLong)
	long := byDefault.TooLong
	if !reflect.DeepEqual(long, cut.TooLong) || byDefault.States != cut.States || long.TrunksCut == 0 || long.LabelsCut == 0 || long.Labels() != byDefault.Excluded["too_long"] {
		t.Errorf("by default %+v of %v, cut %+v", long, byDefault.Excluded, cut.TooLong)
	}
	if drop.TooLong.TrunksCut != 0 || drop.TooLong.TrunksDropped < long.TrunksCut || drop.States >= byDefault.States || drop.TooLong.LeavesDropped != long.LeavesDropped {
		t.Errorf("dropped: %+v, %d states; cut: %+v, %d states", drop.TooLong, drop.States, long, byDefault.States)
	}
	name := filepath.Join(dir, manifestName)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	altered := strings.Replace(string(text), `"labels_cut": `, `"labels_cut": 1`, 1)
	if err := os.WriteFile(name, []byte(altered), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := verify.Check(context.Background(), dir, verify.Options{}); err != nil || r.Counts["manifest"] == 0 {
		t.Errorf("other counts pass: %v, %v", r.Counts, err)
	}
}

func TestAStudentWithRecurrentLayersGetsNoTrees(t *testing.T) {
	for config, want := range map[string]relabel.ModelCheck{
		``:                        relabel.ModelNotChecked,
		`{"model_type":"qwen3"}`:  relabel.ModelChecked,
		`{"model_type":"jamba"}`:  "",
		`{"model_type":"zamba2"}`: "",
		`{"text_config":{"layer_types":["linear_attention","full_attention"]}}`: "",
	} {
		folder := shardtest.Student(t)
		if config != "" {
			if err := os.WriteFile(filepath.Join(folder, relabel.ModelConfig), []byte(config), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s := newFixedStore(someTrajectory(1, 0, 3))
		x := newTestExporter(t, s)
		form := relabel.ExportForm{Views: []relabel.View{relabel.ViewLinear, relabel.ViewTree}, Tokenizer: folder}
		e, err := x.Prepare(t.Context(), relabel.DAgger, relabel.Export{ID: relabel.NewID(), Form: form})
		if e.ModelCheck != want || (err != nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), "linear or packed") || !strings.HasPrefix(err.Error(), "views")) {
			t.Errorf("%s: %q, %v", config, e.ModelCheck, err)
		}
		form.Views = []relabel.View{relabel.ViewLinear}
		if e, err := x.Prepare(t.Context(), relabel.DAgger, relabel.Export{ID: relabel.NewID(), Form: form}); err != nil || e.ModelCheck != "" {
			t.Errorf("linear of %s: %q, %v", config, e.ModelCheck, err)
		}
	}
	if err := tree.CheckModel([]byte(`{`)); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("a broken config.json: %v", err)
	}
}
