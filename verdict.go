package relabel

import "time"

// TestStatus is how one test ended.
type TestStatus string

// The statuses of a test. A test that does not show in the log is TestAbsent, and has
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

// VerdictReason says why a task is resolved or not.
type VerdictReason string

// The reasons of a verdict that is no infrastructure error.
const (
	VerdictResolved     VerdictReason = "resolved"             // every test that must pass passed
	VerdictTests        VerdictReason = "tests"                // one of them did not
	VerdictTimedOut     VerdictReason = "tests_timed_out"      // they ran longer than VerifySeconds
	VerdictUnfinished   VerdictReason = "tests_did_not_finish" // they broke off twice with the submission, and not with the gold patch
	VerdictEmptyPatch   VerdictReason = "empty_patch"          // there is no submission
	VerdictDoesNotApply VerdictReason = "patch_does_not_apply" // in none of the three ways
	VerdictUnsafe       VerdictReason = "patch_unsafe"         // it leaves the repository, or touches .git
)

// Passed reports whether a test that has to pass did.
func (s TestStatus) Passed() bool { return s == TestPassed || s == TestXFail }

// Verdict is R(τ, x): what the verifier found in a fresh container.
type Verdict struct {
	Resolved bool                  `json:"resolved"`
	Reason   VerdictReason         `json:"reason"`          // why it is resolved or not; "" beside an infrastructure error
	Tests    map[string]TestStatus `json:"tests,omitempty"` // of FAIL_TO_PASS and PASS_TO_PASS
	Output   []byte                `json:"-"`               // of the test command, capped
	Infra    string                `json:"infra,omitempty"` // an infrastructure error; then Resolved says nothing
	Millis   int64                 `json:"millis"`
	At       time.Time             `json:"at"`
}
