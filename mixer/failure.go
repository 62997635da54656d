package mixer

import (
	"context"

	"relabel"
)

// failure ends a trajectory as failed: no doing of the agent.
type failure struct {
	reason relabel.FailureReason
	detail string // safe to show
	lasts  bool   // another attempt would come to the same
	cause  error  // for the log alone
	// turn is the action in the course of which the sandbox broke; nil where it was none's.
	turn *relabel.BrokenTurn
}

func (f *failure) Error() string { return string(f.reason) + ": " + f.detail }
func (f *failure) Unwrap() error { return f.cause }

// broken reports whether another sandbox may do what this one could not.
func (f *failure) broken() bool {
	return !f.lasts && (f.reason == relabel.FailEnvironment || f.reason == relabel.FailVerifier)
}

// stopped returns why ctx ended, if it did, for then err is but what came of that.
func stopped(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// policyFailure says what the failed call of an executor means. A context overflow is
// the end of the rollout and no failure; a call that could not be recorded is the
// store's trouble.
func policyFailure(role relabel.Role, err error) error {
	f := &failure{reason: relabel.FailEndpoint, detail: string(role) + ": " + relabel.Shown(err), cause: err}
	switch relabel.CodeOf(err) {
	case relabel.CodeContextOverflow, relabel.CodeUnavailable:
		return err
	case relabel.CodeSecretMissing:
		f.reason = relabel.FailSecret
	case relabel.CodeInternal:
		f.reason = relabel.FailInternal
	}
	return f
}

// environmentFailure says what a failed sandbox means.
func environmentFailure(err error) error {
	f := &failure{reason: relabel.FailEnvironment, detail: relabel.Shown(err), cause: err}
	switch relabel.CodeOf(err) {
	case relabel.CodeImageMissing:
		f.reason = relabel.FailImageMissing
	case relabel.CodeInvalid:
		f.lasts = true
	case relabel.CodeInternal:
		f.reason = relabel.FailInternal
	}
	return f
}

// verifierFailure says what a verdict without a result means.
func verifierFailure(v relabel.Verdict, err error) error {
	if v.Infra != "" {
		return &failure{reason: relabel.FailVerifier, detail: v.Infra, cause: err}
	}
	f := &failure{reason: relabel.FailVerifier, detail: relabel.Shown(err), cause: err}
	if relabel.CodeOf(err) == relabel.CodeImageMissing {
		f.reason = relabel.FailImageMissing
	}
	return f
}
