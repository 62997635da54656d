package web

import (
	"fmt"
	"math"

	"relabel"
)

// round is an iteration with its figures, as charts and tables show it.
type round struct {
	iterationRow
	Figures relabel.Figures
	Tokens  map[relabel.ID]int64 // by policy
	Cost    float64
}

// share of n in all as a percentage; nil of nothing.
func portion(n, all int) *float64 {
	if all == 0 {
		return nil
	}
	return new(100 * float64(n) / float64(all))
}

// ofKind are the rounds of one kind, in order.
func ofKind(all []round, kind relabel.IterationKind) (some []round) {
	for _, r := range all {
		if r.Kind == kind {
			some = append(some, r)
		}
	}
	return some
}

// labelled names rounds as the axis of a chart does.
func labelled(rounds []round) (names []string) {
	for _, r := range rounds {
		names = append(names, fmt.Sprint(r.Number))
	}
	return names
}

// valuesOf are one value a round.
func valuesOf(rounds []round, value func(round) *float64) (all []*float64) {
	for _, r := range rounds {
		all = append(all, value(r))
	}
	return all
}

// mixtureChart shows what was planned of the mixture beside what came of it.
func mixtureChart(run relabel.Run, collects []round) chart {
	c := chart{ID: "mixture", X: "iteration", Labels: labelled(collects)}
	if run.Rho != nil {
		c.Title, c.Note, c.Unit = "Student prefix κ, in turns", "the mean that was drawn, and what the student executed; a trajectory may end before its prefix does", "turns"
		c.Series = []series{
			{Name: "drawn", Look: "ink", Values: valuesOf(collects, func(r round) *float64 { return r.Figures.KappaDrawn })},
			{Name: "run", Look: "student", Values: valuesOf(collects, func(r round) *float64 { return r.Figures.KappaRun })},
		}
		return c
	}
	c.Title, c.Note, c.Unit, c.From, c.To = "Turns that the teacher executed", "βi as planned, with the band where chance leaves the share in 19 of 20 cases, and as it came", "%", new(0.0), new(100.0)
	planned := series{Name: "planned β", Look: "ink"}
	for _, r := range collects {
		if r.Beta == nil {
			planned.Values, planned.Low, planned.High = append(planned.Values, nil), append(planned.Low, nil), append(planned.High, nil)
			continue
		}
		low, high := bandOf(*r.Beta, r.Figures.Progress.Turns)
		planned.Values, planned.Low, planned.High = append(planned.Values, new(100**r.Beta)), append(planned.Low, low), append(planned.High, high)
	}
	c.Series = []series{planned, {Name: "realised", Look: "teacher", Values: valuesOf(collects, func(r round) *float64 {
		return portion(r.Figures.Progress.TeacherTurns, r.Figures.Progress.Turns)
	})}}
	return c
}

// bandOf is where the share of n draws with chance p lies in 19 of 20 cases, in percent,
// by the normal approximation of the binomial; nil without draws.
func bandOf(p float64, n int) (low, high *float64) {
	if n == 0 {
		return nil, nil
	}
	half := 1.96 * math.Sqrt(p*(1-p)/float64(n))
	return new(100 * max(0, p-half)), new(100 * min(1, p+half))
}

// resolvedChart shows how many of those with a verdict are resolved, mixtures beside the
// student alone.
func resolvedChart(all []round) chart {
	c := chart{ID: "resolved", Title: "Resolved, of those with a verdict", Note: "resolved is submitted and passed; infrastructure errors are in neither number", X: "iteration", Unit: "%", From: new(0.0), To: new(100.0)}
	last := 0
	for _, r := range all {
		last = max(last, r.Number)
	}
	for i := 1; i <= last; i++ {
		c.Labels = append(c.Labels, fmt.Sprint(i))
	}
	for _, of := range []struct {
		kind       relabel.IterationKind
		name, look string
	}{{relabel.Collect, "mixture", "passed"}, {relabel.Evaluate, "student alone", "student"}} {
		s := series{Name: of.name, Look: of.look, Values: make([]*float64, last)}
		for _, r := range ofKind(all, of.kind) {
			s.Values[r.Number-1] = portion(r.Figures.Progress.Resolved, r.Figures.Progress.Verified)
		}
		if (chart{Series: []series{s}}).Drawn() {
			c.Series = append(c.Series, s)
		}
	}
	return c
}

// agreementChart shows how many of the student's actions are what the teacher would have
// done.
func agreementChart(collects []round) chart {
	return chart{ID: "agreement", Title: "Student actions equal to their label", Note: "of the student’s turns whose label is there", X: "iteration", Unit: "%", From: new(0.0), To: new(100.0),
		Labels: labelled(collects), Series: []series{{Name: "agreement", Look: "agree", Values: valuesOf(collects, func(r round) *float64 { return portion(r.Figures.Agreed, r.Figures.Compared) })}}}
}

// turnLooks tell the lines of the newest iterations apart, the newest first.
var turnLooks = []string{"agree", "ink", "dim"}

// turnChart shows agreement by turn, a line for each of the newest iterations. Many turns
// are taken together by five or more.
func turnChart(collects []round) chart {
	c := chart{ID: "by-turn", Title: "Agreement by turn", X: "turn", Unit: "%", From: new(0.0), To: new(100.0)}
	newest := collects[max(0, len(collects)-len(turnLooks)):]
	last := 0
	for _, r := range newest {
		last = max(last, len(r.Figures.ByTurn))
	}
	step := stepOf(last)
	c.Labels = spans(last, step)
	for k := range newest {
		r := newest[len(newest)-1-k]
		s := series{Name: fmt.Sprintf("iteration %d", r.Number), Look: turnLooks[k]}
		for i := range c.Labels {
			sum := between(r.Figures, i*step, (i+1)*step)
			s.Values = append(s.Values, portion(sum.Agreed, sum.Compared))
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// stepOf is how many turns are taken together, so that there are at most forty points.
func stepOf(turns int) int {
	step := 1
	for turns > 40*step {
		step += 5 - step%5 // 1, 5, 10, …
	}
	return step
}

// spans names turns taken together.
func spans(turns, step int) (names []string) {
	for from := 1; from <= turns; from += step {
		if step == 1 {
			names = append(names, fmt.Sprint(from))
			continue
		}
		names = append(names, fmt.Sprintf("%d–%d", from, min(from+step-1, turns)))
	}
	return names
}

// between sums the turns up that come after from and not after to.
func between(f relabel.Figures, from, to int) (sum relabel.TurnFigures) {
	for _, t := range f.ByTurn[min(from, len(f.ByTurn)):min(to, len(f.ByTurn))] {
		sum.Turns += t.Turns
		sum.TeacherTurns += t.TeacherTurns
		sum.Compared += t.Compared
		sum.Agreed += t.Agreed
	}
	return sum
}

// endsChart shows how trajectories ended, those that failed apart from the agent's ends.
func endsChart(rounds []round) chart {
	c := chart{ID: "ends", Title: "How trajectories ended", Note: "infrastructure errors are not the agent’s", X: "iteration", Bars: true, Labels: roundNames(rounds)}
	for _, of := range []struct {
		reason relabel.EndReason
		look   string
	}{{relabel.EndFinish, "dim"}, {relabel.EndMaxTurns, "ink"}, {relabel.EndContext, "context"}, {relabel.EndWallClock, "limit"}, {relabel.EndNoCall, "failed"}, {relabel.EndDisk, "limit"}, {relabel.EndSandboxBroken, "failed"}} {
		c.Series = append(c.Series, series{Name: endWord(of.reason), Look: of.look, Values: valuesOf(rounds, func(r round) *float64 { return new(float64(r.Figures.EndReasons[of.reason])) })})
	}
	c.Series = append(c.Series, series{Name: "infrastructure error", Look: "infra", Values: valuesOf(rounds, func(r round) *float64 {
		return new(float64(r.Figures.Progress.Trajectories[relabel.Failed]))
	})})
	return c.withoutEmpty()
}

// withoutEmpty leaves out series in which nothing is more than 0.
func (c chart) withoutEmpty() chart {
	var kept []series
	for _, s := range c.Series {
		for _, v := range s.Values {
			if v != nil && *v > 0 {
				kept = append(kept, s)
				break
			}
		}
	}
	c.Series = kept
	return c
}

// roundNames names rounds of both kinds.
func roundNames(rounds []round) (names []string) {
	for _, r := range rounds {
		name := fmt.Sprint(r.Number)
		if r.Kind == relabel.Evaluate {
			name = "eval " + name
		}
		names = append(names, name)
	}
	return names
}

// tokensChart shows what the calls to the teacher and to the students used.
func tokensChart(run relabel.Run, rounds []round) chart {
	sum := func(teacher bool) func(round) *float64 {
		return func(r round) *float64 {
			n := 0.0
			for policy, tokens := range r.Tokens {
				if (policy == run.TeacherID) == teacher {
					n += float64(tokens)
				}
			}
			return &n
		}
	}
	return chart{ID: "tokens", Title: "Tokens, prompts and answers together", X: "iteration", Bars: true, Labels: roundNames(rounds),
		Series: []series{{Name: "teacher", Look: "teacher", Values: valuesOf(rounds, sum(true))}, {Name: "students and others", Look: "student", Values: valuesOf(rounds, sum(false))}}}.withoutEmpty()
}

// costChart shows what they cost, as far as policies have prices.
func costChart(rounds []round) chart {
	return chart{ID: "cost", Title: "Cost, as far as policies have prices", X: "iteration", Bars: true, Labels: roundNames(rounds),
		Series: []series{{Name: "cost", Look: "ink", Values: valuesOf(rounds, func(r round) *float64 { return new(r.Cost) })}}}.withoutEmpty()
}

// callsChart shows how many of the executed tool calls their tool could carry out.
func callsChart(rounds []round) chart {
	c := chart{ID: "calls", Title: "Tool calls that could be carried out", Note: "a command that exits with an error is carried out", X: "iteration", Unit: "%", From: new(0.0), To: new(100.0), Labels: roundNames(rounds)}
	student := series{Name: "student", Look: "student", Values: valuesOf(rounds, func(r round) *float64 {
		return portion(r.Figures.StudentToolCalls-r.Figures.StudentToolFailures, r.Figures.StudentToolCalls)
	})}
	teacher := series{Name: "teacher", Look: "teacher", Values: valuesOf(rounds, func(r round) *float64 {
		calls := r.Figures.ToolCalls - r.Figures.StudentToolCalls
		return portion(calls-(r.Figures.ToolFailures-r.Figures.StudentToolFailures), calls)
	})}
	c.Series = []series{student, teacher}
	return c
}
