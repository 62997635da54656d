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
