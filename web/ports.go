// Package web is the viewer: server-rendered pages, embedded, without a build step.
package web

import (
	"context"
	"time"

	"relabel"
)

// Store is what the pages read; the stores of package relabel document the methods that they share.
type Store interface {
	BeginSession(ctx context.Context, tokenSHA256 string) (secret string, err error)
	CountRun(ctx context.Context, id relabel.ID) (relabel.RunContents, error)
	ListAudit(ctx context.Context, f relabel.AuditFilter, p relabel.Page) (entries []relabel.AuditEntry, next string, err error)
	EndSession(ctx context.Context, sha256 string) error
	ListRuns(ctx context.Context, p relabel.Page) (runs []relabel.Run, next string, err error)
	FindRun(ctx context.Context, id relabel.ID) (relabel.Run, error)
	FindRunByName(ctx context.Context, name string) (relabel.Run, error)
	ListIterations(ctx context.Context, run relabel.ID) ([]relabel.Iteration, error)
	FindIteration(ctx context.Context, id relabel.ID) (relabel.Iteration, relabel.Progress, error)
	FindDraw(ctx context.Context, iteration relabel.ID) (relabel.Draw, error)
	ListFigures(ctx context.Context, run relabel.ID) ([]relabel.Figures, error)
	CountTasks(ctx context.Context, taskset relabel.ID) (open, heldOut int, err error)
	ListWorkers(ctx context.Context) ([]relabel.Worker, error)
	RelabelProgress(ctx context.Context, iteration relabel.ID) ([]relabel.RelabelProgress, error)
	ListSpending(ctx context.Context, run relabel.ID) ([]relabel.Spending, error)
	FindSpent(ctx context.Context, run relabel.ID) (relabel.Spent, error)
	ListTimes(ctx context.Context, run relabel.ID) ([]relabel.IterationTime, error)
	FindIterationTime(ctx context.Context, iteration relabel.ID) (relabel.TimeReport, error)
	FindTask(ctx context.Context, id relabel.ID) (relabel.Task, error)
	FindTaskset(ctx context.Context, id relabel.ID) (relabel.Taskset, error)
	FindTasksetByName(ctx context.Context, name string) (relabel.Taskset, error)
	ListTasksets(ctx context.Context, p relabel.Page) (sets []relabel.Taskset, next string, err error)
	FindTaskByInstance(ctx context.Context, taskset relabel.ID, instance string) (relabel.Task, error)
	// ListTaskHeads lists a taskset's tasks by instance id, ListGrid those of a run with what
	// came of them in each iteration; part is one of the instance id, "" for all.
	ListTaskHeads(ctx context.Context, taskset relabel.ID, f relabel.TaskFilter, p relabel.Page) (tasks []relabel.TaskHead, next string, err error)
	ListGrid(ctx context.Context, run relabel.ID, part string, p relabel.Page) (g relabel.Grid, next string, err error)
	// ListTokenizers lists the versions of registered tokenizers, newest first.
	ListTokenizers(ctx context.Context, p relabel.Page) (list []relabel.Tokenizer, next string, err error)
	ListPolicies(ctx context.Context, p relabel.Page) (policies []relabel.Policy, next string, err error)
	ListExports(ctx context.Context, f relabel.ExportFilter, p relabel.Page) (exports []relabel.Export, next string, err error)
	FindExport(ctx context.Context, id relabel.ID) (relabel.Export, error)
	// ListHolding lists which of a run's newest finished exports, so many, selected a
	// trajectory, and into which part it was put; FindExportPart says which files that has.
	ListHolding(ctx context.Context, run, trajectory relabel.ID, newest int) ([]relabel.Holding, error)
	FindExportPart(ctx context.Context, id relabel.ID, number int) (relabel.ExportPart, error)
	CountSelected(ctx context.Context, export relabel.ID) ([]relabel.SelectedIteration, error)
	FindPolicy(ctx context.Context, id relabel.ID) (relabel.Policy, error)
	FindTrajectory(ctx context.Context, id relabel.ID) (relabel.Trajectory, error)
	ListTrajectories(ctx context.Context, f relabel.TrajectoryFilter, sort relabel.TrajectorySort, p relabel.Page) (relabel.TrajectoryPage, error)
	// SearchTexts looks for a text in what those trajectories hold, as far as it comes.
	SearchTexts(ctx context.Context, f relabel.TrajectoryFilter, sort relabel.TrajectorySort, ask relabel.TextSearch) (relabel.TextPage, error)
	ListAttempts(ctx context.Context, trajectory relabel.ID) ([]relabel.Attempt, error)
	// ListHeads returns the heads of all turns of an attempt, in order.
	ListHeads(ctx context.Context, trajectory relabel.ID, attempt int) ([]relabel.TurnHead, error)
	// ListExcerpts returns its turns t with from ≤ t < to, with the ends of their observations.
	ListExcerpts(ctx context.Context, trajectory relabel.ID, attempt, from, to, head, tail int) ([]relabel.TurnExcerpt, error)
	// EachAction gives take what was executed at each turn, nil where that is too long.
	EachAction(ctx context.Context, trajectory relabel.ID, attempt int, take func(t int, m *relabel.Message) error) error
	ListAttemptTurns(ctx context.Context, trajectory relabel.ID, attempt, from, to int) ([]relabel.Turn, error)
	ListTurnCalls(ctx context.Context, trajectory relabel.ID, from, to int) ([]relabel.Call, error)
	FindPatch(ctx context.Context, trajectory relabel.ID) ([]byte, error)
	FindVerdict(ctx context.Context, trajectory relabel.ID) (relabel.Verdict, error)
	// ListVerdicts lists a trajectory's verdicts, the newest first, without their output.
	ListVerdicts(ctx context.Context, trajectory relabel.ID) ([]relabel.Verdict, error)
	// RegradeProgress sums up a selection's verdicts and regradings. CodeConflict where no
	// selected trajectory is done.
	// RegradeCounts is RegradeProgress without the time that verdicts took.
	RegradeCounts(ctx context.Context, sel relabel.RegradeSelection) (relabel.RegradeProgress, error)
	RegradeProgress(ctx context.Context, sel relabel.RegradeSelection) (relabel.RegradeProgress, error)
	FindReview(ctx context.Context, trajectory, id relabel.ID) (relabel.Review, error)
	ListReviews(ctx context.Context, f relabel.ReviewFilter, p relabel.Page) (list []relabel.Review, next string, err error)
	// ListFlags lists the flags in use in a run (nil: in all), the most frequent first.
	ListFlags(ctx context.Context, run *relabel.ID) ([]relabel.FlagCount, error)
	FindPolicyByName(ctx context.Context, name string) (relabel.Policy, error)
	// ListVersions lists the versions of a name, the newest first. ListHealth says how policies
	// fare, in their order; ListFailedCalls, which calls came to nothing, the newest first.
	ListVersions(ctx context.Context, name string) ([]relabel.Policy, error)
	ListHealth(ctx context.Context, policies []relabel.Policy) ([]relabel.PolicyHealth, error)
	ListFailedCalls(ctx context.Context, policy relabel.ID, limit int) ([]relabel.Call, error)
	ListModels(ctx context.Context, policy relabel.ID) ([]relabel.ModelSeen, error)
	ListPolicySpending(ctx context.Context, policy relabel.ID, p relabel.Page) (runs []relabel.RunSpending, next string, err error)
}

// Attempts says how long a caller has to wait before its token is looked at, and is told
// what came of it. server.Attempts is one.
type Attempts interface {
	Wait(remoteAddr, sha256 string) time.Duration
	Failed(remoteAddr, sha256 string)
	Succeeded(remoteAddr, sha256 string)
}

// Exports reads the rows of finished exports, wherever their files are.
type Exports interface {
	// Manifest is what an export says of itself. CodeConflict as below.
	Manifest(ctx context.Context, e relabel.Export) (relabel.Manifest, error)
	// Row reads row n of a view, from 0. CodeNotFound where there is none, CodeConflict where
	// the files are in another machine's folder.
	Row(ctx context.Context, e relabel.Export, view relabel.View, n int) (relabel.ShownRow, error)
	// Holds lists the labels of a trajectory with the rows that hold them, in the order of
	// rows, from the files that in lets through.
	Holds(ctx context.Context, e relabel.Export, view relabel.View, trajectory relabel.ID, in func(path string) bool) ([]relabel.HeldLabel, error)
}
