// Package server is the REST interface: resources under /v1, one file each, made with
// huma on chi, with problem+json errors and an OpenAPI 3.1 description.
package server

import (
	"context"
	"io"

	"relabel"
	"relabel/tasks"
)

// Store is what the resources read and write. Lists return the key of the next page,
// "" at the end. Errors carry relabel codes: CodeNotFound, CodeConflict, CodeInvalid.
// All methods are safe for concurrent use.
type Store interface {
	CreateTaskset(ctx context.Context, set relabel.Taskset, tasks []relabel.Task) error
	FindTaskset(ctx context.Context, id relabel.ID) (relabel.Taskset, error)
	FindTasksetByName(ctx context.Context, name string) (relabel.Taskset, error)
	ListTasksets(ctx context.Context, p relabel.Page) (sets []relabel.Taskset, next string, err error)
	ListTasks(ctx context.Context, taskset relabel.ID, p relabel.Page) (tasks []relabel.Task, next string, err error)
	// ListTaskNames lists all tasks of a taskset with nothing but id, instance id and whether
	// they are held out, in the byte order of their instance ids.
	ListTaskNames(ctx context.Context, taskset relabel.ID) ([]relabel.Task, error)
	FindTask(ctx context.Context, id relabel.ID) (relabel.Task, error)

	// CreatePolicy stores a new version under the policy's name and returns it with its
	// version and time. The same definition as the newest version returns that one.
	CreatePolicy(ctx context.Context, p relabel.Policy) (relabel.Policy, error)
	FindPolicy(ctx context.Context, id relabel.ID) (relabel.Policy, error)
	// FindPolicyByName returns the newest version, or the one asked for as name@version.
	FindPolicyByName(ctx context.Context, name string) (relabel.Policy, error)
	// ListModels lists the models that answered for a policy, address by address in the
	// order they were first seen.
	ListModels(ctx context.Context, policy relabel.ID) ([]relabel.ModelSeen, error)
	ListPolicies(ctx context.Context, p relabel.Page) (policies []relabel.Policy, next string, err error)

	// CreateTokenizer registers files as the next version of a name. The same files as the
	// newest version return that one.
	CreateTokenizer(ctx context.Context, name string, files relabel.TokenizerFiles) (relabel.Tokenizer, error)
	// FindTokenizer finds by name (the newest version), name@version or hash.
	FindTokenizer(ctx context.Context, word string) (relabel.Tokenizer, error)
	// ReadTokenizerFile returns at most limit bytes of a file from a position on.
	ReadTokenizerFile(ctx context.Context, hash, name string, from int64, limit int) ([]byte, error)
	ListTokenizers(ctx context.Context, p relabel.Page) (list []relabel.Tokenizer, next string, err error)
	// DeleteTokenizer forgets a name. CodeConflict where a policy or an export that is not
	// over uses its files.
	DeleteTokenizer(ctx context.Context, name string) error

	// CreateRun stores a run. CodeConflict when another one has the name.
	CreateRun(ctx context.Context, r relabel.Run) error
	FindRun(ctx context.Context, id relabel.ID) (relabel.Run, error)
	FindRunByName(ctx context.Context, name string) (relabel.Run, error)
	ListRuns(ctx context.Context, p relabel.Page) (runs []relabel.Run, next string, err error)

	// CountRun says what a run consists of. BeginDeletion marks it as being deleted:
	// CodeConflict while an iteration runs or an export is built. FinishDeletion deletes a
	// marked run piece by piece; what it has deleted when ctx ends stays deleted.
	CountRun(ctx context.Context, id relabel.ID) (relabel.RunContents, error)
	BeginDeletion(ctx context.Context, run relabel.ID) error
	FinishDeletion(ctx context.Context, run relabel.ID) error

	// CreateIteration stores an iteration with its trajectories and queues a job for
	// each, in one transaction. CodeConflict when the number is taken.
	CreateIteration(ctx context.Context, p relabel.PlannedIteration) error
	FindIteration(ctx context.Context, id relabel.ID) (relabel.Iteration, relabel.Progress, error)
	// FindDraw returns what an iteration rolls out.
	FindDraw(ctx context.Context, iteration relabel.ID) (relabel.Draw, error)
	ListIterations(ctx context.Context, run relabel.ID) ([]relabel.Iteration, error)
	// CancelIteration moves its trajectories that are not terminal to cancelled; the
	// workers that own them notice within a second. CancelRun does so for each iteration of
	// the run that is running.
	CancelIteration(ctx context.Context, id relabel.ID) (relabel.Iteration, error)
	CancelRun(ctx context.Context, id relabel.ID) (relabel.Run, error)

	// Nothing of what is paused is claimed; what workers hold of it they give back after
	// the turn in hand. Pausing twice is once. CodeConflict for an iteration that is over.
	PauseRun(ctx context.Context, id relabel.ID, reason relabel.PauseReason, text string) (relabel.Run, error)
	// ResumeRun: CodeConflict where the run's budget is spent.
	ResumeRun(ctx context.Context, id relabel.ID) (relabel.Run, error)
	PauseIteration(ctx context.Context, id relabel.ID, reason relabel.PauseReason, text string) (relabel.Iteration, error)
	ResumeIteration(ctx context.Context, id relabel.ID) (relabel.Iteration, error)
	// SetScheduling changes what of a run may change, from the next claim on.
	SetScheduling(ctx context.Context, run relabel.ID, to relabel.SchedulingChange) (relabel.Run, error)
	// RetryFailed queues the trajectories that failed for one of the reasons (none: for
	// any) once more and says how many. CodeConflict where the iteration was cancelled.
	RetryFailed(ctx context.Context, iteration relabel.ID, reasons []relabel.FailureReason) (retried int, err error)
	// ListWorkers lists the processes that roll out.
	ListWorkers(ctx context.Context) ([]relabel.Worker, error)
	// ListOutages lists policies that are down and that queued trajectories wait for; run nil
	// means of all runs.
	ListOutages(ctx context.Context, run *relabel.ID) ([]relabel.Outage, error)

	// BeginAudit notes that a caller is about to change something, EndAudit what came of it,
	// with the id of what was made.
	BeginAudit(ctx context.Context, e relabel.AuditEntry, c relabel.Caller) error
	EndAudit(ctx context.Context, id relabel.ID, status int, resource string) error
	// CountAudit removes the entry of a refused request and counts it at another one.
	CountAudit(ctx context.Context, id, at relabel.ID, status int) error
	ListAudit(ctx context.Context, f relabel.AuditFilter, p relabel.Page) (entries []relabel.AuditEntry, next string, err error)

	// FindSpent returns what a run's calls have used.
	FindSpent(ctx context.Context, run relabel.ID) (relabel.Spent, error)
	// ListDeliveries lists what a run's webhook was told, newest first. Redeliver tells it
	// once more: CodeConflict where the run has no webhook.
	ListDeliveries(ctx context.Context, run relabel.ID, p relabel.Page) (deliveries []relabel.Delivery, next string, err error)
	Redeliver(ctx context.Context, run, delivery relabel.ID) (relabel.Delivery, error)

	// PublishEvents gives each event that is committed its number and returns the last one;
	// what is committed later gets a larger one.
	PublishEvents(ctx context.Context) (last int64, err error)
	// ListEvents lists a scope's events after a number, in the order of their numbers.
	ListEvents(ctx context.Context, scope relabel.EventScope, after int64, limit int) ([]relabel.Event, error)
	// KeepsEvents reports whether all events after this number are still there.
	KeepsEvents(ctx context.Context, number int64) (bool, error)
	// ListenEvents calls heard, which does not block, when it listens and when there may be
	// new events, until ctx ends or the line is lost.
	ListenEvents(ctx context.Context, heard func()) error

	FindTrajectory(ctx context.Context, id relabel.ID) (relabel.Trajectory, error)
	ListTrajectories(ctx context.Context, f relabel.TrajectoryFilter, sort relabel.TrajectorySort, p relabel.Page) (relabel.TrajectoryPage, error)
	// SearchTexts looks for a text in what those trajectories hold, as far as it comes within
	// some seconds. CodeBusy where too many do.
	SearchTexts(ctx context.Context, f relabel.TrajectoryFilter, sort relabel.TrajectorySort, ask relabel.TextSearch) (relabel.TextPage, error)
	ListAttempts(ctx context.Context, trajectory relabel.ID) ([]relabel.Attempt, error)
	// ListTurns returns the current attempt's turns t with from ≤ t < from+limit, in
	// order, with executed action, label and observations, without prompt ids.
	ListTurns(ctx context.Context, trajectory relabel.ID, from, limit int) ([]relabel.Turn, error)
	// FindState returns turns 1 to t of an attempt, the last with its actions' prompt ids.
	// CodeNotFound where the attempt has no turn t.
	FindState(ctx context.Context, trajectory relabel.ID, attempt, t int) ([]relabel.Turn, error)
	// FindTime says where a trajectory's time went, ListTimes the time of each of a run's
	// iterations in the order they were made.
	FindTime(ctx context.Context, trajectory relabel.ID) (relabel.TimeReport, error)
	ListTimes(ctx context.Context, run relabel.ID) ([]relabel.IterationTime, error)
	FindPatch(ctx context.Context, trajectory relabel.ID) ([]byte, error)
	FindVerdict(ctx context.Context, trajectory relabel.ID) (relabel.Verdict, error)
	// Regrade queues stored submissions to be graded again; RegradeProgress says how they
	// stand. CodeConflict where no selected trajectory is done.
	Regrade(ctx context.Context, sel relabel.RegradeSelection) (relabel.RegradeProgress, error)
	RegradeProgress(ctx context.Context, sel relabel.RegradeSelection) (relabel.RegradeProgress, error)
	CancelRegradings(ctx context.Context, sel relabel.RegradeSelection) (cancelled int, err error)
	ListRegradings(ctx context.Context, trajectory relabel.ID) ([]relabel.Regrading, error)
	ListVerdicts(ctx context.Context, trajectory relabel.ID) ([]relabel.Verdict, error)
	ListCalls(ctx context.Context, trajectory relabel.ID) ([]relabel.Call, error)

	// LabelIteration begins the labelling of what has been rolled out of an iteration whose
	// labels are deferred. CodeConflict where they are not, or where it is over.
	LabelIteration(ctx context.Context, id relabel.ID) (relabel.Iteration, error)
	ListBatches(ctx context.Context, iteration relabel.ID) ([]relabel.LabelBatch, error)
	// RelabelTrajectory has a policy asked at every state of a trajectory that is done;
	// RelabelIteration, at those of all its trajectories that are. CodeConflict where none is.
	RelabelTrajectory(ctx context.Context, trajectory, policy relabel.ID, priority int) (relabel.Relabeling, error)
	RelabelIteration(ctx context.Context, iteration, policy relabel.ID, priority int) (relabel.RelabelProgress, error)
	RelabelProgress(ctx context.Context, iteration relabel.ID) ([]relabel.RelabelProgress, error)
	FindRelabeling(ctx context.Context, id relabel.ID) (relabel.Relabeling, error)
	ListRelabelings(ctx context.Context, f relabel.RelabelFilter, p relabel.Page) (list []relabel.Relabeling, next string, err error)
	// CancelRelabeling cancels one that is not over; CancelRelabelings, an iteration's, of
	// one policy or (nil) of all.
	CancelRelabeling(ctx context.Context, id relabel.ID) (relabel.Relabeling, error)
	CancelRelabelings(ctx context.Context, iteration relabel.ID, policy *relabel.ID) (cancelled int, err error)

	// CreateReview: CodeNotFound where there is no such trajectory, CodeInvalid where it has
	// no such turn. EditReview puts what r says in the place of what was said.
	CreateReview(ctx context.Context, r relabel.Review) error
	EditReview(ctx context.Context, r relabel.Review) (relabel.Review, error)
	FindReview(ctx context.Context, trajectory, id relabel.ID) (relabel.Review, error)
	DeleteReview(ctx context.Context, trajectory, id relabel.ID) error
	ListReviews(ctx context.Context, f relabel.ReviewFilter, p relabel.Page) (list []relabel.Review, next string, err error)

	// CreateExport stores an export and queues its job, in one transaction.
	CreateExport(ctx context.Context, e relabel.Export) error
	FindExport(ctx context.Context, id relabel.ID) (relabel.Export, error)
	// CancelExport ends an export that is not over: CodeConflict where it is, and was not
	// cancelled. DeleteExport forgets one that is over, CodeConflict where it is not.
	CancelExport(ctx context.Context, id relabel.ID) error
	DeleteExport(ctx context.Context, id relabel.ID) error
	ListExports(ctx context.Context, f relabel.ExportFilter, p relabel.Page) (exports []relabel.Export, next string, err error)

	// BeginIdempotent claims a key. It returns nil when the caller is the first and shall
	// go on, the stored answer when it was answered, and a CodeIdempotency error when the
	// key was used with another route or body, CodeConflict while the first is at work.
	BeginIdempotent(ctx context.Context, i relabel.Idempotent) (*relabel.Idempotent, error)
	// EndIdempotent stores the answer, or frees the key when i.Status is 0.
	EndIdempotent(ctx context.Context, i relabel.Idempotent) error

	// CheckToken says what the token with this hex SHA-256 lets its bearer do: nothing, where
	// there is none or it is revoked. CheckSession says so of a session.
	CheckToken(ctx context.Context, sha256 string) (relabel.Access, error)
	CheckSession(ctx context.Context, sha256 string) (relabel.Access, error)
	// Ping reports whether the database answers.
	Ping(ctx context.Context) error
}

// Planner turns a request for an iteration into one with drawn trajectories, by the
// run's schedule and seed. Errors are CodeInvalid, naming the field.
type Planner func(run relabel.Run, number int, ask relabel.NewIteration, tasks []relabel.Task) (relabel.PlannedIteration, error)

// TaskParser reads a JSONL file of tasks; see tasks.Read.
type TaskParser func(r io.Reader, format tasks.Format) (tasks.File, error)
