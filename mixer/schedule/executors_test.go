package schedule_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relabel"
	"relabel/mixer/schedule"
)

// The golden values pin the draws: a run must be drawn alike by any release, on any
// machine. They change only with a deliberate break, which the change log must name.
func TestDrawsAreTheSameOnAnyMachine(t *testing.T) {
	at := schedule.Place{Seed: 42, Iteration: 2, Instance: "django__django-11099", Generation: 1}
	if got, want := string(schedule.Mixture(0.8, 40, at.Stream("relabel/b"))), goldenMixture; got != want {
		t.Errorf("b1…b40 = %s, want %s", got, want)
	}
	kappas := ""
	for i := 1; i <= 8; i++ {
		at.Iteration = i
		kappas += fmt.Sprint(schedule.Kappa(relabel.PaperRho, i, at.Stream("relabel/kappa")), " ")
	}
	if kappas != goldenKappas {
		t.Errorf("κ of iterations 1 to 8: %s, want %s", kappas, goldenKappas)
	}
	seeds := fmt.Sprint(schedule.CallSeed(at, 1, relabel.Teacher), schedule.CallSeed(at, 1, relabel.Student), schedule.CallSeed(at, 2, relabel.Student))
	if seeds != goldenSeeds {
		t.Errorf("call seeds %s, want %s", seeds, goldenSeeds)
	}
}

func TestMixtureIsExactAtZeroAndOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := drawPlace(t)
		turns := rapid.IntRange(0, 200).Draw(t, "turns")
		if got := string(schedule.Mixture(0, turns, at.Stream("relabel/b"))); got != strings.Repeat("s", turns) {
			t.Fatalf("β=0: %s", got)
		}
		if got := string(schedule.Mixture(1, turns, at.Stream("relabel/b"))); got != strings.Repeat("T", turns) {
			t.Fatalf("β=1: %s", got)
		}
	})
}

func TestRaisingBetaOnlyAddsTeacherTurnsAndLongerDrawsBeginAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := drawPlace(t)
		low := rapid.Float64Range(0, 1).Draw(t, "low")
		high := rapid.Float64Range(low, 1).Draw(t, "high")
		turns := rapid.IntRange(1, 100).Draw(t, "turns")
		a := schedule.Mixture(low, turns, at.Stream("relabel/b"))
		b := schedule.Mixture(high, turns, at.Stream("relabel/b"))
		for k := range a {
			if a[k] == 'T' && b[k] != 'T' {
				t.Fatalf("turn %d is the teacher's at β=%v and not at %v", k+1, low, high)
			}
		}
		if longer := schedule.Mixture(low, turns+20, at.Stream("relabel/b")); longer[:turns] != a {
			t.Fatalf("%s does not begin %s", a, longer)
		}
	})
}

// Over many trajectories the number of teacher turns is binomial, each turn has its own
// chance β, and neighbours know nothing of each other (eq. 8).
func TestMixtureFollowsTheBinomialLaw(t *testing.T) {
	const turns, trajectories = 20, 5000
	for _, beta := range []float64{0.2, 0.5, 0.8} {
		byCount, byTurn, both := make([]int, turns+1), make([]int, turns), 0
		for g := range trajectories {
			at := schedule.Place{Seed: 3, Iteration: 1, Instance: "task", Generation: g}
			b := schedule.Mixture(beta, turns, at.Stream("relabel/b"))
			byCount[strings.Count(string(b), "T")]++
			both += strings.Count(string(b[0:1]+b[1:2]), "TT")
			for k := range b {
				if b[k] == 'T' {
					byTurn[k]++
				}
			}
		}
		if chi := binomialChi(byCount, turns, beta, trajectories); chi > 45.3 { // 20 degrees of freedom, 1 in 1000
			t.Errorf("β=%v: chi-square %.1f against the binomial law", beta, chi)
		}
		within := func(what string, n int, p float64) {
			if d := math.Abs(float64(n) - p*trajectories); d > 4*math.Sqrt(trajectories*p*(1-p)) {
				t.Errorf("β=%v: %s %d times of %d", beta, what, n, trajectories)
			}
		}
		for k, n := range byTurn {
			within(fmt.Sprintf("turn %d is the teacher's", k+1), n, beta)
		}
		within("turns 1 and 2 are both the teacher's", both, beta*beta)
	}
}

func binomialChi(counts []int, n int, p float64, total int) float64 {
	chi, choose := 0.0, 1.0
	for k := 0; k <= n; k++ {
		expected := choose * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k)) * float64(total)
		if expected >= 5 {
			d := float64(counts[k]) - expected
			chi += d * d / expected
		}
		choose = choose * float64(n-k) / float64(k+1)
	}
	return chi
}

func TestPrefixIsStudentThenTeacher(t *testing.T) {
	for _, c := range []struct {
		kappa int
		want  relabel.Executors
	}{{0, "TTTT"}, {1, "sTTT"}, {4, "ssss"}, {40, "ssss"}} {
		if got := schedule.Prefix(c.kappa, 4); got != c.want {
			t.Errorf("κ=%d: %s, want %s", c.kappa, got, c.want)
		}
	}
}

func TestPlacesAndPurposesAreDrawnApart(t *testing.T) {
	base := schedule.Place{Seed: 1, Iteration: 1, Instance: "ab", Generation: 0}
	seen := map[relabel.Executors]string{}
	for name, s := range map[string]schedule.Stream{
		"base":       base.Stream("relabel/b"),
		"purpose":    base.Stream("relabel/c"),
		"seed":       schedule.Place{Seed: 2, Iteration: 1, Instance: "ab"}.Stream("relabel/b"),
		"iteration":  schedule.Place{Seed: 1, Iteration: 2, Instance: "ab"}.Stream("relabel/b"),
		"instance":   schedule.Place{Seed: 1, Iteration: 1, Instance: "a"}.Stream("relabel/bb"),
		"generation": schedule.Place{Seed: 1, Iteration: 1, Instance: "ab", Generation: 1}.Stream("relabel/b"),
	} {
		b := schedule.Mixture(0.5, 100, s)
		if other, ok := seen[b]; ok {
			t.Errorf("%s and %s draw the same", name, other)
		}
		seen[b] = name
	}
}

func TestCallSeedsSuitEveryServer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at, turn := drawPlace(t), rapid.IntRange(1, 1000).Draw(t, "t")
		s := schedule.CallSeed(at, turn, relabel.Student)
		if s < 0 || s > math.MaxInt32 {
			t.Fatalf("seed %d is outside 0..2^31-1", s)
		}
	})
}

func drawPlace(t *rapid.T) schedule.Place {
	return schedule.Place{
		Seed:       rapid.Int64().Draw(t, "seed"),
		Iteration:  rapid.IntRange(1, 50).Draw(t, "iteration"),
		Instance:   rapid.String().Draw(t, "instance"),
		Generation: rapid.IntRange(0, 50).Draw(t, "generation"),
	}
}
