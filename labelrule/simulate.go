package labelrule

import (
	"slices"

	"relabel"
	"relabel/evaluation"
)

// Simulation compares what rules would have asked for, with the decisions that collection with them would
// take at the stored states. It keeps sums, not the trajectories.
type Simulation struct {
	run        relabel.Run
	iterations []relabel.Iteration // the collect iterations
	rules      []*ruleSums
	doubt      []*uncertainty // by iteration; nil unless a rule depends on it
	place      map[relabel.ID]int
	acted      bool // there is a state of the student
}

// ruleSums are the sums of a rule.
type ruleSums struct {
	rule       Rule
	total      *tally
	iterations []*tally
}

// NewSimulation begins a simulation of rules on a run with these iterations. price is the teacher's, nil
// if it has none. CodeInvalid for a rule that has no meaning in the run.
func NewSimulation(run relabel.Run, price *relabel.Price, iterations []relabel.Iteration, rules []Rule) (*Simulation, error) {
	m := &Simulation{run: run, place: map[relabel.ID]int{}}
	for _, it := range iterations {
		if it.Kind == relabel.Collect {
			m.place[it.ID] = len(m.iterations)
			m.iterations = append(m.iterations, it)
		}
	}
	for _, r := range rules {
		if r.EndsRollouts() && run.Recipe != relabel.AggreVaTe {
			return nil, relabel.Errorf(relabel.CodeInvalid,
				"%s ends a rollout some turns after the teacher took over, which happens once in an aggrevate run; this run's recipe is %s", r, run.Recipe).On("rule")
		}
		sums := &ruleSums{rule: r, total: newTally(run, price)}
		for range m.iterations {
			sums.iterations = append(sums.iterations, newTally(run, price))
		}
		m.rules = append(m.rules, sums)
	}
	if slices.ContainsFunc(rules, Rule.NeedsLogprobs) {
		for range m.iterations {
			m.doubt = append(m.doubt, &uncertainty{})
		}
	}
	return m, nil
}

// Add adds the states of a trajectory.
func (m *Simulation) Add(tr relabel.LabelledTrajectory) {
	i, known := m.place[tr.IterationID]
	if !known {
		return
	}
	at := Place{Seed: m.run.Seed, Iteration: m.iterations[i].Number, Instance: tr.InstanceID, Generation: tr.Generation}
	for _, r := range m.rules {
		r.iterations[i].add(r.rule, at, tr)
		r.total.add(r.rule, at, tr)
	}
	for t, s := range tr.States {
		if tr.Executors.At(t+1) == relabel.Teacher {
			continue
		}
		m.acted = true
		if m.doubt != nil {
			m.doubt[i].add(s.Uncertainty)
		}
	}
}

// Result returns the figures. CodeInvalid if a rule needs log-probabilities and no state has them.
func (m *Simulation) Result() (relabel.LabelSimulation, error) {
	out := relabel.LabelSimulation{RunID: m.run.ID, Rules: []relabel.SimulatedRule{}, Uncertainty: []relabel.UncertaintyQuantiles{}}
	known := slices.ContainsFunc(m.doubt, func(u *uncertainty) bool { return len(u.known) > 0 })
	for _, r := range m.rules {
		if r.rule.NeedsLogprobs() && m.acted && !known {
			return out, relabel.Errorf(relabel.CodeInvalid,
				"%s needs log-probabilities of the student's tokens, and no turn of the run has them: its student's server did not return any", r.rule).On("rule")
		}
		result := relabel.SimulatedRule{Rule: r.rule.text, Unbiased: r.rule.Unbiased(), Total: r.total.figures(), Iterations: []relabel.SimulatedIteration{}}
		for i, it := range m.iterations {
			result.Iterations = append(result.Iterations, relabel.SimulatedIteration{IterationID: it.ID, Number: it.Number, SimulatedLabels: r.iterations[i].figures()})
		}
		out.Rules = append(out.Rules, result)
	}
	for i, u := range m.doubt {
		out.Uncertainty = append(out.Uncertainty, u.quantiles(m.iterations[i]))
	}
	return out, nil
}

// tally sums the states of trajectories under a rule.
type tally struct {
	relabel.SimulatedLabels
	acted, labelled   *relabel.Price // of the teacher's actions, and of labels at the student's states
	micros, saved     int64
	recall, precision evaluation.ByTask
	compared, differ  float64 // from all labels
	weighed, estimate float64 // from the selected ones
	squares           float64
}

func newTally(run relabel.Run, price *relabel.Price) *tally {
	t := &tally{acted: price, labelled: price}
	if run.Labels == relabel.LabelsBatch {
		t.labelled = t.labelled.OfBatches()
	}
	return t
}

func (c *tally) add(r Rule, at Place, tr relabel.LabelledTrajectory) {
	c.Trajectories++
	if tr.Cut {
		c.Cut++
	}
	for i, s := range tr.States {
		d := r.Decide(at, tr.Executors, State{T: i + 1, AfterFailure: s.AfterFailure, Uncertainty: s.Uncertainty})
		student := tr.Executors.At(i+1) == relabel.Student
		price := c.acted
		if student {
			c.StudentStates++
			price = c.labelled
		} else {
			c.TeacherStates++
		}
		if s.Status == relabel.NotSelected {
			c.NotAsked++
			continue
		}
		c.answer(s, d, price)
		if student {
			c.student(tr.TaskID, s, d)
		}
	}
}

// answer counts the teacher's answer at a state.
func (c *tally) answer(s relabel.LabelledState, d Decision, price *relabel.Price) {
	kept := 0
	if d.Ask {
		kept = 1
	}
	switch s.Status {
	case relabel.Received:
		c.Labels.All++
		c.Labels.Kept += kept
		c.Weight += d.Weight()
		c.squares += d.Weight() * d.Weight()
	case relabel.Missing:
		c.MissingLabels.All++
		c.MissingLabels.Kept += kept
	}
	c.All.Calls++
	c.Saved.Calls += 1 - kept
	if s.Usage == nil {
		c.WithoutUsage++
		return
	}
	tokens, cost := int64(s.Usage.Tokens()), int64(0)
	if micros := price.CostMicros(s.Usage); micros != nil {
		cost = *micros
	}
	c.All.Tokens += tokens
	c.micros += cost
	if !d.Ask {
		c.Saved.Tokens += tokens
		c.saved += cost
	}
}

// student counts the decision at a state in which the student acted.
func (c *tally) student(task relabel.ID, s relabel.LabelledState, d Decision) {
	c.Expected += d.Chance
	if d.Ask {
		c.Selected++
	}
	if d.Unknown {
		c.Unknown++
	}
	if s.Agrees == nil {
		return
	}
	differs := 0
	if !*s.Agrees {
		differs = 1
	}
	kept := 0
	if d.Ask {
		kept = 1
		c.precision.Add(task, differs, 1)
	}
	if differs > 0 {
		c.recall.Add(task, kept, 1)
	}
	c.compared++
	c.differ += float64(differs)
	c.weighed += d.Weight()
	c.estimate += d.Weight() * float64(differs)
}

// figures are the figures of the sums.
func (c *tally) figures() relabel.SimulatedLabels {
	f := c.SimulatedLabels
	f.Recall, f.Precision = c.recall.Proportion(), c.precision.Proportion()
	if c.acted != nil {
		f.All.Cost, f.Saved.Cost = new(float64(c.micros)/1e6), new(float64(c.saved)/1e6)
	}
	if c.compared > 0 {
		f.Rate = new(c.differ / c.compared)
	}
	if c.weighed > 0 {
		f.Estimate = new(c.estimate / c.weighed)
		f.Error = new(*f.Estimate - *f.Rate)
	}
	if c.squares > 0 {
		f.Effective = c.Weight * c.Weight / c.squares
	}
	return f
}
