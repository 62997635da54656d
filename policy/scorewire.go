package policy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"relabel"
)

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }

func appendInts(dst []byte, ids []int32) []byte {
	dst = append(dst, '[')
	for i, id := range ids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(id), 10)
	}
	return append(dst, ']')
}

// token is a token with its log-probability.
type token struct {
	id      int32
	logprob float32
}

// collector collects the scores of a request's spans, position by position.
type collector struct {
	req    relabel.ScoreRequest
	scores []relabel.Score
	span   int // that the next position can be in
}

func newCollector(req relabel.ScoreRequest) *collector {
	c := &collector{req: req, scores: make([]relabel.Score, len(req.Spans))}
	for i, s := range req.Spans {
		c.scores[i] = relabel.Score{T: s.T, TopK: req.TopK, Logprobs: make([]float32, 0, s.Length)}
	}
	return c
}

// wants reports whether the token at a position is scored. Positions must be asked for in order.
func (c *collector) wants(position int) bool {
	for c.span < len(c.req.Spans) && position >= c.req.Spans[c.span].Start+c.req.Spans[c.span].Length {
		c.span++
	}
	return c.span < len(c.req.Spans) && position >= c.req.Spans[c.span].Start
}

// most is the largest number of candidates that a server lists at a token: the most probable ones, and
// the token itself.
func (c *collector) most() int { return c.req.TopK + 1 }

// add adds the token at a position that is wanted and the candidates there, in any order. It returns the
// problem of values that are no scores.
func (c *collector) add(position int, logprob float32, candidates []token) (problem string) {
	if !isLogprob(logprob) {
		return fmt.Sprintf("its log-probability of token %d is %v", position, logprob)
	}
	s := &c.scores[c.span]
	s.Logprobs = append(s.Logprobs, min(logprob, 0))
	if c.req.TopK == 0 {
		return ""
	}
	slices.SortStableFunc(candidates, func(a, b token) int {
		return cmp.Or(cmp.Compare(b.logprob, a.logprob), cmp.Compare(a.id, b.id))
	})
	if len(candidates) < c.req.TopK {
		return fmt.Sprintf("it returned %d of the %d most probable tokens at token %d", len(candidates), c.req.TopK, position)
	}
	for _, t := range candidates[:c.req.TopK] {
		if !isLogprob(t.logprob) {
			return fmt.Sprintf("its log-probability of a candidate at token %d is %v", position, t.logprob)
		}
		s.TopIDs = append(s.TopIDs, t.id)
		s.TopLogprobs = append(s.TopLogprobs, min(t.logprob, 0))
	}
	return c.contradiction(position, logprob, candidates)
}

// leastLogprob is below what any server writes: vLLM writes -9999 for minus infinity.
const leastLogprob = -10_000

// isLogprob reports whether a value can be a log-probability.
func isLogprob(p float32) bool { return p >= leastLogprob && p <= roundingError }

// contradiction returns what is wrong with the most probable tokens at a position, whose own token has
// this log-probability.
func (c *collector) contradiction(position int, logprob float32, top []token) string {
	seen, sum := map[int32]bool{}, 0.0
	for _, t := range top {
		switch {
		case seen[t.id]:
			return fmt.Sprintf("it lists token id %d twice among the most probable at token %d", t.id, position)
		case t.id == c.req.IDs[position] && math.Abs(float64(t.logprob-logprob)) > roundingError:
			return fmt.Sprintf("it gives token %d the log-probabilities %v and %v", position, logprob, t.logprob)
		}
		seen[t.id] = true
		sum += math.Exp(float64(t.logprob))
	}
	if sum > 1+roundingError*float64(len(top)) {
		return fmt.Sprintf("the probabilities of the most probable tokens at token %d have the sum %.4g", position, sum)
	}
	return ""
}

// complete returns the problem of an answer that has not all scores.
func (c *collector) complete() (problem string) {
	for i, s := range c.req.Spans {
		if len(c.scores[i].Logprobs) != s.Length {
			return fmt.Sprintf("it returned log-probabilities of %d of the %d tokens of turn %d", len(c.scores[i].Logprobs), s.Length, s.T)
		}
	}
	return ""
}
