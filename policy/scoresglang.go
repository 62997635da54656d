package policy

import (
	"encoding/json"
	"errors"

	"relabel"
)

// sglangScores reads an answer of SGLang's /generate. It has the ids from logprob_start_len on, and the
// number of those before. Its lists begin with the token at logprob_start_len, whose log-probability is
// null.
type sglangScores struct {
	*collector
	d      *json.Decoder
	first  int // position of the lists' first token
	clamps clamps
	counts [3]json.RawMessage // of the prompt, the completion, and those of the prompt that were cached
	own    []float32          // by position from first on; 0 where none is wanted
	top    [][]token          // the same of candidates
}

func decodeSGLangScore(from *limited, req relabel.ScoreRequest) (got scored, said string) {
	s := sglangScores{collector: newCollector(req), d: scoreDecoder(from), first: req.Spans[0].Start - 1}
	err := fields(s.d, func(name string) error {
		if name == "meta_info" {
			return fields(s.d, s.field)
		}
		return skip(s.d)
	})
	if err == nil && s.own == nil {
		err = errors.New("it has no meta_info")
	}
	if err != nil {
		return got, shownProblem(err)
	}
	got.usage = s.clamps.counts(s.counts[0], s.counts[1], s.counts[2])
	got.clamped = s.clamps
	if n, _ := s.clamps.count(s.counts[0]); n != len(req.IDs) {
		return got, otherIDs
	}
	if said := s.collect(); said != "" {
		return got, said
	}
	got.scores = s.scores
	return got, s.complete()
}

// field reads a field of meta_info.
func (s *sglangScores) field(name string) (err error) {
	switch name {
	case "prompt_tokens":
		s.counts[0], err = scalar(s.d)
	case "completion_tokens":
		s.counts[1], err = scalar(s.d)
	case "cached_tokens":
		s.counts[2], err = scalar(s.d)
	case "input_token_logprobs":
		err = s.tokens()
	case "input_top_logprobs":
		err = s.candidates()
	default:
		err = skip(s.d)
	}
	return err
}

// tokens reads the log-probabilities of the tokens that were sent.
func (s *sglangScores) tokens() error {
	if s.own != nil {
		return problem(severalAnswers)
	}
	s.own = []float32{}
	s.span = 0
	err := items(s.d, func(i int) error {
		at := s.first + i
		if at >= len(s.req.IDs) {
			return problem(otherIDs)
		}
		t, known, err := s.token()
		switch {
		case err != nil:
			return err
		case t.id != s.req.IDs[at]:
			return problem(otherIDs)
		case s.wants(at) && !known:
			return problem("it returned no log-probability of a token")
		}
		s.own = append(s.own, t.logprob)
		return nil
	})
	if err == nil && len(s.own) != len(s.req.IDs)-s.first {
		return problem(otherIDs)
	}
	return err
}

// candidates reads the most probable tokens in place of those that were sent.
func (s *sglangScores) candidates() error {
	raw, opened, err := next(s.d)
	switch {
	case err != nil:
		return err
	case s.req.TopK == 0, string(raw) == "null":
		return skipRest(s.d, opened)
	case s.top != nil:
		return problem(severalAnswers)
	case opened != '[':
		return errors.New("input_top_logprobs is not a list")
	}
	s.top = [][]token{}
	s.span = 0
	return restOfItems(s.d, func(i int) error {
		at := s.first + i
		if at >= len(s.req.IDs) {
			return problem(otherIDs)
		}
		var list []token
		if !s.wants(at) {
			s.top = append(s.top, nil)
			return skip(s.d)
		}
		err := items(s.d, func(k int) error {
			if k == s.most() {
				return problem(tooMany)
			}
			t, known, err := s.token()
			if err == nil && !known {
				err = problem("its most probable tokens have no log-probabilities")
			}
			list = append(list, t)
			return err
		})
		s.top = append(s.top, list)
		return err
	})
}

// token reads [log-probability or null, id, text or null].
func (s *sglangScores) token() (t token, known bool, err error) {
	var parts [2]json.RawMessage
	err = items(s.d, func(i int) (err error) {
		if i >= len(parts) {
			return skip(s.d)
		}
		parts[i], err = scalar(s.d)
		return err
	})
	if err != nil {
		return t, false, err
	}
	known = given(parts[0])
	if known && json.Unmarshal(parts[0], &t.logprob) != nil || !given(parts[1]) || json.Unmarshal(parts[1], &t.id) != nil {
		return t, false, problem(otherIDs)
	}
	return t, known, nil
}

// collect gives what was read to the collector.
func (s *sglangScores) collect() (problem string) {
	if s.req.TopK > 0 && len(s.top) != len(s.own) {
		return "it did not return the most probable tokens"
	}
	s.span = 0
	for i, logprob := range s.own {
		if !s.wants(s.first + i) {
			continue
		}
		var candidates []token
		if s.req.TopK > 0 {
			candidates = s.top[i]
		}
		if said := s.add(s.first+i, logprob, candidates); said != "" {
			return said
		}
	}
	return ""
}
