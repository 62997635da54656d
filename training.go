package relabel

// TrainedOn is an export that a policy version was trained on. It keeps what the export had, so that
// the fact outlives the export.
type TrainedOn struct {
	ExportID ID     `json:"export_id" doc:"The export."`
	Run      string `json:"run" doc:"Name of the export's run when the policy was registered."`
	// Epochs may be a fraction, since training may stop within an epoch.
	Epochs         float64      `json:"epochs" doc:"Passes over the export."`
	EpochsFrom     EpochsSource `json:"epochs_from" doc:"given: with the policy. trainer: no number was given; it is that of the trainer settings of the export's run."`
	Trajectories   int          `json:"trajectories" doc:"Trajectories with a labelled state in the export."`
	States         int          `json:"states" doc:"Labelled states in the export."`
	ManifestSHA256 string       `json:"manifest_sha256" doc:"SHA-256 of the export's manifest.json, in hex."`
	Deleted        bool         `json:"deleted,omitempty" doc:"Whether the export has been deleted since."`
}

// EpochsSource says where the number of epochs is from.
type EpochsSource string

// The sources.
const (
	EpochsGiven   EpochsSource = "given"   // with the policy
	EpochsTrainer EpochsSource = "trainer" // the trainer settings of the export's run
)

// Trains describes training on the export e of a run; nil epochs are those of the run's trainer
// settings. CodeInvalid, on export or epochs, if e is not done, does not count its trajectories, or has
// no number of epochs.
func (e Export) Trains(run Run, epochs *float64) (TrainedOn, error) {
	on := TrainedOn{ExportID: e.ID, Run: run.Name, EpochsFrom: EpochsGiven, States: e.Rows}
	switch {
	case e.State != ExportDone:
		return on, Errorf(CodeInvalid, "is %s: give an export that is done", e.State).On("export")
	case e.Trajectories == nil:
		return on, Errorf(CodeInvalid, "is of an earlier version, which did not count trajectories: export the same selection again").On("export")
	case epochs != nil:
		on.Epochs = *epochs
	case run.Trainer == nil || run.Trainer.Epochs == 0:
		return on, Errorf(CodeInvalid, "is missing, and the trainer settings of the run %s have none: give the number of epochs", run.Name).On("epochs")
	default:
		on.Epochs, on.EpochsFrom = float64(run.Trainer.Epochs), EpochsTrainer
	}
	on.Trajectories = *e.Trajectories
	for _, f := range e.Files {
		if f.Path == "manifest.json" {
			on.ManifestSHA256 = f.SHA256
		}
	}
	return on, nil
}

// Again describes the same training with other epochs: of an export that was deleted since. nil epochs are
// those of the trainer settings, if on has them.
func (on TrainedOn) Again(epochs *float64) (TrainedOn, error) {
	switch {
	case epochs != nil:
		on.Epochs, on.EpochsFrom = *epochs, EpochsGiven
	case on.EpochsFrom != EpochsTrainer:
		return on, Errorf(CodeInvalid, "is missing, and the export was deleted: give the number of epochs").On("epochs")
	}
	return on, nil
}

// Training sums up what trained a policy version, back to the start of its chain of parents.
type Training struct {
	PolicyID ID `json:"policy_id" doc:"The policy version."`
	// Effective is nil if the training of a policy in the chain is unknown.
	Effective *EffectiveSamples `json:"effective,omitempty" doc:"Sums over the chain; absent if the training of one of its policies is not given."`
	Unknown   string            `json:"unknown,omitempty" doc:"Name and version of the policy at the chain's end whose training is not given."`
	Steps     []TrainingStep    `json:"steps" nullable:"false" doc:"The chain: the policy, the one that its training started from, and so on."`
}

// EffectiveSamples measure how much a policy version was trained (paper 4.3). The paper does not define
// the term: these are our definitions.
type EffectiveSamples struct {
	Trajectories float64 `json:"trajectories" doc:"Effective samples: the sum of trajectories × epochs of all exports."`
	States       float64 `json:"states" doc:"Effective labels: the sum of labelled states × epochs of all exports."`
}

// TrainingStep is one policy version of a chain.
type TrainingStep struct {
	PolicyID  ID               `json:"policy_id" doc:"The policy version."`
	Policy    string           `json:"policy" doc:"Its name and version."`
	Untrained bool             `json:"untrained" doc:"Whether it is said to be untrained."`
	TrainedOn []TrainedOn      `json:"trained_on" nullable:"false" doc:"The exports that it was trained on."`
	Added     EffectiveSamples `json:"added" doc:"What these exports add to the sums."`
}
