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

// Problems of answers of both kinds of servers.
const (
	// otherIDs is of an answer whose ids are not those that were sent.
	otherIDs = "it did not return the token ids that were sent: the scores may be of other tokens"
	// severalAnswers is of an answer with more lists than the one that was asked for.
	severalAnswers = "it returned the scores of one text more than once"
	tooMany        = "it returned more candidates at a token than were asked for"
)

// shownProblem is what is said of an error of reading an answer.
func shownProblem(err error) string {
	var known problem
	if errors.As(err, &known) {
		return string(known)
	}
	return "its answer has no log-probabilities of the prompt in the form of its kind of server"
}

// scoreDecoder reads an answer as a stream.
func scoreDecoder(from *limited) *json.Decoder {
	d := json.NewDecoder(from)
	d.UseNumber()
	return d
}

// vllmScores reads an answer of vLLM's /v1/completions with prompt_logprobs: for each token of the prompt
// an object of log-probabilities by id, in which the token itself is beside the most probable ones, and
// null for the first.
type vllmScores struct {
	*collector
	d      *json.Decoder
	clamps clamps
	ids    bool // they are those that were sent
	listed bool // there is a list of log-probabilities
}

func decodeVLLMScore(from *limited, req relabel.ScoreRequest) (got scored, said string) {
	v := vllmScores{collector: newCollector(req), d: scoreDecoder(from)}
	err := fields(v.d, func(name string) error {
		switch name {
		case "choices":
			return items(v.d, v.choice)
		case "usage":
			return v.usage(&got)
		case "model":
			raw, err := scalar(v.d)
			got.model = v.clamps.name(raw, clampedModel)
			return err
		}
		return skip(v.d)
	})
	got.clamped = v.clamps
	switch {
	case err != nil:
		return got, shownProblem(err)
	case !v.ids:
		return got, otherIDs + " (return_token_ids needs vLLM 0.10.2 or newer)"
	}
	got.scores = v.scores
	return got, v.complete()
}

// choice reads the only choice.
func (v *vllmScores) choice(i int) error {
	if i > 0 {
		return problem(severalAnswers)
	}
	return fields(v.d, func(name string) error {
		switch name {
		case "prompt_token_ids":
			return v.prompt()
		case "prompt_logprobs":
			if v.listed {
				return problem(severalAnswers)
			}
			v.listed = true
			return items(v.d, v.position)
		}
		return skip(v.d)
	})
}

// prompt compares the ids of the prompt with those that were sent.
func (v *vllmScores) prompt() error {
	raw, opened, err := next(v.d)
	if err != nil || string(raw) == "null" {
		return err
	}
	if opened != '[' {
		return problem(otherIDs)
	}
	n := 0
	err = restOfItems(v.d, func(i int) error {
		n++
		if raw, err := scalar(v.d); err != nil || i >= len(v.req.IDs) || string(raw) != strconv.Itoa(int(v.req.IDs[i])) {
			return errors.Join(err, problem(otherIDs))
		}
		return nil
	})
	if err == nil && n < len(v.req.IDs) {
		return problem(otherIDs)
	}
	v.ids = err == nil
	return err
}

// position reads the candidates in place of a token of the prompt.
func (v *vllmScores) position(at int) error {
	if at >= len(v.req.IDs) {
		return problem(otherIDs)
	}
	if !v.wants(at) {
		return skip(v.d)
	}
	var own *float32
	var candidates []token
	err := fields(v.d, func(key string) error {
		id, logprob, err := v.candidate(key)
		switch {
		case err != nil:
			return err
		case slices.ContainsFunc(candidates, func(t token) bool { return t.id == id }), len(candidates) == v.most():
			return problem(tooMany)
		case id == v.req.IDs[at]:
			own = &logprob
		}
		candidates = append(candidates, token{id, logprob})
		return nil
	})
	switch {
	case err != nil:
		return err
	case own == nil:
		return problem(otherIDs)
	}
	if said := v.add(at, *own, candidates); said != "" {
		return problem(said)
	}
	return nil
}

// candidate reads the value of a key of prompt_logprobs.
func (v *vllmScores) candidate(key string) (id int32, logprob float32, err error) {
	const wrong = problem("its prompt_logprobs are not by token id")
	parsed, err := strconv.ParseInt(key, 10, 32)
	if err != nil {
		return 0, 0, wrong
	}
	known := false
	err = fields(v.d, func(name string) error {
		if name != "logprob" {
			return skip(v.d)
		}
		raw, err := scalar(v.d)
		if err != nil || !given(raw) || json.Unmarshal(raw, &logprob) != nil {
			return errors.Join(err, wrong)
		}
		known = true
		return nil
	})
	if err == nil && !known {
		err = wrong
	}
	return int32(parsed), logprob, err
}

// usage reads the counts of tokens.
func (v *vllmScores) usage(got *scored) error {
	raw, opened, err := next(v.d)
	switch {
	case err != nil:
		return err
	case opened != '{':
		if opened != 0 || given(raw) {
			v.clamps.note(clampedUsage)
		}
		return skipRest(v.d, opened)
	}
	var counts [3]json.RawMessage // of the prompt, the completion, and those of the prompt that were cached
	err = restOfFields(v.d, func(name string) (err error) {
		switch name {
		case "prompt_tokens":
			counts[0], err = scalar(v.d)
		case "completion_tokens":
			counts[1], err = scalar(v.d)
		case "prompt_tokens_details":
			counts[2], err = v.cached()
		default:
			err = skip(v.d)
		}
		return err
	})
	got.usage = v.clamps.counts(counts[0], counts[1], counts[2])
	return err
}

func (v *vllmScores) cached() (count json.RawMessage, err error) {
	_, opened, err := next(v.d)
	if err != nil || opened != '{' {
		return nil, errors.Join(err, skipRest(v.d, opened))
	}
	return count, restOfFields(v.d, func(name string) (err error) {
		if name != "cached_tokens" {
			return skip(v.d)
		}
		count, err = scalar(v.d)
		return err
	})
}
