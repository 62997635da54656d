package labelrule_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relabel"
	"relabel/labelrule"
)

func rule(t testing.TB, text relabel.LabelRule) labelrule.Rule {
	t.Helper()
	r, err := labelrule.Parse(text, "rule")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOnlySomeRulesLeaveStatesOut(t *testing.T) {
	for text, selects := range map[relabel.LabelRule]bool{relabel.LabelAll: false, "teacher_turns:3": false, "every:4": true, "after_failure+0.1": true} {
		if text.Selects() != selects {
			t.Errorf("%s selects: %t", text, !selects)
		}
	}
}

func TestRulesOfAnotherFormAreRefused(t *testing.T) {
	for _, text := range []string{"none", "every", "every:0", "every:01", "every:1000", "every:2 0.1", "every:2+0", "every:2+1", "every:2+0.0", "all+0.1",
		"uncertain", "uncertain:-1", "uncertain:1e2", "uncertain:NaN", "after_failure:2", "first_after_parting", "teacher_turns:2+0.1", "every:2\n", "EVERY:2"} {
		_, err := labelrule.Parse(relabel.LabelRule(text), "label_rule")
		if relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "label_rule") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, unbiased := range map[relabel.LabelRule]bool{"": true, "all": true, "every:3": true, "every:999+0.5": true, "uncertain:0.25": false, "uncertain:3+0.05": true,
		"after_failure": false, "after_failure+0.000001": true, "first_after_parting:2": false, "first_after_parting:2+0.1": true, "teacher_turns:5": false} {
		if r := rule(t, text); r.Unbiased() != unbiased {
			t.Errorf("%s: unbiased is %v", text, r.Unbiased())
		}
	}
}

// asked are the turns at which the teacher is asked, as letters: T the teacher acts, y asked, - not.
func asked(r labelrule.Rule, executors relabel.Executors, state func(t int) labelrule.State) string {
	var b strings.Builder
	for t := 1; t <= len(executors); t++ {
		s := state(t)
		s.T = t
		switch d := r.Decide(labelrule.Place{Seed: 1, Iteration: 1, Instance: "a"}, executors, s); {
		case executors.At(t) == relabel.Teacher && d.Ask:
			b.WriteByte('T')
		case d.Ask:
			b.WriteByte('y')
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}

func TestRulesWithoutAChanceSelectWhatTheySay(t *testing.T) {
	high, low := 0.5, 0.49
	failed := map[int]bool{2: true, 5: true}
	for _, c := range []struct {
		rule            relabel.LabelRule
		executors, want string
	}{
		{"all", "sTss", "yTyy"},
		{"after_failure", "sssTss", "-y-Ty-"},
		{"uncertain:0.5", "sssTss", "y--T-y"}, // turn 1 is uncertain enough, turn 6 is unknown
		{"first_after_parting:1", "sssTssTTs", "-y-T-yTT-"},
		{"first_after_parting:2", "ssssTsss", "-yy-T-yy"},
		{"first_after_parting:3", "TTTT", "TTTT"},
		{"first_after_parting:1", "sTs", "-T-"},
		{"teacher_turns:2", "ssTTTT", "yyTT--"},
		{"teacher_turns:2", "TTT", "TT-"},
		{"teacher_turns:2", "sss", "yyy"},
	} {
		got := asked(rule(t, c.rule), relabel.Executors(c.executors), func(t int) labelrule.State {
			s := labelrule.State{AfterFailure: failed[t], Uncertainty: &low}
			if t == 1 {
				s.Uncertainty = &high
			}
			if t == 6 {
				s.Uncertainty = nil
			}
			return s
		})
		if got != c.want {
			t.Errorf("%s of %s: %s, not %s", c.rule, c.executors, got, c.want)
		}
	}
}

// TestWeightedSumsAreUnbiased enumerates every phase and every coin of short trajectories with every
// sequence of executors: the expectation of the weighted sum over the asked states is the sum over all.
func TestWeightedSumsAreUnbiased(t *testing.T) {
	const turns, k, floor = 5, 3, 0.25
	value := []float64{1, -2, 3.5, 7, 11}
	certain, doubtful := 0.1, 2.0
	for _, text := range []relabel.LabelRule{"all", "every:3", "every:3+0.25", "after_failure+0.25", "uncertain:1+0.25", "first_after_parting:2+0.25"} {
		r := rule(t, text)
		for bits := range 1 << turns {
			executors := relabel.Executors(strings.Map(func(c rune) rune {
				return map[bool]rune{true: 'T', false: 's'}[bits>>(c-'0')&1 == 1]
			}, "01234"))
			sum, weight, chance := 0.0, 0.0, 0.0
			for phase := range k {
				for coins := range 1 << turns {
					p := 1.0 / k
					for turn := range turns {
						p *= map[bool]float64{true: floor, false: 1 - floor}[coins>>turn&1 == 1]
					}
					chance += p
					draw := func(purpose string, t int) float64 {
						if purpose == "phase" {
							return (float64(phase) + 0.5) / k
						}
						return map[bool]float64{true: floor / 2, false: floor}[coins>>(t-1)&1 == 1]
					}
					for turn := 1; turn <= turns; turn++ {
						s := labelrule.State{T: turn, AfterFailure: turn%2 == 0, Uncertainty: map[bool]*float64{true: &doubtful, false: &certain}[turn == 4]}
						d := r.DecideBy(draw, executors, s)
						sum += p * d.Weight() * value[turn-1]
						weight += p * d.Weight()
					}
				}
			}
			if math.Abs(chance-1) > 1e-12 || math.Abs(sum-20.5) > 1e-9 || math.Abs(weight-turns) > 1e-9 {
				t.Fatalf("%s of %s: the sum is %v, not 20.5; the weights are %v, not %d", text, executors, sum, weight, turns)
			}
		}
	}
}

// TestDecisionsAreThoseOfThePlace asks again, in another order and after a replay.
func TestDecisionsAreThoseOfThePlace(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rule(t, rapid.SampledFrom([]relabel.LabelRule{"every:2", "every:7+0.3", "after_failure+0.5", "first_after_parting:2+0.01", "uncertain:1+0.5"}).Draw(rt, "rule"))
		at := labelrule.Place{Seed: rapid.Int64().Draw(rt, "seed"), Iteration: rapid.IntRange(1, 9).Draw(rt, "iteration"), Instance: rapid.String().Draw(rt, "instance"), Generation: rapid.IntRange(0, 9).Draw(rt, "generation")}
		executors := relabel.Executors(rapid.StringMatching("[Ts]{1,30}").Draw(rt, "executors"))
		u := rapid.Float64Range(0, 2).Draw(rt, "uncertainty")
		decide := func(turn int) labelrule.Decision {
			return r.Decide(at, executors, labelrule.State{T: turn, AfterFailure: turn%3 == 0, Uncertainty: &u})
		}
		first := map[int]labelrule.Decision{}
		for turn := 1; turn <= len(executors); turn++ {
			first[turn] = decide(turn)
		}
		for turn := len(executors); turn >= 1; turn-- {
			d := decide(turn)
			if d != first[turn] {
				rt.Fatalf("turn %d: %+v, then %+v", turn, first[turn], d)
			}
			if executors.At(turn) == relabel.Teacher && d != (labelrule.Decision{Ask: true, Chance: 1}) || d.Ask && d.Chance <= 0 || d.Chance > 1 {
				rt.Fatalf("turn %d: %+v", turn, d)
			}
		}
	})
}

// TestChancesAreThoseOfTheDraws counts over the seeds of 4000 trajectories. The draws are pinned.
func TestChancesAreThoseOfTheDraws(t *testing.T) {
	const places = 4000
	for text, want := range map[relabel.LabelRule]float64{"every:4": 0.25, "every:4+0.2": 0.4, "after_failure+0.1": 0.1} {
		for turn := 1; turn <= 5; turn += 2 {
			n := 0
			for k := range places {
				d := rule(t, text).Decide(labelrule.Place{Seed: int64(k % 40), Iteration: 1, Instance: fmt.Sprint("task ", k)}, "sssss", labelrule.State{T: turn})
				if math.Abs(d.Chance-want) > 1e-12 {
					t.Fatalf("%s: the chance is %v, not %v", text, d.Chance, want)
				}
				if d.Ask {
					n++
				}
			}
			if sigma := math.Sqrt(want * (1 - want) / places); math.Abs(float64(n)/places-want) > 4*sigma {
				t.Errorf("%s, turn %d: asked in %d of %d", text, turn, n, places)
			}
		}
	}
}

// TestDrawsArePinned: another draw would change every run that is resumed after an update.
func TestDrawsArePinned(t *testing.T) {
	at := labelrule.Place{Seed: 7, Iteration: 2, Instance: "django__django-1", Generation: 1}
	for text, want := range map[relabel.LabelRule]string{"every:4": "-y---y---y---y--", "after_failure+0.3": "---y-y-y--yy----"} {
		got := ""
		for turn := 1; turn <= 16; turn++ {
			got += map[bool]string{true: "y", false: "-"}[rule(t, text).Decide(at, "ssssssssssssssss", labelrule.State{T: turn}).Ask]
		}
		if got != want {
			t.Errorf("%s: %s, not %s", text, got, want)
		}
	}
}

func TestUncertaintyIsTheMeanInNats(t *testing.T) {
	if got := labelrule.Uncertainty([]float32{-1, -0.5, 0}); got == nil || *got != 0.5 {
		t.Errorf("%v", got)
	}
	for _, none := range [][]float32{nil, {}, {float32(math.Inf(-1))}, {float32(math.NaN()), 1}} {
		if got := labelrule.Uncertainty(none); got != nil {
			t.Errorf("%v of %v", *got, none)
		}
	}
}
