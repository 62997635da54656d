package chart

import (
	"fmt"
	"math"
	"slices"

	"relabel"
)

// Round is an iteration with the figures that charts and tables show.
type Round struct {
	relabel.Iteration
	Figures relabel.Figures
	Tokens  map[relabel.ID]int64 // by policy
	Cost    float64
}

// portion is n of all as a percentage, nil if all is 0.
func portion(n, all int) *float64 {
	if all == 0 {
		return nil
	}
	return new(100 * float64(n) / float64(all))
}

// OfKind returns the rounds of one kind, in order.
func OfKind(all []Round, kind relabel.IterationKind) (some []Round) {
	for _, r := range all {
		if r.Kind == kind {
			some = append(some, r)
		}
	}
	return some
}

func valuesOf(rounds []Round, value func(Round) *float64) (all []*float64) {
	for _, r := range rounds {
		all = append(all, value(r))
	}
	return all
}

// Mixture compares the planned mixture with the realised one.
func Mixture(run relabel.Run, collects []Round) Chart {
	c := Chart{ID: "mixture", X: "iteration", Labels: roundNames(collects)}
	if run.Rho != nil {
		c.Title, c.Note, c.Unit = "Student prefix κ, in turns", "mean of the drawn κ, and of the prefix turns that the student executed; a trajectory may end before its prefix does", "turns"
		c.Series = []Series{
			{Name: "drawn", Look: "ink", Values: valuesOf(collects, func(r Round) *float64 { return r.Figures.KappaDrawn })},
			{Name: "run", Look: "student", Values: valuesOf(collects, func(r Round) *float64 { return r.Figures.KappaRun })},
		}
		return c
	}
	c.Title, c.Note, c.Unit = "Turns executed by the teacher", "planned βi with its 95% interval, and the realised share", "%"
	planned := Series{Name: "planned β", Look: "ink"}
	for _, r := range collects {
		if r.Beta == nil {
			planned.Values, planned.Low, planned.High = append(planned.Values, nil), append(planned.Low, nil), append(planned.High, nil)
			continue
		}
		low, high := bandOf(*r.Beta, r.Figures.Progress.Turns)
		planned.Values, planned.Low, planned.High = append(planned.Values, new(100**r.Beta)), append(planned.Low, low), append(planned.High, high)
	}
	c.Series = []Series{planned, {Name: "realised", Look: "teacher", Values: valuesOf(collects, func(r Round) *float64 {
		return portion(r.Figures.Progress.TeacherTurns, r.Figures.Progress.Turns)
	})}}
	return c
}

// bandOf is the 95% interval, in percent, of the share of n draws with probability p, by the
// normal approximation of the binomial; nil without draws.
func bandOf(p float64, n int) (low, high *float64) {
	if n == 0 {
		return nil, nil
	}
	half := 1.96 * math.Sqrt(p*(1-p)/float64(n))
	return new(100 * max(0, p-half)), new(100 * min(1, p+half))
}

// Resolved shows the share of trajectories with a verdict that are resolved, for mixtures and
// for the student alone.
func Resolved(all []Round) Chart {
	c := Chart{ID: "resolved", Title: "Resolved, of those with a verdict", Note: "resolved means submitted and passed; infrastructure errors are not counted", X: "iteration", Unit: "%"}
	return c.byNumber(all, func(p relabel.Progress) *float64 { return portion(p.Resolved, p.Verified) })
}

// Scores shows the mean score of trajectories of tasks to localise as Resolved shows its share.
func Scores(all []Round) Chart {
	c := Chart{ID: "scores", Title: "Mean score", Note: "nDCG of the ranked answers, 0 without one; infrastructure errors are not counted", X: "iteration"}
	return c.byNumber(all, func(p relabel.Progress) *float64 { return p.MeanScore })
}

// Hits shows the share of scored trajectories whose answer names a gold location.
func Hits(all []Round) Chart {
	c := Chart{ID: "hits", Title: "Answers with a hit, of the scored trajectories", Note: "that name at least one gold location", X: "iteration", Unit: "%"}
	return c.byNumber(all, func(p relabel.Progress) *float64 { return portion(p.Hit, p.Scored) })
}

// byNumber gives the chart a line of values for each kind of iteration, by its number.
func (c Chart) byNumber(all []Round, value func(relabel.Progress) *float64) Chart {
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
	}{{relabel.Collect, "mixture", "passed"}, {relabel.Evaluate, "student alone", "student"}, {relabel.Sample, "student, sampled", "ink"}} {
		s := Series{Name: of.name, Look: of.look, Values: make([]*float64, last)}
		for _, r := range OfKind(all, of.kind) {
			s.Values[r.Number-1] = value(r.Figures.Progress)
		}
		if (Chart{Series: []Series{s}}).Drawn() {
			c.Series = append(c.Series, s)
		}
	}
	return c
}

// Agreement shows the share of the student's actions that equal their label.
func Agreement(collects []Round) Chart {
	return Chart{ID: "agreement", Title: "Student actions equal to their label", Note: "among student turns that have a label", X: "iteration", Unit: "%",
		Labels: roundNames(collects), Series: []Series{{Name: "agreement", Look: "agree", Values: valuesOf(collects, func(r Round) *float64 { return portion(r.Figures.Agreed, r.Figures.Compared) })}}}
}

var turnLooks = []string{"agree", "ink", "dim"}

// Turn shows agreement by turn, one line for each of the newest iterations. Long
// trajectories have several turns per point.
func Turn(collects []Round) Chart {
	c := Chart{ID: "by-turn", Title: "Agreement by turn", X: "turn", Unit: "%"}
	newest := collects[max(0, len(collects)-len(turnLooks)):]
	last := 0
	for _, r := range newest {
		last = max(last, len(r.Figures.ByTurn))
	}
	step := stepOf(last)
	c.Labels = spans(last, step)
	for _, r := range slices.Backward(newest) {
		s := Series{Name: fmt.Sprintf("iteration %d", r.Number), Look: turnLooks[len(c.Series)]}
		for i := range c.Labels {
			sum := between(r.Figures, i*step, (i+1)*step)
			s.Values = append(s.Values, portion(sum.Agreed, sum.Compared))
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// stepOf is the number of turns per point, such that a chart has at most forty points.
func stepOf(turns int) int {
	step := 1
	for turns > 40*step {
		step += 5 - step%5 // 1, 5, 10, …
	}
	return step
}

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

// between sums the figures of turns from+1 to to.
func between(f relabel.Figures, from, to int) (sum relabel.TurnFigures) {
	for _, t := range f.ByTurn[min(from, len(f.ByTurn)):min(to, len(f.ByTurn))] {
		sum.Turns += t.Turns
		sum.TeacherTurns += t.TeacherTurns
		sum.Compared += t.Compared
		sum.Agreed += t.Agreed
	}
	return sum
}

// Ends shows how trajectories ended; word names an end.
func Ends(rounds []Round, word func(relabel.EndReason) string) Chart {
	c := Chart{ID: "ends", Title: "How trajectories ended", Note: "infrastructure errors are not caused by the agent", X: "iteration", Bars: true, Labels: roundNames(rounds)}
	for _, of := range []struct {
		reason relabel.EndReason
		look   string
	}{{relabel.EndFinish, "dim"}, {relabel.EndMaxTurns, "ink"}, {relabel.EndContext, "context"}, {relabel.EndWallClock, "limit"}, {relabel.EndNoCall, "failed"}, {relabel.EndDisk, "limit"}, {relabel.EndSandboxBroken, "failed"}, {relabel.EndTeacherTurns, "teacher"}, {relabel.EndPromptTooLong, "context"}} {
		c.Series = append(c.Series, Series{Name: word(of.reason), Look: of.look, Values: valuesOf(rounds, func(r Round) *float64 { return new(float64(r.Figures.EndReasons[of.reason])) })})
	}
	c.Series = append(c.Series, Series{Name: "infrastructure error", Look: "infra", Values: valuesOf(rounds, func(r Round) *float64 {
		return new(float64(r.Figures.Progress.Trajectories[relabel.Failed]))
	})})
	return c.withoutEmpty()
}

// withoutEmpty removes series without a value above 0.
func (c Chart) withoutEmpty() Chart {
	c.Series = slices.DeleteFunc(c.Series, func(s Series) bool {
		return !slices.ContainsFunc(s.Values, func(v *float64) bool { return v != nil && *v > 0 })
	})
	return c
}

func roundNames(rounds []Round) (names []string) {
	for _, r := range rounds {
		name := fmt.Sprint(r.Number)
		switch r.Kind {
		case relabel.Evaluate:
			name = "eval " + name
		case relabel.Sample:
			name = "sample " + name
		}
		names = append(names, name)
	}
	return names
}

// Tokens shows the tokens used by the teacher and by the other policies.
func Tokens(run relabel.Run, rounds []Round) Chart {
	sum := func(teacher bool) func(Round) *float64 {
		return func(r Round) *float64 {
			n := 0.0
			for policy, tokens := range r.Tokens {
				if (policy == run.TeacherID) == teacher {
					n += float64(tokens)
				}
			}
			return &n
		}
	}
	return Chart{ID: "tokens", Title: "Tokens, prompt and completion", X: "iteration", Bars: true, Labels: roundNames(rounds),
		Series: []Series{{Name: "teacher", Look: "teacher", Values: valuesOf(rounds, sum(true))}, {Name: "students and others", Look: "student", Values: valuesOf(rounds, sum(false))}}}.withoutEmpty()
}

// Cost shows the cost of calls to policies with prices.
func Cost(rounds []Round) Chart {
	return Chart{ID: "cost", Title: "Cost of policies with prices", X: "iteration", Bars: true, Labels: roundNames(rounds),
		Series: []Series{{Name: "cost", Look: "ink", Values: valuesOf(rounds, func(r Round) *float64 { return new(r.Cost) })}}}.withoutEmpty()
}

// Calls shows the share of executed tool calls that did not fail.
func Calls(rounds []Round) Chart {
	c := Chart{ID: "calls", Title: "Tool calls executed without a tool failure", Note: "a command that exits with an error counts as executed", X: "iteration", Unit: "%", Labels: roundNames(rounds)}
	student := Series{Name: "student", Look: "student", Values: valuesOf(rounds, func(r Round) *float64 {
		return portion(r.Figures.StudentToolCalls-r.Figures.StudentToolFailures, r.Figures.StudentToolCalls)
	})}
	teacher := Series{Name: "teacher", Look: "teacher", Values: valuesOf(rounds, func(r Round) *float64 {
		calls := r.Figures.ToolCalls - r.Figures.StudentToolCalls
		return portion(calls-(r.Figures.ToolFailures-r.Figures.StudentToolFailures), calls)
	})}
	c.Series = []Series{student, teacher}
	return c
}

// Compared shows by turn how many labels of an iteration are compared.
func Compared(of Round) Chart {
	last := len(of.Figures.ByTurn)
	step := stepOf(last)
	c := Chart{ID: "turns", Title: "Labels compared, by turn", Note: "few trajectories reach late turns, so agreement varies widely there", X: "turn", Bars: true, Labels: spans(last, step)}
	counts := Series{Name: "student turns with a label", Look: "student"}
	for i := range c.Labels {
		counts.Values = append(counts.Values, new(float64(between(of.Figures, i*step, (i+1)*step).Compared)))
	}
	c.Series = []Series{counts}
	return c.withoutEmpty()
}
