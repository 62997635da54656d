package policy

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"relabel"
)

// problem is the error of an answer that can be read and has no scores.
type problem string

func (p problem) Error() string { return string(p) }

// shownProblem is what is said of an error of reading an answer.
func shownProblem(err error) string {
	var known problem
	if errors.As(err, &known) {
		return string(known)
	}
	return "its answer has no log-probabilities of the prompt in the form of its kind of server"
}

// decodeVLLMScore reads an answer of vLLM's /v1/completions with prompt_logprobs: for each token of the
// prompt an object of log-probabilities by id, in which the token itself is beside the most probable ones,
// and null for the first.
func decodeVLLMScore(from *limited, req relabel.ScoreRequest) (got scored, said string) {
	d := json.NewDecoder(from)
	c := newCollector(req)
	var c0 clamps
	ids := false
	err := fields(d, func(name string) error {
		var raw json.RawMessage
		switch name {
		case "choices":
			return items(d, func(int) error { return readVLLMChoice(d, c, &ids) })
		case "usage":
			err := d.Decode(&raw)
			got.usage = c0.usage(raw)
			return err
		case "model":
			err := d.Decode(&raw)
			got.model = c0.name(raw, clampedModel)
			return err
		}
		return skip(d)
	})
	switch {
	case err != nil:
		return got, shownProblem(err)
	case !ids:
		return got, otherIDs + " (return_token_ids needs vLLM 0.10.2 or newer)"
	}
	got.scores = c.scores
	return got, c.complete()
}

// readVLLMChoice reads the only choice, and reports in ids that it has the ids that were sent.
func readVLLMChoice(d *json.Decoder, c *collector, ids *bool) error {
	return fields(d, func(name string) error {
		switch name {
		case "prompt_token_ids":
			var got []int32
			if err := d.Decode(&got); err != nil {
				return err
			}
			if got == nil {
				return nil
			}
			if *ids = slices.Equal(got, c.req.IDs); !*ids {
				return problem(otherIDs)
			}
			return nil
		case "prompt_logprobs":
			return items(d, func(i int) error { return readVLLMToken(d, c, i) })
		}
		return skip(d)
	})
}

func readVLLMToken(d *json.Decoder, c *collector, position int) error {
	if !c.wants(position) {
		return skip(d)
	}
	var entry map[string]struct {
		Logprob *float32 `json:"logprob"`
	}
	if err := d.Decode(&entry); err != nil {
		return err
	}
	var candidates []token
	var own *float32
	for key, value := range entry {
		id, err := strconv.ParseInt(key, 10, 32)
		if err != nil || value.Logprob == nil {
			return problem("its prompt_logprobs are not by token id")
		}
		if int32(id) == c.req.IDs[position] {
			own = value.Logprob
		}
		candidates = append(candidates, token{int32(id), *value.Logprob})
	}
	if own == nil {
		return problem(otherIDs)
	}
	if said := c.add(position, *own, candidates); said != "" {
		return problem(said)
	}
	return nil
}

// sglangToken is [log-probability or null, id, text or null].
type sglangToken []json.RawMessage

func (t sglangToken) read() (id int32, logprob *float32, ok bool) {
	if len(t) < 2 || json.Unmarshal(t[0], &logprob) != nil || json.Unmarshal(t[1], &id) != nil {
		return 0, nil, false
	}
	return id, logprob, true
}

// sglangMeta is what scores need of meta_info. Its lists begin with the token at logprob_start_len, whose
// log-probability is null.
type sglangMeta struct {
	PromptTokens     int             `json:"prompt_tokens"`
	CompletionTokens int             `json:"completion_tokens"`
	CachedTokens     int             `json:"cached_tokens"`
	Tokens           []sglangToken   `json:"input_token_logprobs"`
	Top              [][]sglangToken `json:"input_top_logprobs"`
}

// decodeSGLangScore reads an answer of SGLang's /generate. It has the ids from logprob_start_len on, and
// the number of those before.
func decodeSGLangScore(from *limited, req relabel.ScoreRequest) (got scored, said string) {
	var w struct {
		Meta *sglangMeta `json:"meta_info"`
	}
	if err := json.NewDecoder(from).Decode(&w); err != nil || w.Meta == nil {
		return got, shownProblem(err)
	}
	m := w.Meta
	got.usage = &relabel.Usage{PromptTokens: m.PromptTokens, CompletionTokens: m.CompletionTokens, CachedTokens: min(m.CachedTokens, m.PromptTokens)}
	first := req.Spans[0].Start - 1
	if m.PromptTokens != len(req.IDs) || len(m.Tokens) != len(req.IDs)-first {
		return got, otherIDs
	}
	if req.TopK > 0 && len(m.Top) != len(m.Tokens) {
		return got, "it did not return the most probable tokens"
	}
	c := newCollector(req)
	for i, t := range m.Tokens {
		id, logprob, ok := t.read()
		if !ok || id != req.IDs[first+i] {
			return got, otherIDs
		}
		if !c.wants(first + i) {
			continue
		}
		if logprob == nil {
			return got, "it returned no log-probability of a token"
		}
		var candidates []token
		if req.TopK > 0 {
			for _, t := range m.Top[i] {
				id, logprob, ok := t.read()
				if !ok || logprob == nil {
					return got, "its most probable tokens have no log-probabilities"
				}
				candidates = append(candidates, token{id, *logprob})
			}
		}
		if said := c.add(first+i, *logprob, candidates); said != "" {
			return got, said
		}
	}
	got.scores = c.scores
	return got, c.complete()
}
