package relabel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Soundness says whether a task distinguishes its solution from no patch.
type Soundness string

// The states of a task that was validated.
const (
	TaskSound  Soundness = "sound"  // it passes with the gold patch, and not without a patch
	TaskFlaky  Soundness = "flaky"  // it is sound without the tests that flicker
	TaskBroken Soundness = "broken" // it is not sound
	TaskInfra  Soundness = "infra"  // the tests could not run here: nothing is known
)

// Unvalidated is the filter for tasks without a validation.
const Unvalidated Soundness = "unvalidated"

// ProblemReason names why a task is not sound.
type ProblemReason string

// The reasons.
const (
	ProblemFlaky        ProblemReason = "flaky_tests"            // tests flicker; the others are sound
	ProblemNoGold       ProblemReason = "no_gold_patch"          // there is no gold patch
	ProblemNoTest       ProblemReason = "no_fail_to_pass"        // no test tells the gold patch from none
	ProblemPatch        ProblemReason = "patch_invalid"          // the gold or the test patch cannot be read or does not apply
	ProblemImage        ProblemReason = "image_missing"          // no registry has the image
	ProblemGold         ProblemReason = "gold_patch_fails"       // tests fail with the gold patch
	ProblemTimeout      ProblemReason = "tests_timed_out"        // the test command did not end in time
	ProblemNotRun       ProblemReason = "tests_do_not_run"       // the test command runs no test, or is killed
	ProblemWithoutPatch ProblemReason = "resolved_without_patch" // the tests pass without a patch
	ProblemOnlyFlaky    ProblemReason = "only_flaky_tests"       // every FAIL_TO_PASS test flickers, or any of an exact outcome
	ProblemFlakyReward  ProblemReason = "flaky_reward"           // the reward of a task in a terminal differs between equal runs
	ProblemInfra        ProblemReason = "infrastructure"         // Docker, the disk or the network failed
)

// ValidatedPatch is what a run of a validation tests.
type ValidatedPatch string

// The patches.
const (
	GoldPatch  ValidatedPatch = "gold"
	EmptyPatch ValidatedPatch = "empty"
)

// Bounds of a validation.
const (
	MaxValidationTimes = 10      // runs of each patch
	MaxValidationLog   = 1 << 20 // bytes of the log of a run
	MaxRunTests        = 100     // tests that a run names
)

// Validation tells whether a task distinguishes its solution from no patch: the tests run several times with the
// gold patch, which must pass, and as often without a patch, which must not. It never changes.
type Validation struct {
	ID            ID              `json:"id" doc:"Its id."`
	TaskID        ID              `json:"task_id,omitzero" doc:"The task."`
	InstanceID    string          `json:"instance_id" doc:"The task's instance id."`
	Times         int             `json:"times" doc:"Runs of each patch that were requested. There are fewer after a run that could not end."`
	VerifySeconds int             `json:"verify_seconds" doc:"Time limit of the test command in each run, in seconds."`
	State         Soundness       `json:"state" doc:"sound, flaky (sound without the flaky tests), broken, or infra (the tests could not run there)."`
	Reason        ProblemReason   `json:"reason,omitempty" doc:"Why the task is not sound: flaky_tests, no_gold_patch, no_fail_to_pass, patch_invalid, image_missing, gold_patch_fails, tests_timed_out, tests_do_not_run, resolved_without_patch, only_flaky_tests, flaky_reward or infrastructure; absent: it is."`
	Problem       string          `json:"problem,omitempty" doc:"The same in a sentence; absent: it is sound."`
	Flaky         []FlakyTest     `json:"flaky,omitempty" doc:"FAIL_TO_PASS and PASS_TO_PASS tests that passed in some of equal runs only; absent: none."`
	Runs          []ValidationRun `json:"runs" doc:"Its runs, those of the gold patch first."`
	RunsOf        *ID             `json:"runs_of,omitempty" doc:"The validation of an earlier revision of the task whose runs and logs these are; absent: its own."`
	CreatedAt     time.Time       `json:"created_at" doc:"When it ended."`
}

// FlakyTest is a test that ended as it must in some of equal runs and not in the others; see Task.Satisfied.
type FlakyTest struct {
	Test  string `json:"test" doc:"The test's name."`
	Gold  string `json:"gold" doc:"How it ended in the runs of the gold patch, in order: P as it must, f not, - the run did not end."`
	Empty string `json:"empty" doc:"The same of the runs without a patch."`
}

// ValidationRun is one run of the tests in a fresh container.
type ValidationRun struct {
	Patch  ValidatedPatch `json:"patch" doc:"gold: with the gold patch. empty: without a patch."`
	Number int            `json:"number" doc:"Number among the runs of this patch, from 1."`
	Passed bool           `json:"passed" doc:"Whether the task is resolved: every FAIL_TO_PASS test passed, and every PASS_TO_PASS test passed or was skipped; or the outcome is the exact one."`
	Steady bool           `json:"steady" doc:"Whether it is, but for flaky tests."`
	Reason VerdictReason  `json:"reason,omitempty" doc:"Why it passed or not, as the reason of a verdict; absent with infra."`
	Infra  string         `json:"infra,omitempty" doc:"An infrastructure error: the tests could not run properly."`
	// NotPassed counts the tests that did not end as they must; Tests has at most MaxRunTests of them.
	NotPassed int                   `json:"not_passed" doc:"How many of the tests did not pass, or not end as an exact outcome demands."`
	Tests     map[string]TestStatus `json:"tests,omitempty" doc:"How these tests ended, at most 100; absent: none."`
	Millis    int64                 `json:"millis" doc:"Milliseconds that it took, with its container."`
	LogBytes  int                   `json:"log_bytes" doc:"Size of its log; 0: it has none."`
	Log       []byte                `json:"-"` // of the test command, at most MaxValidationLog
}

// Sound reports whether the task has no problem.
func (v Validation) Sound() bool { return v.State == TaskSound }

// Of returns the runs of a patch, in order.
func (v Validation) Of(patch ValidatedPatch) []ValidationRun {
	return slices.DeleteFunc(slices.Clone(v.Runs), func(r ValidationRun) bool { return r.Patch != patch })
}

// Seconds is the time that all runs took together.
func (v Validation) Seconds() float64 {
	var millis int64
	for _, r := range v.Runs {
		millis += r.Millis
	}
	return float64(millis) / 1000
}

// Passes counts the runs of a patch in which every test passed, as "2/3".
func (v Validation) Passes(patch ValidatedPatch) string {
	passed, all := 0, 0
	for _, r := range v.Of(patch) {
		all++
		if r.Passed {
			passed++
		}
	}
	return fmt.Sprintf("%d/%d", passed, all)
}

// WithoutTests returns a task whose lists do not have some tests, which flicker.
func (t Task) WithoutTests(flaky []FlakyTest) Task {
	drop := map[string]bool{}
	for _, f := range flaky {
		drop[f.Test] = true
	}
	keep := func(tests []string) []string {
		return slices.DeleteFunc(slices.Clone(tests), func(test string) bool { return drop[test] })
	}
	t.FailToPass, t.PassToPass = keep(t.FailToPass), keep(t.PassToPass)
	return t
}

// SoundnessCounts counts the tasks of a taskset at a revision by what their newest validations found.
type SoundnessCounts struct {
	TasksetID   ID                    `json:"taskset_id" doc:"The taskset."`
	Revision    int                   `json:"revision" doc:"The revision that is counted."`
	Tasks       int                   `json:"tasks" doc:"How many tasks it has."`
	Sound       int                   `json:"sound" doc:"Tasks that are sound."`
	Flaky       int                   `json:"flaky" doc:"Tasks that are sound without their flaky tests."`
	Broken      int                   `json:"broken" doc:"Tasks that are not sound."`
	Infra       int                   `json:"infra" doc:"Tasks whose tests could not run there: nothing is known of them."`
	Unvalidated int                   `json:"unvalidated" doc:"Tasks without a validation."`
	Reasons     map[ProblemReason]int `json:"reasons" doc:"Tasks that are flaky, broken or infra, by reason."`
	Excluded    int                   `json:"excluded" doc:"Tasks that are excluded, of any state: no run draws them."`
	RunSeconds  *SecondsSpread        `json:"run_seconds,omitempty" doc:"How long a run of the tests took, over all runs of these validations; absent: there are none."`
}

// SecondsSpread is a median and a 95th percentile, in seconds.
type SecondsSpread struct {
	P50 float64 `json:"p50" doc:"The median, in seconds."`
	P95 float64 `json:"p95" doc:"The 95th percentile, in seconds."`
}

// Spread returns median and 95th percentile of times in milliseconds, by the nearest rank; nil without any.
func Spread(millis []int64) *SecondsSpread {
	if len(millis) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(millis))
	at := func(percent int) float64 { return float64(sorted[(len(sorted)*percent+99)/100-1]) / 1000 }
	return &SecondsSpread{P50: at(50), P95: at(95)}
}

// TaskSoundness is a task of a taskset with its newest validation.
type TaskSoundness struct {
	TaskID     ID             `json:"task_id" doc:"The task."`
	InstanceID string         `json:"instance_id" doc:"Its instance id."`
	HeldOut    bool           `json:"held_out" doc:"Whether it is held out."`
	Excluded   string         `json:"excluded,omitempty" doc:"Why no run draws it; absent: runs draw it."`
	State      Soundness      `json:"state" doc:"sound, flaky, broken, infra or unvalidated."`
	RunSeconds *SecondsSpread `json:"run_seconds,omitempty" doc:"How long its runs took; absent: there are none."`
	Validation *Validation    `json:"validation,omitempty" doc:"Its newest validation; absent: none."`
}

// SoundnessFilter narrows a list of a taskset's tasks. Zero fields do not narrow.
type SoundnessFilter struct {
	Revision int       // of the taskset; 0: the newest
	State    Soundness // or Unvalidated
	Excluded bool      // only excluded ones
}

// ValidationStore stores validations of tasks.
type ValidationStore interface {
	// CreateValidation stores a validation. logs are its runs' logs in gzip, in their order; nil for a run without one.
	// Rows that took the place of the task meanwhile with equal content get a copy. CodeNotFound if there is no such task.
	CreateValidation(ctx context.Context, v Validation, logs [][]byte) error
	FindValidation(ctx context.Context, id ID) (Validation, error)
	// FindValidationLog returns the log of a run in gzip. CodeNotFound if there is none.
	FindValidationLog(ctx context.Context, id ID, patch ValidatedPatch, number int) ([]byte, error)
	// ListSoundness lists the tasks of a taskset in the byte order of their instance ids.
	ListSoundness(ctx context.Context, taskset ID, f SoundnessFilter, p Page) (tasks []TaskSoundness, next string, err error)
	CountSoundness(ctx context.Context, taskset ID, revision int) (SoundnessCounts, error)
	// ListExcludedTasks lists the excluded tasks of a taskset at a revision, 0 for the newest, by instance id, at
	// most limit.
	ListExcludedTasks(ctx context.Context, taskset ID, revision, limit int) ([]ExcludedTask, error)
}

// CheckExclusion refuses a reason that names nothing or is too long.
func CheckExclusion(reason string) error {
	if strings.TrimSpace(reason) == "" {
		return Errorf(CodeInvalid, "is empty: say why no run shall draw the task").On("reason")
	}
	return nil
}
