package policy

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"relabel"
)

// ownSamplers are settings of llama-server that requests do not name.
var ownSamplers = []string{"typical_p", "top_n_sigma", "xtc_probability", "dry_multiplier", "dynatemp_range", "mirostat"}

// sampler reports which settings the server decides: those that requests of the policy do not name, with
// their values if the server publishes them, and those of its own.
func (b *prober) sampler(ctx context.Context, _ relabel.Policy) {
	defaults := b.publishedDefaults(ctx)
	open := b.policy.Sampling.ServerDecides()
	shaping := slices.DeleteFunc(slices.Clone(open), func(name string) bool { return name == "max_tokens" })
	details := []string{"every request has all settings that shape the distribution"}
	if len(shaping) > 0 {
		details = nil
	}
	if len(open) > 0 {
		details = append(details, "the server decides "+b.withValues(open, defaults))
	}
	if len(defaults) > 0 {
		details = append(details, "its own settings are "+b.withValues(ownSamplers, defaults))
	}
	answer := Pinned
	if len(shaping) > 0 {
		answer = Partly
		b.adviseSampler(shaping)
	}
	b.report.found(AskSampler, answer, strings.Join(details, "; "))
}

// withValues lists settings with the values that the server publishes.
func (b *prober) withValues(names []string, defaults map[string]json.RawMessage) string {
	var parts []string
	for _, name := range names {
		published := name
		if name == "repetition_penalty" {
			published = repetitionPenaltyName(b.policy.Server)
		}
		if value := string(defaults[published]); value != "" {
			name += " " + clip(value, 20)
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ", ")
}

// adviseSampler says how to send the settings that the server decides.
func (b *prober) adviseSampler(open []string) {
	missing := strings.Join(open, ", ")
	switch pinned := b.policy.Sampling.Pinned(b.policy.Server); {
	case len(pinned.ServerDecides()) < len(b.policy.Sampling.ServerDecides()):
		b.report.Advice = append(b.report.Advice, "requests do not name "+missing+
			", which the server takes from the model's generation_config.json or its own defaults; register the policy again, which sends neutral values")
	case b.policy.Server == relabel.ServerGeneric && b.report.Suggested == nil:
		b.report.Advice = append(b.report.Advice, "as generic, requests do not name "+missing+
			", which the server decides; name its kind if it is one that accepts them")
	}
}

// publishedDefaults returns the sampling settings that llama-server publishes at /props; none for the
// other kinds, which publish none.
func (b *prober) publishedDefaults(ctx context.Context) map[string]json.RawMessage {
	if b.policy.Server != relabel.ServerLlama {
		return nil
	}
	root := *b
	root.policy.BaseURL = strings.TrimSuffix(strings.TrimRight(b.policy.BaseURL, "/"), "/v1")
	got := root.sendOnce(ctx, http.MethodGet, "/props", nil)
	var w struct {
		Defaults struct {
			Params map[string]json.RawMessage `json:"params"`
		} `json:"default_generation_settings"`
	}
	if got.status != http.StatusOK || json.Unmarshal(got.body, &w) != nil {
		return nil
	}
	return w.Defaults.Params
}
