package shard

import (
	"context"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/render"
	"relabel/shard/shardtest"
	"relabel/shard/verify"
)

// testStudent opens the small student.
func testStudent(t testing.TB) (folder string, s *render.Student) {
	t.Helper()
	folder = shardtest.Student(t)
	s, err := render.Open(relabel.ExportForm{Tokenizer: folder})
	if err != nil {
		t.Fatal(err)
	}
	return folder, s
}

// check verifies an export.
func check(t testing.TB, dir string, student *render.Student) *verify.Report {
	t.Helper()
	r, err := verify.Check(context.Background(), dir, verify.Options{Student: student, First: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestExportsAreSound(t *testing.T) {
	folder, student := testStudent(t)
	for _, name := range mixNames() {
		t.Run(name, func(t *testing.T) {
			rendered, supervised, long := 0, int64(0), relabel.ManifestTooLong{}
			for seed := range int64(4) {
				dir := mixed(t, name, folder, student, seed)
				r := check(t, dir, student)
				for _, p := range r.Problems {
					t.Errorf("seed %d: %s", seed, p)
				}
				t.Log(r.Figure())
				rendered += r.Rendered
				if counts := readManifest(t, dir).TooLong; counts != nil {
					long = long.Plus(*counts)
				}
				for _, f := range r.Views {
					supervised = max(supervised, f.Supervised)
				}
			}
			form := mixes[name].form
			if form.Tokens() && supervised == 0 || form.Tokens() && form.Views[0] == relabel.ViewMessages && rendered == 0 && mixes[name].recipe == "" {
				t.Errorf("%d tokens rendered again, %d supervised: nothing is proven", rendered, supervised)
			}
			if name == "cut" && min(long.TrunksCut, long.LabelsCut, long.LeavesDropped) == 0 || name == "dropped" && min(long.TrunksDropped, long.LabelsDropped, long.LeavesDropped) == 0 {
				t.Errorf("%+v: nothing is proven of rows that are too long", long)
			}
		})
	}
}

// alterations is how many are drawn; RELABEL_TEST_ALL takes five times as many.
func alterations() int {
	if os.Getenv("RELABEL_TEST_ALL") != "" {
		return 1000
	}
	return 200
}

// TestACheckReportsLabelsThatWereNotRenderedAgain: PASS alone would say that labels are what their
// states render to.
func TestACheckReportsLabelsThatWereNotRenderedAgain(t *testing.T) {
	folder, student := testStudent(t)
	for name, c := range map[string]struct {
		student *render.Student
		says    string
		views   int
	}{
		"mixture":      {student, "", 0},
		"linear alone": {student, "there is no messages view to render", 1},
		"text":         {student, "there is no token view with their ids", 1},
		"served":       {student, "their ids are served", 3},
		"bare":         {nil, "no tokenizer and template were given", 3},
	} {
		r := check(t, mixed(t, name, folder, student, 1), c.student)
		if !r.Sound() || len(r.Unchecked) != c.views || strings.Contains(r.Figure(), "NOT rendered again") != (c.views > 0) {
			t.Errorf("%s: %s", name, r.Figure())
		}
		for _, u := range r.Unchecked {
			if u.Why != c.says || u.Labels == 0 || name == "served" && u.Labels == r.Views[u.View].Labels {
				t.Errorf("%s: %+v of %+v", name, u, r.Views[u.View])
			}
		}
	}
}

func TestEveryAlterationOfASoundExportIsRefused(t *testing.T) {
	folder, student := testStudent(t)
	names := []string{"student alone", "mixture", "teacher alone", "cut", "dropped", "served", "bare", "bare and text", "packed to tree", "opd", "opd by turn", "grpo", "label rule"}
	each := alterations()/len(names) + 1
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewSource(5))
			var sound []string
			for seed := range int64(2) {
				sound = append(sound, mixed(t, name, folder, student, 10+seed))
			}
			for done := 0; done < each; {
				dir := filepath.Join(t.TempDir(), "altered")
				if err := os.CopyFS(dir, os.DirFS(sound[r.Intn(len(sound))])); err != nil {
					t.Fatal(err)
				}
				alter := []func(testing.TB, *rand.Rand, string) (altered, bool){alterRows, alterRows, alterRows, alterRows, alterRows, alterFigure, alterBytes, alterBeside}[r.Intn(8)]
				if a, ok := alter(t, r, dir); ok {
					refused(t, check(t, dir, student), a)
					done++
				}
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// The manifest's counts of trajectories are those of the rows, with and without tokens.
func TestOtherCountsOfTrajectoriesAreRefused(t *testing.T) {
	folder, student := testStudent(t)
	for _, name := range []string{"text", "packed alone"} {
		dir := mixed(t, name, folder, student, 1)
		sound := readManifest(t, dir)
		for _, figure := range []string{"trajectories", "executors", "verdicts", "kappas"} {
			m := sound
			m.Trajectories = sound.Trajectories.Plus(relabel.TrajectoryCounts{}) // with its own maps
			figures[figure](nil, &m)
			writeJSON(t, filepath.Join(dir, manifestName), m)
			if r := check(t, dir, nil); r.Counts["manifest"] != 1 || len(r.Counts) != 1 || !strings.Contains(r.Problems[0].Text, "trajectories") {
				t.Errorf("%s: %s: %v", name, figure, r.Lines())
			}
		}
	}
}

// refused checks that a report refuses an alteration, and names its row.
func refused(t *testing.T, r *verify.Report, a altered) {
	t.Helper()
	named := len(a.rows) == 0
	for _, p := range r.Problems {
		named = named || slices.Contains(a.rows, p.Row)
	}
	if r.Sound() || !named {
		t.Errorf("%s\nrow named: %t\n%s", a.what, named, r.Figure())
		for _, p := range r.Problems[:min(5, len(r.Problems))] {
			t.Log(p)
		}
	}
}
