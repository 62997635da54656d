package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/stats"
)

// solved makes an evaluation of tasks named by a letter: S solved at once, R solved after a failed
// check, F finished wrong after a failed check, U not finished and not checked.
func solved(tasks string) evaluation {
	e := evaluation{Ways: map[string]way{}, Ends: map[string]int{}}
	for i, letter := range tasks {
		tr := relabel.Trajectory{InstanceID: string(rune('a' + i)), Turns: 6, EndReason: relabel.EndFinish, Resolved: new(strings.ContainsRune("SR", letter))}
		first := map[rune]string{'S': firstPassed, 'R': firstFailed, 'F': firstFailed, 'U': firstNone}[letter]
		if letter == 'U' {
			tr.EndReason = relabel.EndMaxTurns
		}
		e.add(tr, first)
	}
	return e
}

func TestARowComparesTheSameTasksAndSeeds(t *testing.T) {
	low := map[int]evaluation{0: solved("SSRU"), 1: solved("SRRF")}
	sft := map[int]evaluation{0: solved("SFFU"), 1: solved("SSFF"), 2: solved("SSSS")}
	r := newRow(armOf("low"), 4, low, sft)
	if r.Solved() != 6 || r.Tasks() != 8 || r.FirstFailed() != 4 || r.Recovered() != 3 || r.Wrong() != 1 || r.Unfinished() != 1 || r.Turns() != 6 {
		t.Errorf("%+v", r)
	}
	// By task: a 0, b 1/2, c 1, d 0.
	if !r.Compared || r.AheadRange == nil || r.Ahead != 0.375 || r.AheadRange.Low < 0 || r.AheadRange.High > 1 || r.Each() != "75 75" {
		t.Errorf("ahead %v %v, each %s", r.Ahead, r.AheadRange, r.Each())
	}
	// After a failed check, by task: b 1 of 1, c 2 of 2, d 0 of 1.
	if want, _ := stats.Clustered([]stats.Cluster{{Successes: 1, Trials: 1}, {Successes: 2, Trials: 2}, {Trials: 1}}); math.Abs(r.Recovery.Low-want.Low) > 1e-12 || math.Abs(r.Recovery.High-want.High) > 1e-12 {
		t.Errorf("recovery %v, want %v", r.Recovery, want)
	}
	if own := newRow(armOf("sft"), 4, sft, sft); own.RecoveryAhead != nil || own.Compared || own.Difference() != "" {
		t.Errorf("sft is compared with itself: %+v", own)
	}
}

// failedChecks is an evaluation of tasks of which some had a first check that failed.
func failedChecks(recovered, failed, others int) map[int]evaluation {
	letters := strings.Repeat("R", recovered) + strings.Repeat("F", failed-recovered) + strings.Repeat("S", others)
	return map[int]evaluation{0: solved(letters)}
}

func TestARowComparesTheRecovery(t *testing.T) {
	r := newRow(armOf("low"), 4, failedChecks(30, 64, 136), failedChecks(0, 73, 127))
	if got := r.RepairDifference(); got != "+46.9 [+34.2, +58.9]" {
		t.Error(got)
	}
	for _, never := range []map[int]evaluation{failedChecks(0, 0, 200), nil} {
		if r := newRow(armOf("low"), 4, failedChecks(30, 64, 136), never); r.RecoveryAhead != nil || r.RepairDifference() != "" {
			t.Errorf("compared with no failed check: %s", r.RepairDifference())
		}
	}
}

func TestTheRecoveryIsComparedOnTheSeedsOfBoth(t *testing.T) {
	low := map[int]evaluation{0: solved("RF"), 1: solved("FF")}
	r := newRow(armOf("low"), 4, low, map[int]evaluation{0: solved("FF"), 2: solved("RR")})
	if r.RecoveryAhead == nil || *r.RecoveryAhead != 0.5 {
		t.Errorf("%s", r.RepairDifference())
	}
	r = newRow(armOf("low"), 4, map[int]evaluation{0: solved("RF"), 1: solved("RR")}, map[int]evaluation{0: solved("FF"), 1: solved("RF")})
	own, _ := stats.Clustered([]stats.Cluster{{Successes: 2, Trials: 2}, {Successes: 1, Trials: 2}})
	sft, _ := stats.Clustered([]stats.Cluster{{Successes: 1, Trials: 2}, {Trials: 2}})
	want := stats.Newcombe(0.75, own, 0.25, sft)
	if math.Abs(r.RecoveryRange.Low-want.Low) > 1e-12 || math.Abs(r.RecoveryRange.High-want.High) > 1e-12 {
		t.Errorf("%v, want %v", r.RecoveryRange, want)
	}
}

func TestOnlyTheOutputOfTheChecksIsOne(t *testing.T) {
	for text, want := range map[string]string{
		"all passed": firstPassed, "FAIL f(1, 2): got 3, want 4": firstFailed, "SyntaxError: a.py line 1": firstFailed,
		"FAIL f(1, 2): got 3, want 4\nmore": firstNone, "The file a.py has been edited.": firstNone, "": firstNone,
	} {
		if got := checkResult(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestThePageShowsEachRowAndItsOrigin(t *testing.T) {
	rows := []row{newRow(base, 1, map[int]evaluation{0: solved("SFUU")}, nil), newRow(armOf("low"), 2, map[int]evaluation{0: solved("SSRU")}, map[int]evaluation{0: solved("SFFU")})}
	const difference = "+100.0 [-3.1, +100.0]" // of 1 of 1 and 0 of 2
	name := filepath.Join(t.TempDir(), "results.html")
	of := &record{Students: map[string]student{"0-low-2": {SHA256: strings.Repeat("ab", 32), Manifest: strings.Repeat("cd", 32), Labels: 1500}}}
	if err := writePage(name, rows, of); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0-low-2", "abababababababab", "75.0 [", "50.0 [", "100 [21, 100] of 1", "<polyline", strings.ReplaceAll(difference, "+", "&#43;")} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if table := text(rows); !strings.Contains(table, "low") || !strings.Contains(table, "75.0 [") || !strings.Contains(table, difference) {
		t.Errorf("the table is\n%s", table)
	}
}

func TestARecordOfOtherSettingsIsRefused(t *testing.T) {
	dir := t.TempDir()
	r, err := openRecord(dir, madeOf{Labels: 1500})
	if err != nil {
		t.Fatal(err)
	}
	r.Students["0-base-1"] = student{SHA256: "ab", Labels: 6000}
	if err := r.save(); err != nil {
		t.Fatal(err)
	}
	again, err := openRecord(dir, madeOf{Labels: 1500})
	if err != nil || again.Students["0-base-1"].Labels != 6000 {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := openRecord(dir, madeOf{Labels: 30}); relabel.CodeOf(err) != relabel.CodeConflict {
		t.Errorf("%v", err)
	}
}

func TestRecordsOfEachOtherSettingAreRefused(t *testing.T) {
	o := options{Rounds: 4, BaseLabels: 6000, BaseUpdates: 700, Labels: 1500, Updates: 150, Eval: 200}
	dir := t.TempDir()
	if _, err := openRecord(dir, o.made()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*options){
		"rounds": func(o *options) { o.Rounds++ }, "base labels": func(o *options) { o.BaseLabels++ }, "base updates": func(o *options) { o.BaseUpdates++ },
		"labels": func(o *options) { o.Labels++ }, "updates": func(o *options) { o.Updates++ }, "eval": func(o *options) { o.Eval++ },
	} {
		other := o
		change(&other)
		if _, err := openRecord(dir, other.made()); relabel.CodeOf(err) != relabel.CodeConflict {
			t.Errorf("other %s: %v", name, err)
		}
	}
	if _, err := openRecord(dir, o.made()); err != nil {
		t.Error(err)
	}
}

func TestTheScheduleOfAnArm(t *testing.T) {
	for _, c := range []struct {
		arm   string
		round int
		beta  float64
	}{{"low", 2, 0.6}, {"low", 3, 0.2}, {"low", 9, 0.2}, {"paper", 2, 0.8}, {"paper", 4, 0.6}} {
		if recipe, beta, _ := armOf(c.arm).schedule(c.round); recipe != relabel.DAgger || beta.Start != c.beta {
			t.Errorf("%+v: %s, %+v", c, recipe, beta)
		}
	}
	if recipe, beta, rho := armOf("sft").schedule(4); recipe != relabel.SFT || beta != nil || rho != nil {
		t.Errorf("sft: %s, %v, %v", recipe, beta, rho)
	}
	if recipe, _, rho := armOf("aggrevate").schedule(3); recipe != relabel.AggreVaTe || rho.Max != 12 {
		t.Errorf("aggrevate: %s, %+v", recipe, rho)
	}
}
