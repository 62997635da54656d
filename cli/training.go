package cli

import (
	"fmt"
	"strconv"

	"relabel"
)

// printTraining prints the exports that trained a policy, and the sums of its chain.
func printTraining(training relabel.Training) error {
	fmt.Println()
	if len(training.Steps[0].TrainedOn) == 0 && !training.Steps[0].Untrained {
		fmt.Println("It is not given what trained it (--trained-on, --untrained).")
		return nil
	}
	t := newTable("TRAINED", "EXPORT", "RUN", "EPOCHS", "TRAJECTORIES", "STATES", "")
	for _, step := range training.Steps {
		if step.Untrained {
			t.row(step.Policy, "untrained", "", "", "", "", "")
		}
		for _, on := range step.TrainedOn {
			t.row(step.Policy, on.ExportID, on.Run, epochsText(on), on.Trajectories, on.States, map[bool]string{true: "deleted since"}[on.Deleted])
		}
	}
	if err := t.print(); err != nil {
		return err
	}
	if training.Effective == nil {
		say("effective samples: unknown, because it is not given what trained %s", training.Unknown)
		return nil
	}
	say("effective samples (trajectories × epochs): %s; effective labels (states × epochs): %s",
		numberText(training.Effective.Trajectories), numberText(training.Effective.States))
	return nil
}

// epochsText is the number of epochs, and where it is from unless it was given.
func epochsText(on relabel.TrainedOn) string {
	text := numberText(on.Epochs)
	if on.EpochsFrom == relabel.EpochsTrainer {
		text += " (trainer settings of the run)"
	}
	return text
}

// numberText is a number with at most ten significant digits, which hide the rounding of sums.
func numberText(x float64) string { return fmt.Sprintf("%.10g", x) }

// trainingFlags are the flags of `relabel policy add` that say what trained p.
func trainingFlags(p relabel.Policy) (words []string) {
	for _, on := range p.TrainedOn {
		words = append(words, "--trained-on", on.ExportID.String()+"="+strconv.FormatFloat(on.Epochs, 'f', -1, 64))
	}
	if p.TrainedFrom != nil {
		words = append(words, "--trained-from", p.TrainedFrom.String())
	}
	if p.Untrained {
		words = append(words, "--untrained")
	}
	return words
}
