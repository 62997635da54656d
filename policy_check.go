package relabel

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Bounds of a policy's settings. They catch mistakes such as milliseconds given for seconds;
// no server needs more.
const (
	MaxTemperature    = 2.0
	MaxConcurrency    = 4096
	MaxTimeoutSeconds = 24 * 3600
	MaxRetries        = 20
	MaxReplicas       = 64
	MaxContextTokens  = 10_000_000
	MaxPerMinute      = 1_000_000_000 // requests or tokens
	MaxPrice          = 1_000_000     // per million tokens
)

var (
	policyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	secretName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)
)

// ServerKinds are the kinds that a policy may name.
var ServerKinds = []ServerKind{ServerGeneric, ServerOpenAI, ServerVLLM, ServerSGLang, ServerLlama,
	ServerTransformers, ServerLlamaCpp, ServerScripted}

// ToolFormats are the formats that a policy may name.
var ToolFormats = []ToolFormat{ToolsNative, ToolsText}

// Validate returns a CodeInvalid error on the first wrong JSON field of p, or nil. It does not
// check ids, versions and times, which the store sets.
func (p Policy) Validate() error {
	for _, check := range []func(Policy) *Error{checkNames, checkBaseURLs, checkSampling, checkLimits, checkPrice} {
		if err := check(p); err != nil {
			return err
		}
	}
	return nil
}

func checkNames(p Policy) *Error {
	switch {
	case !policyName.MatchString(p.Name):
		return Errorf(CodeInvalid, "%q is not 1 to 100 letters, digits, dots, hyphens or underscores, led by a letter or digit", p.Name).On("name")
	case p.Model == "":
		return Errorf(CodeInvalid, "the model's name is missing").On("model")
	case !slices.Contains(ServerKinds, p.Server):
		return Errorf(CodeInvalid, "%q is none of %v", p.Server, ServerKinds).On("server")
	case p.ToolFormat != "" && !slices.Contains(ToolFormats, p.ToolFormat):
		return Errorf(CodeInvalid, "%q is none of %v", p.ToolFormat, ToolFormats).On("tool_format")
	case p.ChatTemplate != "" && p.TemplateText != "":
		return Errorf(CodeInvalid, "is a second template: give chat_template or template_text").On("chat_template")
	case len(p.TemplateText) > MaxChatTemplate:
		return Errorf(CodeInvalid, "has %d bytes; at most %d are accepted", len(p.TemplateText), MaxChatTemplate).On("template_text")
	case p.Secret != "" && !secretName.MatchString(p.Secret):
		// The text is not shown: it may be a key, put here by mistake.
		return Errorf(CodeInvalid, "not the name of a secret (letters, digits, hyphens, underscores)").On("secret")
	}
	return nil
}

// completionsPath is what a client adds to a base URL.
const completionsPath = "/chat/completions"

// BaseURLField is the JSON field of the i-th of a policy's BaseURLs.
func BaseURLField(i int) string {
	if i == 0 {
		return "base_url"
	}
	return fmt.Sprintf("replicas[%d]", i-1)
}

// checkBaseURLs checks all addresses and refuses duplicates, which affinity would count twice.
func checkBaseURLs(p Policy) *Error {
	if len(p.Replicas) > MaxReplicas {
		return Errorf(CodeInvalid, "has %d addresses; at most %d are allowed", len(p.Replicas), MaxReplicas).On("replicas")
	}
	seen := map[string]bool{}
	for i, address := range p.BaseURLs() {
		field := BaseURLField(i)
		if err := checkBaseURL(address); err != nil {
			return err.On(field)
		}
		plain := strings.TrimRight(address, "/")
		if seen[plain] {
			return Errorf(CodeInvalid, "is a duplicate address").On(field)
		}
		seen[plain] = true
	}
	return nil
}

// checkBaseURL refuses an address that holds a credential, since addresses are stored and
// shown, and the address of a single operation instead of the base address.
func checkBaseURL(address string) *Error {
	u, err := url.Parse(address)
	plain := strings.TrimRight(address, "/")
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return Errorf(CodeInvalid, "is not an http or https address; write http://HOST:PORT/v1")
	case u.User != nil:
		return Errorf(CodeInvalid, "contains credentials; name a secret instead")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return Errorf(CodeInvalid, "contains a query or a fragment; it must end with the version, as in http://host:8000/v1")
	case strings.HasSuffix(plain, completionsPath):
		return Errorf(CodeInvalid, "ends in %s, which is added to it; write %s", completionsPath, strings.TrimSuffix(plain, completionsPath))
	}
	return nil
}

func checkSampling(p Policy) *Error {
	s := p.Sampling
	switch {
	case math.IsNaN(s.Temperature) || s.Temperature < 0 || s.Temperature > MaxTemperature:
		return Errorf(CodeInvalid, "%v is not in 0 to %v", s.Temperature, MaxTemperature).On("sampling.temperature")
	case math.IsNaN(s.TopP) || s.TopP <= 0 || s.TopP > 1:
		return Errorf(CodeInvalid, "%v is not above 0 and at most 1", s.TopP).On("sampling.top_p")
	case s.MaxTokens < 0 || s.MaxTokens > MaxContextTokens:
		return Errorf(CodeInvalid, "%d is not in 0 to %d; 0 leaves it to the server", s.MaxTokens, MaxContextTokens).On("sampling.max_tokens")
	}
	return nil
}

func checkLimits(p Policy) *Error {
	l := p.Limits
	switch {
	case l.Concurrency < 1 || l.Concurrency > MaxConcurrency:
		return Errorf(CodeInvalid, "%d is not in 1 to %d", l.Concurrency, MaxConcurrency).On("limits.concurrency")
	case l.TimeoutSeconds < 1 || l.TimeoutSeconds > MaxTimeoutSeconds:
		return Errorf(CodeInvalid, "%d is not in 1 to %d", l.TimeoutSeconds, MaxTimeoutSeconds).On("limits.timeout_seconds")
	case l.Retries < 0 || l.Retries > MaxRetries:
		return Errorf(CodeInvalid, "%d is not in 0 to %d", l.Retries, MaxRetries).On("limits.retries")
	}
	for _, c := range []struct {
		field    string
		is, most int
	}{
		{"requests_per_minute", l.RequestsPerMinute, MaxPerMinute}, {"tokens_per_minute", l.TokensPerMinute, MaxPerMinute},
		{"patience_seconds", l.PatienceSeconds, MaxTimeoutSeconds}, {"hedge_after_seconds", l.HedgeAfterSeconds, MaxTimeoutSeconds},
		{"context_tokens", l.ContextTokens, MaxContextTokens},
	} {
		if c.is < 0 || c.is > c.most {
			return Errorf(CodeInvalid, "%d is not in 0 to %d", c.is, c.most).On("limits." + c.field)
		}
	}
	if l.HedgeAfterSeconds > 0 && len(p.Replicas) == 0 {
		return Errorf(CodeInvalid, "requires replicas: the second request goes to one of them").On("limits.hedge_after_seconds")
	}
	return nil
}

var currency = regexp.MustCompile(`^[A-Z]{3}$`)

func checkPrice(p Policy) *Error {
	if p.CacheMarkers != CacheMarkersNone && p.CacheMarkers != CacheMarkersAnthropic {
		return Errorf(CodeInvalid, "%q is not %q; omit the field for none", p.CacheMarkers, CacheMarkersAnthropic).On("cache_markers")
	}
	if p.Price == nil {
		return nil
	}
	for _, c := range []struct {
		field string
		is    float64
	}{{"input", p.Price.Input}, {"cached", p.Price.Cached}, {"output", p.Price.Output}} {
		if math.IsNaN(c.is) || c.is < 0 || c.is > MaxPrice {
			return Errorf(CodeInvalid, "%v is not in 0 to %d", c.is, MaxPrice).On("price." + c.field)
		}
	}
	if math.IsNaN(p.Price.Batch) || p.Price.Batch < 0 || p.Price.Batch > 1 {
		return Errorf(CodeInvalid, "%v is not in 0 to 1", p.Price.Batch).On("price.batch")
	}
	if !currency.MatchString(p.Price.Currency) {
		return Errorf(CodeInvalid, "not three capital letters, such as USD").On("price.currency")
	}
	return nil
}
