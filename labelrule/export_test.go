package labelrule

import "relabel"

// DecideBy is Decide with given numbers instead of those of a place.
func (r Rule) DecideBy(uniform func(purpose string, t int) float64, executors relabel.Executors, s State) Decision {
	return r.decide(uniform, executors, s)
}

// Stored is a run with its trajectories.
type Stored struct {
	Run          relabel.Run
	TeacherPrice *relabel.Price
	Iterations   []relabel.Iteration
	Trajectories []relabel.LabelledTrajectory
}

// Simulate simulates rules on a stored run.
func Simulate(in Stored, rules []Rule) (relabel.LabelSimulation, error) {
	m, err := NewSimulation(in.Run, in.TeacherPrice, in.Iterations, rules)
	if err != nil {
		return relabel.LabelSimulation{}, err
	}
	for _, tr := range in.Trajectories {
		m.Add(tr)
	}
	return m.Result()
}
