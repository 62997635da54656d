package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"relabel"
)

// limited reads at most left bytes, and keeps the error of its source apart from those of its content.
type limited struct {
	from io.Reader
	left int64
	over bool
	err  error
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		l.over = true
		return 0, io.EOF
	}
	n, err := l.from.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	if err != nil && err != io.EOF {
		l.err = err
	}
	return n, err
}

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
	return ""
}

// isLogprob reports whether a value can be a log-probability. vLLM writes -9999 for minus infinity.
func isLogprob(p float32) bool {
	return p <= roundingError && !math.IsInf(float64(p), 0)
}

// complete returns the problem of an answer that has not all scores.
func (c *collector) complete() (problem string) {
	for i, s := range c.req.Spans {
		if len(c.scores[i].Logprobs) < s.Length {
			return fmt.Sprintf("it returned log-probabilities of %d of the %d tokens of turn %d", len(c.scores[i].Logprobs), s.Length, s.T)
		}
	}
	return ""
}

// otherIDs is the problem of an answer whose ids are not those that were sent.
const otherIDs = "it did not return the token ids that were sent: the scores may be of other tokens"

// fields calls field for each field of the object that comes next in a stream. field must read the value.
func fields(d *json.Decoder, field func(name string) error) error {
	if err := delimiter(d, '{'); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		text, _ := name.(string) // the decoder knows that it is a key
		if err := field(text); err != nil {
			return err
		}
	}
	return delimiter(d, '}')
}

// items calls item for each item of the array that comes next in a stream. item must read it.
func items(d *json.Decoder, item func(i int) error) error {
	if err := delimiter(d, '['); err != nil {
		return err
	}
	for i := 0; d.More(); i++ {
		if err := item(i); err != nil {
			return err
		}
	}
	return delimiter(d, ']')
}

func delimiter(d *json.Decoder, want json.Delim) error {
	got, err := d.Token()
	if err == nil && got != want {
		err = fmt.Errorf("it has %v instead of %v", got, want)
	}
	return err
}

// skip reads a value and forgets it.
func skip(d *json.Decoder) error {
	var value json.RawMessage
	return d.Decode(&value)
}
