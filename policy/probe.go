package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"relabel"
)

var probeTool = relabel.Tool{
	Name: "execute_bash", Description: "Run a shell command and return its output.",
	Parameters: `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`,
}

// probeState is a state with a prompt.
func probeState(prompt string) []relabel.Message {
	return []relabel.Message{
		{Role: relabel.RoleSystem, Content: "You act through tools alone."},
		{Role: relabel.RoleUser, Content: prompt},
	}
}

const (
	oneCall  = "List the files of the current folder: call execute_bash with the command ls."
	twoCalls = "Call execute_bash twice in this one answer: once with the command ls, and once with the command pwd."
)

// probeTokens limits an answer with a call. Models that reason first need many.
const probeTokens = 1024

// Probe asks an endpoint a dozen short questions, without retries, and reports its abilities, requests
// of the policy that have no effect, and suggested changes. The error is that of the first question, which is a
// request as in a rollout, or of the policy (see Open). The report has the findings up to then.
func Probe(ctx context.Context, p relabel.Policy, o Options) (Report, error) {
	if p.ToolFormat == "" {
		p.ToolFormat = relabel.ToolsNative
	}
	r := Report{Policy: p.Name, BaseURL: p.BaseURL, Model: p.Model, Server: p.Server, ToolFormat: p.ToolFormat}
	secret, err := o.check(p)
	if err != nil {
		r.Problem = err.Error()
		return r, err
	}
	b := &prober{policy: p, http: withoutRedirects(o, 1), secret: secret, report: &r}
	defer b.http.CloseIdleConnections()
	err = b.all(ctx)
	return r, err
}

// all asks all questions.
func (b *prober) all(ctx context.Context) error {
	b.models(ctx)
	works, err := b.first(ctx)
	if err != nil {
		b.report.Problem = err.Error()
		return err
	}
	for _, ask := range []func(context.Context, relabel.Policy){b.replicas, b.together, b.history, b.extras, b.several, b.seeds, b.sampler} {
		if ctx.Err() != nil {
			b.report.Problem = "cancelled"
			return relabel.Errorf(relabel.CodeEndpoint, "the probe of %s was cancelled", b.policy.Name).Because(ctx.Err())
		}
		ask(ctx, works)
	}
	b.advise()
	return nil
}

// models asks for /models, which not every server has: a failure is not a problem.
func (b *prober) models(ctx context.Context) {
	got := b.send(ctx, http.MethodGet, "/models", nil)
	if b.report.Reachable {
		b.report.found(AskReachable, Yes, "")
	} else {
		b.report.found(AskReachable, No, got.problem)
	}
	var w struct {
		Data []struct {
			ID          string          `json:"id"`
			MaxModelLen json.RawMessage `json:"max_model_len"` // vLLM, SGLang
			Meta        json.RawMessage `json:"meta"`          // llama-server
		} `json:"data"`
	}
	if got.status >= http.StatusInternalServerError {
		b.report.found(AskModel, got.answer(), "GET /models: "+got.problem)
		b.report.Advice = append(b.report.Advice, "the list of models is broken ("+got.problem+"): see the server's log")
		return
	}
	if got.status != http.StatusOK || json.Unmarshal(got.body, &w) != nil || len(w.Data) == 0 {
		b.report.found(AskModel, NotSaid, "the server lists none")
		return
	}
	var ids []string
	served := No
	for _, m := range w.Data {
		ids = append(ids, m.ID)
		if m.ID == b.policy.Model {
			served = Yes
		}
		if m.ID != b.policy.Model && len(w.Data) > 1 {
			continue
		}
		if b.report.ContextTokens = optional[int](m.MaxModelLen); b.report.ContextTokens == 0 {
			b.report.ContextTokens = optional[struct {
				Context int `json:"n_ctx"`
			}](m.Meta).Context
		}
	}
	listed := strings.Join(ids[:min(len(ids), 10)], ", ")
	if served == No {
		listed = "it lists " + listed
		if len(ids) == 1 {
			b.suggest(func(p *relabel.Policy) { p.Model = ids[0] }, fmt.Sprintf("the server lists one model, %s; name that", ids[0]))
		}
	}
	b.report.found(AskModel, served, listed)
}

// suggest adds a change of the policy to the report, with its reason.
func (b *prober) suggest(change func(*relabel.Policy), why string) {
	if b.report.Suggested == nil {
		p := b.policy
		b.report.Suggested = &p
	}
	change(b.report.Suggested)
	b.report.Advice = append(b.report.Advice, why)
}

// replicas asks each further address for a short answer.
func (b *prober) replicas(ctx context.Context, p relabel.Policy) {
	if len(p.Replicas) == 0 {
		return
	}
	var silent []string
	at := *b
	for _, base := range p.Replicas {
		at.policy.BaseURL = base
		if got := at.ask(ctx, bare(p), plainRequest("Say hello.", 8), ""); !got.ok {
			silent = append(silent, base+": "+got.problem)
		}
	}
	if silent != nil {
		b.report.found(AskReplicas, No, strings.Join(silent, "; "))
		return
	}
	b.report.found(AskReplicas, Yes, fmt.Sprintf("%d more", len(p.Replicas)))
}
