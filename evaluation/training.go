package evaluation

import (
	"fmt"

	"relabel"
)

// Training sums up what trained the first policy of a chain, as relabel.PolicyStore.ListTrainingChain
// lists it.
func Training(chain []relabel.Policy) relabel.Training {
	t := relabel.Training{PolicyID: chain[0].ID, Steps: []relabel.TrainingStep{}}
	var sum relabel.EffectiveSamples
	for _, p := range chain {
		step := trainingStep(p)
		sum.Trajectories += step.Added.Trajectories
		sum.States += step.Added.States
		t.Steps = append(t.Steps, step)
	}
	if last := chain[len(chain)-1]; len(last.TrainedOn) == 0 && !last.Untrained {
		t.Unknown = nameOf(last)
		return t
	}
	t.Effective = &sum
	return t
}

func trainingStep(p relabel.Policy) relabel.TrainingStep {
	step := relabel.TrainingStep{PolicyID: p.ID, Policy: nameOf(p), Untrained: p.Untrained, TrainedOn: []relabel.TrainedOn{}}
	for _, on := range p.TrainedOn {
		step.TrainedOn = append(step.TrainedOn, on)
		step.Added.Trajectories += float64(on.Trajectories) * on.Epochs
		step.Added.States += float64(on.States) * on.Epochs
	}
	return step
}

// nameOf is the name of a policy with its version.
func nameOf(p relabel.Policy) string { return fmt.Sprintf("%s@%d", p.Name, p.Version) }
