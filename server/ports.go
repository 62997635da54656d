// Package server is the REST interface: resources under /v1, one file each, made with
// huma on chi, with problem+json errors and an OpenAPI 3.1 description.
package server

import (
	"context"

	"relabel"
)

// Store is the storage of the resources.
type Store interface {
	relabel.TaskStore
	relabel.ImageStore
	relabel.ValidationStore
	relabel.BenchmarkStore
	relabel.ExclusionStore
	relabel.EvaluationStore
	relabel.LocalisationStore
	relabel.PolicyStore
	relabel.WeightStore
	relabel.TokenizerStore
	relabel.ConversationStore
	relabel.RunStore
	relabel.IterationStore
	relabel.SchedulingStore
	relabel.AuditStore
	relabel.WebhookStore
	relabel.EventStore
	relabel.TrajectoryStore
	relabel.ImportStore
	relabel.RegradingStore
	relabel.RelabelingStore
	relabel.ScoringStore
	relabel.JudgingStore
	relabel.DivergenceStore
	relabel.LabelRuleStore
	relabel.ReviewStore
	relabel.FailureModeStore
	relabel.ExportStore
	relabel.IdempotencyStore
	relabel.AccessStore

	// Ping reports whether the database answers.
	Ping(ctx context.Context) error
}

// Planner turns a request for an iteration into one with drawn trajectories, by the
// run's schedule and seed. Errors are CodeInvalid, naming the field.
type Planner func(run relabel.Run, number int, ask relabel.NewIteration, tasks []relabel.Task) (relabel.PlannedIteration, error)

// Weights checks and loads the weights that the servers of policies have. Errors of all methods are those of the
// policy (CodeSecretMissing, CodeInvalid), or CodeEndpoint with the address. Its methods are safe for concurrent
// use.
type Weights interface {
	// Fingerprints takes the fingerprints of a policy's model at each of its addresses, in their order.
	Fingerprints(ctx context.Context, p relabel.Policy) ([]relabel.Fingerprint, error)
	// Load loads weights at every address and returns the model's name and the addresses that did not
	// have them before. If it fails, it has undone what it could.
	Load(ctx context.Context, p relabel.Policy, w relabel.LoadedWeights) (model string, fresh []string, err error)
	// RollBack undoes Load at these addresses. p is the policy before.
	RollBack(ctx context.Context, p relabel.Policy, w relabel.LoadedWeights, bases []string) error
	// LoadedAdapters lists the adapters whose names relabel gave, by address.
	LoadedAdapters(ctx context.Context, p relabel.Policy) (map[string][]string, error)
	UnloadAdapter(ctx context.Context, p relabel.Policy, base, name string) error
}
