package relabel

import (
	"errors"
	"strings"
	"testing"
)

func soundPolicy() Policy {
	return Policy{Name: "qwen-8b.r1", BaseURL: "http://[::1]:8000/v1", Model: "Qwen/Qwen3-8B", Server: ServerVLLM,
		Secret: "student_key-2", Sampling: PaperSampling, Limits: DefaultPolicyLimits}
}

func TestASoundPolicyPasses(t *testing.T) {
	p := soundPolicy()
	for _, kind := range ServerKinds {
		p.Server = kind
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	p.Sampling = p.Sampling.Greedy()
	p.Secret = ""
	p.Replicas, p.Limits.HedgeAfterSeconds = []string{"http://b:8000/v1"}, 20
	p.Price, p.CacheMarkers = &Price{Input: 3, Cached: 0.3, Output: 15, Currency: "USD"}, CacheMarkersAnthropic
	if err := p.Validate(); err != nil {
		t.Error("greedy, without a secret:", err)
	}
}

func TestAnUnsoundPolicyIsRefusedByField(t *testing.T) {
	for _, c := range []struct {
		field  string
		change func(*Policy)
	}{
		{"name", func(p *Policy) { p.Name = "" }},
		{"name", func(p *Policy) { p.Name = "../x" }},
		{"name", func(p *Policy) { p.Name = strings.Repeat("a", 101) }},
		{"name", func(p *Policy) { p.Name = "a\n" }},
		{"model", func(p *Policy) { p.Model = "" }},
		{"server", func(p *Policy) { p.Server = "" }},
		{"server", func(p *Policy) { p.Server = "tgi" }},
		{"base_url", func(p *Policy) { p.BaseURL = "" }},
		{"base_url", func(p *Policy) { p.BaseURL = "localhost:8000/v1" }},
		{"base_url", func(p *Policy) { p.BaseURL = "http://localhost:8000/v1/chat/completions" }},
		{"base_url", func(p *Policy) { p.BaseURL = "http://localhost:8000/v1/chat/completions/" }},
		{"base_url", func(p *Policy) { p.BaseURL = "file:///etc/passwd" }},
		{"base_url", func(p *Policy) { p.BaseURL = "http://me:sk-canary@host/v1" }},
		{"base_url", func(p *Policy) { p.BaseURL = "http://host/v1?key=sk-canary" }},
		{"base_url", func(p *Policy) { p.BaseURL = "http://ho st/%zz" }},
		{"secret", func(p *Policy) { p.Secret = "sk-canary/../x" }},
		{"limits.hedge_after_seconds", func(p *Policy) { p.Limits.HedgeAfterSeconds = 5 }}, // without a replica
		{"replicas[1]", func(p *Policy) { p.Replicas = []string{"http://a/v1", "http://me:sk-canary@b/v1"} }},
		{"replicas[0]", func(p *Policy) { p.Replicas = []string{p.BaseURL + "/"} }},
		{"price.currency", func(p *Policy) { p.Price = &Price{Input: 1} }},
		{"cache_markers", func(p *Policy) { p.CacheMarkers = "all" }},
	} {
		p := soundPolicy()
		c.change(&p)
		err := p.Validate()
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeInvalid || e.Field != c.field {
			t.Errorf("%s: got %v", c.field, err)
		} else if strings.Contains(err.Error(), "sk-canary") {
			t.Errorf("%s: the error shows what may be a key: %v", c.field, err)
		}
	}
}

func TestAnAddressOfOneCallIsAnsweredWithTheBase(t *testing.T) {
	p := soundPolicy()
	p.BaseURL = "https://host/api/v1/chat/completions/"
	if err := p.Validate(); err == nil || !strings.HasSuffix(err.Error(), "write https://host/api/v1") {
		t.Errorf("got %v", err)
	}
}
