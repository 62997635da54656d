package relabel

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
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

// Validate returns a CodeInvalid error on the first wrong JSON field of p, or nil. It checks
// neither the bounds of numbers and lists (api.CheckPolicy does) nor ids, versions and times,
// which the store sets.
func (p Policy) Validate() error {
	for _, check := range []func(Policy) *Error{checkNames, checkBaseURLs, checkOptions, checkSampling} {
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
		return Errorf(CodeInvalid, "%q is not one of %v", p.Server, ServerKinds).On("server")
	case p.ToolFormat != "" && !slices.Contains(ToolFormats, p.ToolFormat):
		return Errorf(CodeInvalid, "%q is not one of %v", p.ToolFormat, ToolFormats).On("tool_format")
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

func checkOptions(p Policy) *Error {
	switch {
	case p.Limits.HedgeAfterSeconds > 0 && len(p.Replicas) == 0:
		return Errorf(CodeInvalid, "requires replicas: the second request goes to one of them").On("limits.hedge_after_seconds")
	case p.CacheMarkers != CacheMarkersNone && p.CacheMarkers != CacheMarkersAnthropic:
		return Errorf(CodeInvalid, "%q is not %q; omit the field for none", p.CacheMarkers, CacheMarkersAnthropic).On("cache_markers")
	case p.Price != nil && p.Price.Currency == "":
		return Errorf(CodeInvalid, "is missing").On("price.currency")
	}
	return nil
}
