package shard

import (
	"maps"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/verify"
)

// exportLimited exports seven trajectories of one to seven labels with at most max labels.
func exportLimited(t *testing.T, seed int64, max int) relabel.Export {
	t.Helper()
	var all []relabel.ExportTrajectory
	for n := range 7 {
		all = append(all, someTrajectory(1, n, n+1))
	}
	s := newFixedStore(all...)
	s.run.Seed = seed
	s.newExport("x", relabel.ExportSelection{})
	s.export.Form.MaxLabels = max
	return export(t, s, newTestExporter(t, s))
}

func TestAnExportHasExactlyTheNumberOfLabels(t *testing.T) {
	drawn := map[string]bool{}
	for seed := range int64(3) {
		for _, max := range []int{1, 2, 10, 27, 28} {
			e := exportLimited(t, seed, max)
			want := map[string]int{}
			if max < 28 {
				want["over_max_labels"] = 28 - max
			}
			m := readManifest(t, e.Directory)
			if m.States != max || m.MaxLabels != max || !maps.Equal(m.Excluded, want) {
				t.Errorf("%d labels: %d states, excluded %v", max, m.States, m.Excluded)
			}
			if again := exportLimited(t, seed, max); readManifest(t, again.Directory).Files[0].SHA256 != m.Files[0].SHA256 {
				t.Error("the same seed gives other labels")
			}
			drawn[filesBelow(t, e.Directory)[excludedName]] = true
		}
	}
	if len(drawn) < 9 {
		t.Errorf("seeds draw %d different selections", len(drawn))
	}
}

func TestAtMostOneTrajectoryIsCut(t *testing.T) {
	e := exportLimited(t, 5, 11)
	excluded := filesBelow(t, e.Directory)[excludedName]
	cut := 0
	for n := range 7 {
		lost := strings.Count(excluded, `"trajectory":"`+fixedID("trajectory 1 %d", n).String())
		if lost > 0 && lost < n+1 {
			cut++
			// The last turns are the surplus.
			if !strings.Contains(excluded, `"turn":`+string(rune('0'+n+1))+`,`) {
				t.Errorf("of trajectory %d other turns are excluded:\n%s", n, excluded)
			}
		}
	}
	if cut > 1 {
		t.Errorf("%d trajectories are cut:\n%s", cut, excluded)
	}
}

// In any reading order, trees are kept only of the first trajectories of the drawn order, so that a number of
// labels bounds the memory of an export of any selection.
func TestTreesThatThereIsNoRoomForAreReleasedAtOnce(t *testing.T) {
	var kept []string
	for range 3 {
		var list []relabel.ExportTrajectory
		for n := range 40 {
			list = append(list, someTrajectory(1, n, 1+n%7))
			list[n].Task.ProblemStatement = "It fails."
		}
		rand.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
		_, student := testStudent(t)
		b := &selector{run: newFixedStore().run, student: student, form: relabel.ExportForm{Views: relabel.Views, MaxLength: 20_000, Normalisation: relabel.PerToken}}
		d, held := &drawn{seed: 3, limit: 20}, map[*labelled]bool{}
		for _, tr := range list {
			l, err := b.label(tr, nil)
			if err != nil || len(l.roots) == 0 {
				t.Fatalf("%d trees, %v", len(l.roots), err)
			}
			d.add(l)
			held[l] = true
			maps.DeleteFunc(held, func(l *labelled, _ bool) bool { return l.roots == nil && len(l.keep) == 0 })
			labels := 0
			for l := range held {
				labels += len(l.keep)
			}
			if labels != d.labels || labels-len(d.last().keep) >= d.limit {
				t.Fatalf("%d labels are held for %d", labels, d.limit)
			}
		}
		var names []string
		for l := range held {
			names = append(names, l.Task.InstanceID)
		}
		slices.Sort(names)
		kept = append(kept, strings.Join(names, " "))
	}
	if kept[0] != kept[1] || kept[0] != kept[2] {
		t.Errorf("the order of reading decides what is kept: %q", kept)
	}
}

func TestReadingReleasesWhatThereIsNoRoomFor(t *testing.T) {
	var list []relabel.ExportTrajectory
	for n := range 40 {
		list = append(list, someTrajectory(1, n, 5))
	}
	s := newFixedStore(list...)
	must(t, s.CutExport(t.Context(), s.export.ID, 1000))
	part, err := s.FindExportPart(t.Context(), s.export.ID, 0)
	must(t, err)
	d := &drawn{limit: 10}
	all, err := newTestExporter(t, s).labelAll(t.Context(), part, &selector{run: s.run, form: s.export.Form}, d)
	must(t, err)
	labels := 0
	for _, l := range all {
		labels += len(l.keep)
	}
	if labels != 10 {
		t.Errorf("%d labels are held of %d", labels, 10)
	}
}

func TestFewerLabelsThanTheNumberAreRefused(t *testing.T) {
	s := newFixedStore(someTrajectory(1, 0, 3))
	s.newExport("x", relabel.ExportSelection{})
	s.export.Form.MaxLabels = 4
	x := newTestExporter(t, s)
	for _, step := range []relabel.ExportJob{{Step: relabel.CutExport}, {Step: relabel.BuildPart}} {
		step.ExportID = s.export.ID
		err := x.Step(t.Context(), step)
		if step.Step == relabel.BuildPart && (relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "3 labelled states")) {
			t.Errorf("%v", err)
		}
	}
}

func TestVerifyRefusesAnotherNumberOfLabels(t *testing.T) {
	e := exportLimited(t, 1, 10)
	name := e.Directory + "/manifest.json"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(text), `"max_labels": 10`, `"max_labels": 9`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := verify.Check(t.Context(), e.Directory, verify.Options{}); err != nil || r.Counts["manifest"] != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
