package api

import "relabel"

// WeightChecks are checks of weights.
type WeightChecks struct {
	Checks []relabel.WeightCheck `json:"checks" nullable:"false" doc:"The checks, newest first."`
}

// NewWeights are weights to load into the servers of a policy.
type NewWeights struct {
	SHA256      string              `json:"sha256" minLength:"64" maxLength:"64" doc:"SHA-256 of the output of sha256sum for the files of the folder that change what the model computes, in the order of their names. The name of the weights on the servers is made of it."`
	Kind        relabel.WeightsKind `json:"kind" enum:"adapter,checkpoint" doc:"adapter: a LoRA adapter beside the base model. checkpoint: all weights, in the place of those that the servers have; refused while a running iteration uses one of the addresses."`
	Path        string              `json:"path" minLength:"1" maxLength:"4096" doc:"The folder, as the servers name it."`
	TrainedOn   []NewTrainedOn      `json:"trained_on,omitempty" maxItems:"1000" doc:"The exports that the model was trained on since trained_from, as for a new policy."`
	TrainedFrom string              `json:"trained_from,omitempty" maxLength:"200" doc:"The policy version that this training started from, as for a new policy."`
	Untrained   bool                `json:"untrained,omitempty" doc:"The model is the start of training, as for a new policy."`
}

// LoadedPolicy is the version of a policy whose weights were loaded.
type LoadedPolicy struct {
	relabel.Policy
	Check       relabel.WeightCheck `json:"check" doc:"The check of the loaded weights at all addresses."`
	LoadedAt    []string            `json:"loaded_at" nullable:"false" doc:"Addresses that did not have the weights before."`
	Unloaded    []string            `json:"unloaded,omitempty" doc:"Names of adapters that relabel had loaded for earlier versions and that nothing uses; they were unloaded. Absent: none."`
	NotUnloaded []string            `json:"not_unloaded,omitempty" doc:"Why adapters could not be unloaded; absent: nothing failed."`
}
