package relabel

import (
	"context"
	"time"
)

// TestStatus is how one test ended.
type TestStatus string

// The statuses of a test. A test that the log does not mention is TestAbsent, which counts as
// failed.
const (
	TestPassed  TestStatus = "PASSED"
	TestFailed  TestStatus = "FAILED"
	TestError   TestStatus = "ERROR"
	TestSkipped TestStatus = "SKIPPED"
	TestXFail   TestStatus = "XFAIL"
	TestXPass   TestStatus = "XPASS"
	TestAbsent  TestStatus = "ABSENT"
)

// ProtectionsVersion is the version of the verifier's protections against forged results.
// Every change that can alter the verdict of a stored submission raises it. docs/verdicts.md
// describes the versions: 0 is before versions were recorded; 1 reads the touched paths from
// git, drops files that control the tests and runs canaries; 2 also drops test helpers outside
// test folders, and has canaries for every assertion and base class of Python tests and for the
// assertions of Jest and Vitest; 3 also drops settings of further runners, reads their reports, and drops changes of paths
// that the task hides.
const ProtectionsVersion = 3

// MaxDroppedPaths bounds the dropped paths that a verdict names; DroppedCount counts all.
const MaxDroppedPaths = 100

// VerdictReason names why a submission passed or not.
type VerdictReason string

// The reasons of a verdict, apart from infrastructure errors.
const (
	VerdictTestsPassed  VerdictReason = "passed"               // every test that must pass passed
	VerdictTests        VerdictReason = "tests"                // at least one of them did not
	VerdictTimedOut     VerdictReason = "tests_timed_out"      // the tests ran longer than VerifySeconds
	VerdictUnfinished   VerdictReason = "tests_did_not_finish" // the tests aborted twice with the submission, but not with the gold patch
	VerdictTampered     VerdictReason = "tests_tampered"       // the tests passed, but the run contradicted its canaries
	VerdictEmptyPatch   VerdictReason = "empty_patch"          // there is no submission
	VerdictDoesNotApply VerdictReason = "patch_does_not_apply" // neither git apply nor its three-way merge works
	VerdictScored       VerdictReason = "scored"               // an answer to localise was compared with the gold
	VerdictNoAnswer     VerdictReason = "no_answer"            // there is no ranked list to score
	VerdictReward       VerdictReason = "reward"               // the tests of a task in a terminal gave a reward below 1
	VerdictNoReward     VerdictReason = "no_reward"            // they wrote no reward from 0 to 1, or the state could not be graded
	VerdictUnsafe       VerdictReason = "patch_unsafe"         // git cannot read it, or it touches .git or paths outside the repository
)

// Passed reports whether the status counts as passed.
func (s TestStatus) Passed() bool { return s == TestPassed || s == TestXFail }

// Verdict is R(τ, x), the verifier's result: of a patch, the tests' result in a fresh container, which
// does not depend on whether the agent submitted (Trajectory.Resolved combines the two); of a ranked
// answer to localise, its Score; of the state of a task's terminal, its reward, also as Score.
type Verdict struct {
	Number int                   `json:"number,omitempty" doc:"Number among the trajectory's verdicts, from 1."`
	Passed bool                  `json:"passed" doc:"Whether every FAIL_TO_PASS and PASS_TO_PASS test passed, submitted or not; of a task in a terminal, whether its reward is 1. False and meaningless if infra or hits is set."`
	Reason VerdictReason         `json:"reason" doc:"passed, tests, empty_patch, patch_unsafe, patch_does_not_apply, tests_timed_out, tests_did_not_finish or tests_tampered; of an answer to localise, scored or no_answer; of a task in a terminal, passed, reward, no_reward, tests_timed_out or tests_tampered."`
	Tests  map[string]TestStatus `json:"tests,omitempty" doc:"How each of those tests ended: PASSED, FAILED, ERROR, SKIPPED, XFAIL, XPASS or ABSENT."`
	Output []byte                `json:"-"` // of the test command, truncated
	Infra  string                `json:"infra,omitempty" doc:"An infrastructure error: the tests could not run properly. Never the agent's failure."`
	// Protections is the ProtectionsVersion of the verifier; 0 before versions were recorded.
	Protections int `json:"protections" doc:"Version of the verifier's protections; 0: before versions were recorded."`
	// Canaries says whether canaries ran beside the task's tests: tests with known results that
	// show whether the runner can be trusted. False if no test ran.
	Canaries bool `json:"canaries" doc:"Whether canaries ran beside the task's tests: tests with known results that show whether the runner can be trusted. False if no test ran."`
	// Dropped names the parts of the submission that were not graded, MaxDroppedPaths at
	// most; DroppedCount counts all of them.
	Dropped      []DroppedPath `json:"dropped,omitempty" doc:"Parts of the submission that were not graded, at most 100; absent: none."`
	DroppedCount int           `json:"dropped_count" doc:"Number of parts that were not graded, including those not named."`
	// Score is nDCG@k of the ranked answer (paper of localisation, eq. 1), from 0 to 1; Hits counts the
	// gold functions in it at any rank. Both are of the files if the task has no gold functions, and nil
	// for a patch. The Score of a task in a terminal is its reward; it has no Hits.
	Score   *float64   `json:"score,omitempty" doc:"From 0 to 1: nDCG@k of the ranked answer to a task to localise, by functions, or by files if the task has no gold functions; the reward of a task in a terminal; absent for a patch."`
	Hits    *int       `json:"hits,omitempty" doc:"Gold functions (or files, as for the score) that the answer names, at any rank; absent for other kinds of task."`
	Ranking []Location `json:"ranking,omitempty" doc:"The ranked answer, best first, without duplicates, at most 1000 entries; absent for other kinds of task."`
	// Altered names programs and libraries of the system that differ from the image's when the tests of a task
	// in a terminal ran, MaxDroppedPaths at most; AlteredCount counts all of them.
	Altered      []string  `json:"altered,omitempty" doc:"Programs and libraries of the system that differed from the image's when the tests of a task in a terminal ran, at most 100; absent: none."`
	AlteredCount int       `json:"altered_count,omitempty" doc:"Number of these files, including those not named."`
	Millis       int64     `json:"millis" doc:"Milliseconds that verification took."`
	At           time.Time `json:"at" doc:"When the verdict was reached."`
}

// MaxLocations bounds Verdict.Ranking.
const MaxLocations = 1000

// Location is one entry of a ranked answer.
type Location struct {
	Name  string `json:"name" doc:"path::Qualified.name, or the path of a file."`
	Known bool   `json:"known" doc:"Whether the repository has it at the base commit."`
	Hit   bool   `json:"hit" doc:"Whether it is gold: a gold function, or a gold file if the task has no gold functions."`
}

// DroppedPath is a part of a submission that was not graded.
type DroppedPath struct {
	Path   string `json:"path" doc:"Path in the repository."`
	Reason string `json:"reason" doc:"Why it was not graded."`
}

// RegradeState is the state of a regrading.
type RegradeState string

// The states of a regrading. The last three are terminal.
const (
	RegradeQueued    RegradeState = "queued"
	RegradeRunning   RegradeState = "running"
	RegradeDone      RegradeState = "done"
	RegradeFailed    RegradeState = "failed" // MaxRegradeTries infrastructure errors; the earlier verdict stays
	RegradeCancelled RegradeState = "cancelled"
)

// MaxRegradeTries is the number of infrastructure errors and lost workers after which a
// regrading fails.
const MaxRegradeTries = 3

// Regrading grades the stored submission of a done trajectory again, under the verifier's
// current protections. The trajectory stays done and keeps its earlier verdicts.
type Regrading struct {
	ID           ID           `json:"id" doc:"Its id."`
	TrajectoryID ID           `json:"trajectory_id" doc:"The trajectory."`
	InstanceID   string       `json:"instance_id" doc:"The task's name."`
	State        RegradeState `json:"state" doc:"queued, running, done, failed (three infrastructure errors; the verdict stays) or cancelled."`
	Tries        int          `json:"tries" doc:"Tries that ended with an infrastructure error or a lost worker."`
	Failure      string       `json:"failure,omitempty" doc:"The last infrastructure error."`
	Changed      *bool        `json:"changed,omitempty" doc:"Whether passed differs from the previous verdict; absent until it is done."`
	CreatedAt    time.Time    `json:"created_at" doc:"When it was requested."`
	StartedAt    *time.Time   `json:"started_at,omitempty" doc:"When it was first claimed."`
	EndedAt      *time.Time   `json:"ended_at,omitempty" doc:"When it ended."`
}

// CheckRegrade returns a CodeConflict error if no trajectory of the run can be graded again.
func (r Run) CheckRegrade() error {
	switch {
	case r.TaskKind == Localise:
		return Errorf(CodeConflict, "answers to localise are not graded again: a score follows from the gold alone, without tests")
	case r.TaskKind == Terminal:
		return Errorf(CodeConflict, "tasks in a terminal are not graded again: the state that the tests rewarded is gone with its container")
	case r.Scaffold == ScaffoldImported:
		return Errorf(CodeConflict, "imported trajectories are not graded again: they were rolled out elsewhere, and their tasks have no image to run tests in")
	}
	return nil
}

// RegradeSelection selects done trajectories of a run.
type RegradeSelection struct {
	RunID        ID
	IterationID  *ID  // nil: every iteration
	Iteration    int  // every iteration with this number; 0: any number
	TrajectoryID *ID  // nil: every trajectory
	All          bool // include trajectories whose verdict has the current protections
}

// RegradeProgress sums up the verdicts and regradings of a selection.
type RegradeProgress struct {
	Protections int                `json:"protections" doc:"Current version of the verifier's protections."`
	Verdicts    []ProtectionsCount `json:"verdicts" doc:"Current verdicts by version, the oldest version first."`
	// Outdated counts the done trajectories without a verdict of the current protections;
	// OutdatedMillis sums the durations of their verdicts.
	Outdated       int   `json:"outdated" doc:"Done trajectories without a verdict of the current version, which a regrading selects."`
	OutdatedMillis int64 `json:"outdated_millis" doc:"Milliseconds that their verdicts took together."`
	// Regradings counts the latest regrading of each trajectory by state.
	Regradings map[RegradeState]int `json:"regradings" doc:"The latest regrading of each trajectory by state; states without any are absent."`
	Errors     int                  `json:"errors" doc:"Infrastructure errors and lost workers of these regradings."`
	Changed    int                  `json:"changed" doc:"Done regradings that changed the verdict."`
	// Failures are the failed regradings by instance, at most MostRegradeFailures.
	Failures []RegradeFailure `json:"failures" doc:"Trajectories whose submission could not be graded, by instance, at most 100. Their verdict stays."`
}

// MostRegradeFailures bounds the failures in a RegradeProgress.
const MostRegradeFailures = 100

// RegradeFailure is a trajectory whose submission could not be graded again.
type RegradeFailure struct {
	TrajectoryID ID     `json:"trajectory_id" doc:"The trajectory."`
	InstanceID   string `json:"instance_id" doc:"The task's name."`
	Failure      string `json:"failure" doc:"The last infrastructure error."`
}

// Open counts the regradings that are queued or running.
func (p RegradeProgress) Open() int {
	return p.Regradings[RegradeQueued] + p.Regradings[RegradeRunning]
}

// ProtectionsCount counts the verdicts of one version of the protections.
type ProtectionsCount struct {
	Protections int `json:"protections" doc:"Version of the protections; 0: before versions were recorded."`
	Verdicts    int `json:"verdicts" doc:"Verdicts of that version."`
	Passed      int `json:"passed" doc:"Of these, those that passed."`
}

// RegradeFence guards every write to a regrading; see Fence.
type RegradeFence struct {
	RegradingID ID
	Claim       int // number of the claim
	Owner       string
}

// RegradeClaim is a regrading that a worker owns, with everything needed to do it.
type RegradeClaim struct {
	RegradeFence
	Trajectory Trajectory
	Task       Task
	Limits     RunLimits
	Patch      []byte
}

// RegradeJob wakes a worker to claim a regrading.
type RegradeJob struct{}

// Kind names the job in the queue.
func (RegradeJob) Kind() string { return "regrade" }

// RegradingStore grades stored submissions again.
type RegradingStore interface {
	// Regrade queues regradings of the selected submissions; RegradeProgress reports on them.
	// CodeConflict if no selected trajectory is done.
	Regrade(ctx context.Context, sel RegradeSelection) (RegradeProgress, error)
	RegradeProgress(ctx context.Context, sel RegradeSelection) (RegradeProgress, error)
	CancelRegradings(ctx context.Context, sel RegradeSelection) (cancelled int, err error)
	ListRegradings(ctx context.Context, trajectory ID) ([]Regrading, error)
}
