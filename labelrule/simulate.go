package labelrule

import (
	"slices"

	"relabel"
	"relabel/evaluation"
)

// Stored is what a simulation needs of a run.
type Stored struct {
	Run          relabel.Run
	TeacherPrice *relabel.Price
	Iterations   []relabel.Iteration
	Trajectories []relabel.LabelledTrajectory
}

// Simulate compares what the rules would have asked for, with the decisions that collection with them
// would have taken at the stored states. Errors are CodeInvalid: a rule that the run's states cannot decide.
func Simulate(in Stored, rules []Rule) (relabel.LabelSimulation, error) {
	out := relabel.LabelSimulation{RunID: in.Run.ID, Rules: []relabel.SimulatedRule{}, Uncertainty: []relabel.UncertaintyQuantiles{}}
	for _, r := range rules {
		if err := in.check(r); err != nil {
			return out, err
		}
		out.Rules = append(out.Rules, in.simulate(r))
	}
	if slices.ContainsFunc(rules, Rule.NeedsLogprobs) {
		out.Uncertainty = in.uncertainties()
	}
	return out, nil
}

// check returns CodeInvalid if the run's states cannot decide the rule.
func (in Stored) check(r Rule) error {
	if r.EndsRollouts() && in.Run.Recipe != relabel.AggreVaTe {
		return relabel.Errorf(relabel.CodeInvalid,
			"%s ends a rollout some turns after the teacher took over, which happens once in an aggrevate run; this run's recipe is %s", r, in.Run.Recipe).On("rule")
	}
	if !r.NeedsLogprobs() {
		return nil
	}
	acted := false
	for _, tr := range in.Trajectories {
		for t, s := range tr.States {
			student := tr.Executors.At(t+1) == relabel.Student
			acted = acted || student
			if student && s.Uncertainty != nil {
				return nil
			}
		}
	}
	if !acted {
		return nil
	}
	return relabel.Errorf(relabel.CodeInvalid,
		"%s needs log-probabilities of the student's tokens, and no turn of the run has them: its student's server did not return any", r).On("rule")
}

func (in Stored) simulate(r Rule) relabel.SimulatedRule {
	result := relabel.SimulatedRule{Rule: r.text, Unbiased: r.Unbiased(), Iterations: []relabel.SimulatedIteration{}}
	total := newTally(in)
	for _, it := range in.collected() {
		sum := newTally(in)
		for _, tr := range in.Trajectories {
			if tr.IterationID == it.ID {
				at := Place{Seed: in.Run.Seed, Iteration: it.Number, Instance: tr.InstanceID, Generation: tr.Generation}
				sum.add(r, at, tr)
				total.add(r, at, tr)
			}
		}
		result.Iterations = append(result.Iterations, relabel.SimulatedIteration{IterationID: it.ID, Number: it.Number, SimulatedLabels: sum.figures()})
	}
	result.Total = total.figures()
	return result
}

// collected are the collect iterations.
func (in Stored) collected() (its []relabel.Iteration) {
	for _, it := range in.Iterations {
		if it.Kind == relabel.Collect {
			its = append(its, it)
		}
	}
	return its
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

func newTally(in Stored) *tally {
	t := &tally{acted: in.TeacherPrice, labelled: in.TeacherPrice}
	if in.Run.Labels == relabel.LabelsBatch {
		t.labelled = t.labelled.OfBatches()
	}
	return t
}

func (c *tally) add(r Rule, at Place, tr relabel.LabelledTrajectory) {
	c.Trajectories++
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
		f.Bias = new(*f.Estimate - *f.Rate)
	}
	if c.squares > 0 {
		f.Effective = c.Weight * c.Weight / c.squares
	}
	return f
}
