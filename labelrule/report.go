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
	stored, err := read(ctx, s, run, logprobs)
	if err != nil {
		return relabel.LabelSimulation{}, err
	}
	return Simulate(stored, rules)
}

func read(ctx context.Context, s Store, run relabel.Run, logprobs bool) (Stored, error) {
	stored := Stored{Run: run}
	if run.HasTeacher() {
		teacher, err := s.FindPolicy(ctx, run.TeacherID)
		if err != nil {
			return stored, err
		}
		stored.TeacherPrice = teacher.Price
	}
	var err error
	if stored.Iterations, err = s.ListIterations(ctx, run.ID); err != nil {
		return stored, err
	}
	stored.Trajectories, err = s.ListLabelledTrajectories(ctx, run.ID, logprobs)
	return stored, err
}
