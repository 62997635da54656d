package relabel

import (
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Bounds of what a policy may ask for. They catch slips, such as milliseconds given
// for seconds; no server needs more.
const (
	MaxTemperature    = 2.0
	MaxConcurrency    = 4096
	MaxTimeoutSeconds = 24 * 3600
	MaxRetries        = 20
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

// Validate reports the first thing wrong with p as a CodeInvalid error on the JSON
// field that it concerns, or nil. Ids, versions and times are not looked at: the
// store gives them.
func (p Policy) Validate() error {
	for _, check := range []func(Policy) *Error{checkNames, checkBaseURL, checkSampling, checkLimits} {
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
	case p.Secret != "" && !secretName.MatchString(p.Secret):
		// The text is not shown: it may be a key, put here by mistake.
		return Errorf(CodeInvalid, "not the name of a secret (letters, digits, hyphens, underscores)").On("secret")
	}
	return nil
}

// completionsPath is what a client adds to a base URL.
const completionsPath = "/chat/completions"

// checkBaseURL refuses what would put a credential into a stored, shown address, and
// the address of one call in the place of the base of all.
func checkBaseURL(p Policy) *Error {
	u, err := url.Parse(p.BaseURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return Errorf(CodeInvalid, "not an http or https address").On("base_url")
	case u.User != nil:
		return Errorf(CodeInvalid, "holds credentials; name a secret instead").On("base_url")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return Errorf(CodeInvalid, "holds a query or a fragment; it ends with the version, as in http://host:8000/v1").On("base_url")
	case strings.HasSuffix(strings.TrimRight(p.BaseURL, "/"), completionsPath):
		given := strings.TrimRight(p.BaseURL, "/")
		return Errorf(CodeInvalid, "ends in %s, which is added to it; write %s", completionsPath, strings.TrimSuffix(given, completionsPath)).On("base_url")
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
	case s.MaxTokens < 0:
		return Errorf(CodeInvalid, "%d is negative; 0 leaves it to the server", s.MaxTokens).On("sampling.max_tokens")
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
	return nil
}
