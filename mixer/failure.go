package mixer

import (
	"context"

	"relabel"
)

// failure ends a trajectory as failed, for a reason outside of the agent.
type failure struct {
	reason relabel.FailureReason
	detail string // safe to show
	lasts  bool   // another attempt would fail too
	cause  error  // only for the log
	// turn is the action during which the sandbox broke; nil if it broke outside of one.
	turn *relabel.BrokenTurn
}

func (f *failure) Error() string { return string(f.reason) + ": " + f.detail }
func (f *failure) Unwrap() error { return f.cause }

// broken reports whether another sandbox may succeed.
func (f *failure) broken() bool {
	return !f.lasts && (f.reason == relabel.FailEnvironment || f.reason == relabel.FailVerifier)
}

// stopped returns why ctx ended, if it did, because err is then only a consequence.
func stopped(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// policyFailure classifies an executor's failed call. A context overflow is the end of the rollout,
// not a failure, and a call that could not be recorded is an error of the store.
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

// environmentFailure classifies the error of a sandbox or of a repository.
func environmentFailure(err error) error {
	f := &failure{reason: relabel.FailEnvironment, detail: relabel.Shown(err), cause: err}
	switch relabel.CodeOf(err) {
	case relabel.CodeImageMissing:
		f.reason = relabel.FailImageMissing
	case relabel.CodeInvalid, relabel.CodeNotFound:
		f.lasts = true
	case relabel.CodeInternal:
		f.reason = relabel.FailInternal
	}
	return f
}

// verifierFailure classifies a verification without a result.
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
