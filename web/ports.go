// Package web is the viewer: server-rendered pages, embedded, without a build step.
package web

import (
	"context"
	"time"

	"relabel"
)

// Store is what the pages read. They change data through [Config.REST] alone.
type Store interface {
	relabel.AuditStore
	relabel.RunStore
	relabel.IterationStore
	relabel.SchedulingStore
	relabel.TaskStore
	relabel.ImageStore
	relabel.ValidationStore
	relabel.BenchmarkStore
	relabel.ExclusionStore
	relabel.EvaluationStore
	relabel.LocalisationStore
	relabel.TokenizerStore
	relabel.PolicyStore
	relabel.WeightStore
	relabel.ExportStore
	relabel.TrajectoryStore
	relabel.RelabelingStore
	relabel.ScoringStore
	relabel.JudgingStore
	relabel.DivergenceStore
	relabel.LabelRuleStore
	relabel.RegradingStore
	relabel.ReviewStore
	relabel.FailureModeStore
	relabel.WebhookStore

	BeginSession(ctx context.Context, tokenSHA256 string) (secret string, err error)
	EndSession(ctx context.Context, sha256 string) error
	ListFigures(ctx context.Context, run relabel.ID) ([]relabel.Figures, error)
	ListSpending(ctx context.Context, run relabel.ID) ([]relabel.Spending, error)
	FindIterationTime(ctx context.Context, iteration relabel.ID) (relabel.TimeReport, error)
	FindTaskByInstance(ctx context.Context, taskset relabel.ID, instance string) (relabel.Task, error)
	// ListTaskHeads lists a taskset's tasks by instance id.
	ListTaskHeads(ctx context.Context, taskset relabel.ID, f relabel.TaskFilter, p relabel.Page) (tasks []relabel.TaskHead, next string, err error)
	// ListGrid lists a run's tasks with their outcomes in each iteration; part is contained in
	// the instance id, "" for all.
	ListGrid(ctx context.Context, run relabel.ID, part string, p relabel.Page) (g relabel.Grid, next string, err error)
	// ListHolding lists which of a run's newest finished exports selected a trajectory, each with
	// the number of the part that contains it.
	ListHolding(ctx context.Context, run, trajectory relabel.ID, newest int) ([]relabel.Holding, error)
	FindExportPart(ctx context.Context, id relabel.ID, number int) (relabel.ExportPart, error)
	CountSelected(ctx context.Context, export relabel.ID) ([]relabel.SelectedIteration, error)
	// ListHeads returns the heads of all turns of an attempt, in order.
	ListHeads(ctx context.Context, trajectory relabel.ID, attempt int) ([]relabel.TurnHead, error)
	// ListExcerpts returns its turns t with from ≤ t < to, with the ends of their observations.
	ListExcerpts(ctx context.Context, trajectory relabel.ID, attempt, from, to, head, tail int) ([]relabel.TurnExcerpt, error)
	// EachAction passes the action executed at each turn to take, nil if it is too long.
	EachAction(ctx context.Context, trajectory relabel.ID, attempt int, take func(t int, m *relabel.Message) error) error
	ListAttemptTurns(ctx context.Context, trajectory relabel.ID, attempt, from, to int) ([]relabel.Turn, error)
	ListTurnCalls(ctx context.Context, trajectory relabel.ID, from, to int) ([]relabel.Call, error)
	// RegradeCounts is RegradeProgress without the time that verdicts took.
	RegradeCounts(ctx context.Context, sel relabel.RegradeSelection) (relabel.RegradeProgress, error)
	// ListFlags lists the flags in use in a run (nil: in all), the most frequent first.
	ListFlags(ctx context.Context, run *relabel.ID) ([]relabel.FlagCount, error)
	// ListVersions lists the versions of a policy's name, newest first.
	ListVersions(ctx context.Context, name string) ([]relabel.Policy, error)
	// ListHealth returns the health of policies, in their order.
	ListHealth(ctx context.Context, policies []relabel.Policy) ([]relabel.PolicyHealth, error)
	// ListFailedCalls lists a policy's failed calls, newest first.
	ListFailedCalls(ctx context.Context, policy relabel.ID, limit int) ([]relabel.Call, error)
	ListPolicySpending(ctx context.Context, policy relabel.ID, p relabel.Page) (runs []relabel.RunSpending, next string, err error)
}

// Attempts limits how fast tokens can be guessed. server.Attempts implements it.
type Attempts interface {
	// Wait returns how long a caller must wait before its token is checked.
	Wait(remoteAddr, sha256 string) time.Duration
	Failed(remoteAddr, sha256 string)
	Succeeded(remoteAddr, sha256 string)
}

// Exports reads the rows of finished exports, wherever their files are.
type Exports interface {
	// Manifest returns an export's manifest. CodeConflict as below.
	Manifest(ctx context.Context, e relabel.Export) (relabel.Manifest, error)
	// Row reads row n of a view, from 0. CodeNotFound if there is none, CodeConflict if
	// the files are in another machine's folder.
	Row(ctx context.Context, e relabel.Export, view relabel.View, n int) (relabel.ShownRow, error)
	// Holds lists the labels of a trajectory with the rows that contain them, in the order of
	// rows, from the files that in accepts.
	Holds(ctx context.Context, e relabel.Export, view relabel.View, trajectory relabel.ID, in func(path string) bool) ([]relabel.HeldLabel, error)
}
