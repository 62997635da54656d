package labelrule

import (
	"context"

	"relabel"
)

// Store reads a run with what a simulation depends on.
type Store interface {
	relabel.LabelRuleStore
	ListIterations(ctx context.Context, run relabel.ID) ([]relabel.Iteration, error)
	FindPolicy(ctx context.Context, id relabel.ID) (relabel.Policy, error)
}

// Simulated are the rules of a simulation that names none.
var Simulated = []string{"all", "every:2", "every:4", "after_failure", "first_after_parting:3"}

// Report simulates rules on a run's stored labels; Simulated if there are none. Errors of rules are
// CodeInvalid and name the field rule.
func Report(ctx context.Context, s Store, run relabel.Run, texts []string) (relabel.LabelSimulation, error) {
	if len(texts) == 0 {
		texts = Simulated
	}
	var rules []Rule
	logprobs := false
	for _, text := range texts {
		r, err := Parse(relabel.LabelRule(text), "rule")
		if err != nil {
			return relabel.LabelSimulation{}, err
		}
		rules, logprobs = append(rules, r), logprobs || r.NeedsLogprobs()
	}
	m, err := simulation(ctx, s, run, rules)
	if err != nil {
		return relabel.LabelSimulation{}, err
	}
	err = s.EachLabelledTrajectory(ctx, run.ID, logprobs, func(tr relabel.LabelledTrajectory) error {
		m.Add(tr)
		return nil
	})
	if err != nil {
		return relabel.LabelSimulation{}, err
	}
	return m.Result()
}

// simulation begins a simulation with the run's iterations and the teacher's price.
func simulation(ctx context.Context, s Store, run relabel.Run, rules []Rule) (*Simulation, error) {
	var price *relabel.Price
	if run.HasTeacher() {
		teacher, err := s.FindPolicy(ctx, run.TeacherID)
		if err != nil {
			return nil, err
		}
		price = teacher.Price
	}
	iterations, err := s.ListIterations(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	return NewSimulation(run, price, iterations, rules)
}
