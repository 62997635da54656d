package policy

import (
	"context"
	"net/http"

	"relabel"
)

// reachSeconds limits how long Reach waits for an answer.
const reachSeconds = 60

// notFoundAdvice is the usual cause of a 404.
const notFoundAdvice = "check the address, which ends with the version, as in http://host:8000/v1, and the model's name"

// Reach asks p's first address for a short answer, without retries, before work starts that would wait
// for it. A busy or slow server is reachable. The error is CodeEndpoint with advice, or that of the
// policy (see Open).
func Reach(ctx context.Context, p relabel.Policy, o Options) error {
	secret, err := o.check(p)
	if err != nil {
		return err
	}
	p.Limits.TimeoutSeconds = min(p.Limits.TimeoutSeconds, reachSeconds)
	b := &prober{policy: p, http: withoutRedirects(o, 1), secret: secret, report: &Report{}}
	defer b.http.CloseIdleConnections()
	got := b.ask(ctx, p, plainRequest("Say hello.", p.Sampling.MaxTokens), "")
	if got.status == 0 && ctx.Err() == nil {
		b.send(ctx, http.MethodGet, "/models", nil) // a slow model has a fast server
	}
	advice := ""
	switch {
	case got.ok, got.status == 0 && b.report.Reachable:
		return nil
	case got.answer() == Busy && b.report.Reachable && readError(got.body).code != "insufficient_quota":
		return nil
	case got.status == 0:
		advice = "; check that the server runs and that its address is right"
	case got.status == http.StatusNotFound:
		advice = "; " + notFoundAdvice
	case got.status == http.StatusUnauthorized, got.status == http.StatusForbidden:
		advice = "; check that the policy names the secret with its key"
	}
	return relabel.Errorf(relabel.CodeEndpoint, "%s at %s does not answer: %s%s", p.Model, p.BaseURL, got.problem, advice).Because(ctx.Err())
}
