package policy

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"unicode/utf8"

	"relabel"
)

// Bounds on the fields of an answer beside its message. A value beyond them is truncated or
// dropped, and Completion.Clamped names it.
const (
	maxUsage   = 10_000_000 // tokens; the longest context that a run may have
	maxName    = 200        // bytes of a model's name, a fingerprint and a finish reason
	maxRefusal = 64 << 10   // bytes
	maxMessage = 8 << 20    // bytes; a longer message makes the answer useless
	// roundingError is how far above 0 a logprob may be and count as 0.
	roundingError = 0.01
)

// The fields that may be clamped besides the optional ones, as Completion.Clamped names them.
const (
	clampedNumbers     = "numbers" // NaN or Infinity, which JSON does not have
	clampedUsage       = "usage"
	clampedFinish      = "finish_reason"
	clampedRefusal     = "refusal"
	clampedModel       = "model"
	clampedFingerprint = "system_fingerprint"
)

// clamps collects the names of the fields that were truncated or dropped, each once.
type clamps []string

func (c *clamps) note(what string) {
	if !slices.Contains(*c, what) {
		*c = append(*c, what)
	}
}

// name reads a short text and cuts it to maxName bytes of printable UTF-8.
func (c *clamps) name(raw json.RawMessage, what string) string {
	return c.cut(optional[string](raw), maxName, what)
}

// cut cuts text to n bytes.
func (c *clamps) cut(text string, n int, what string) string {
	if len(text) <= n {
		return text
	}
	c.note(what)
	return head(text, n)
}

// head returns at most the first n bytes of a text that is longer, without half a character.
func head(text string, n int) string {
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// usage reads token counts; nil if there are none or they are invalid.
func (c *clamps) usage(raw json.RawMessage) *relabel.Usage {
	w := optional[*struct {
		Prompt     json.RawMessage `json:"prompt_tokens"`
		Completion json.RawMessage `json:"completion_tokens"`
		Details    json.RawMessage `json:"prompt_tokens_details"`
	}](raw)
	if w == nil {
		if given(raw) {
			c.note(clampedUsage)
		}
		return nil
	}
	return c.counts(w.Prompt, w.Completion, optional[struct {
		Cached json.RawMessage `json:"cached_tokens"`
	}](w.Details).Cached)
}

// counts reads the numbers of tokens of a prompt, a completion and the prompt's cached part; nil if one
// of the first two is invalid.
func (c *clamps) counts(ofPrompt, ofCompletion, ofCached json.RawMessage) *relabel.Usage {
	prompt, okPrompt := c.count(ofPrompt)
	completion, okCompletion := c.count(ofCompletion)
	if !okPrompt || !okCompletion {
		return nil
	}
	cached, _ := c.count(ofCached)
	if cached > prompt {
		c.note(clampedUsage)
		cached = prompt
	}
	return &relabel.Usage{PromptTokens: prompt, CompletionTokens: completion, CachedTokens: cached}
}

// count reads a number of tokens: a whole number from 0 to maxUsage; absent is 0. Other values are noted
// and not ok.
func (c *clamps) count(raw json.RawMessage) (n int, ok bool) {
	if !given(raw) {
		return 0, true
	}
	var f float64
	if json.Unmarshal(raw, &f) != nil || f < 0 || f > maxUsage || f != math.Trunc(f) {
		c.note(clampedUsage)
		return 0, false
	}
	return int(f), true
}

// ids reads token ids; nil if there are none or one is invalid.
func (c *clamps) ids(raw json.RawMessage, what string) []int32 {
	ids := optional[[]int32](raw)
	if ids == nil && given(raw) || slices.ContainsFunc(ids, func(id int32) bool { return id < 0 }) {
		c.note(what)
		return nil
	}
	return ids
}

// logprob checks a natural logarithm of a probability: at most 0, but for rounding.
func (c *clamps) logprob(p float32) (float32, bool) {
	if p > roundingError {
		c.note(askedLogprobs)
		return 0, false
	}
	return min(p, 0), true
}

// given reports whether a field is present and not null.
func given(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null"
}

// stringOrNaN matches the strings of a JSON text, which stay, and the words that some servers write
// for numbers that JSON does not have.
var stringOrNaN = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"?|-?Infinity|NaN`)

// withoutNaN replaces NaN and Infinity outside of strings by null, and reports whether it found
// one.
func withoutNaN(body []byte) (out []byte, found bool) {
	if !bytes.Contains(body, []byte("NaN")) && !bytes.Contains(body, []byte("Infinity")) {
		return body, false
	}
	out = stringOrNaN.ReplaceAllFunc(body, func(match []byte) []byte {
		if match[0] == '"' {
			return match
		}
		found = true
		return []byte("null")
	})
	return out, found
}
