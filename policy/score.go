package policy

import (
	"context"
	"net/http"
	"time"

	"relabel"
	"relabel/chat"
)

// Limits of an answer with scores, in bytes. It is read token by token (scorestream.go): only the scores
// and one value of at most maxScoreToken are in memory. vLLM writes about 70 bytes for each token of the
// text and each of its most probable tokens.
const (
	maxScoreAnswer = 512 << 20
	scoreBeside    = 1 << 20 // of what is beside the scores
	maxScoreBytes  = 300     // of a token or one of its most probable ones, on average
)

// scoreLimit is the largest answer to a request, in bytes.
func scoreLimit(req relabel.ScoreRequest) int64 {
	return min(maxScoreAnswer, scoreBeside+int64(len(req.IDs))*int64(req.TopK+1)*maxScoreBytes)
}

// Score asks for the log-probabilities of req's tokens at temperature 1, retries within the policy's
// limits, and records the call, whatever its outcome. It returns a score for each span. Calls with scores
// come after those of rollouts.
//
// Errors are CodeInvalid if the policy's kind of server cannot score, CodeContextOverflow if the text is
// too long for it, CodeEndpoint if no answer is available or it is not of the tokens that were sent,
// CodeSecretMissing, and CodeUnavailable if the call could not be recorded.
func (c *Client) Score(ctx context.Context, req relabel.ScoreRequest) ([]relabel.Score, error) {
	if err := relabel.CheckScorer(c.policy); err != nil {
		return nil, err
	}
	of := relabel.ChatRequest{TrajectoryID: req.TrajectoryID, Attempt: req.Attempt, T: req.T, Purpose: relabel.PurposeScore,
		Sampling: relabel.Sampling{Temperature: 1, TopP: 1, MaxTokens: 1}}
	call := c.newCall(of)
	const bytesPerToken = 4 // of text, by which endpoints estimate tokens
	a, err := c.ask(ctx, completionCall{req: of, score: &req, bytes: bytesPerToken * len(req.IDs)}, &call)
	call.Millis = time.Since(call.StartedAt).Milliseconds()
	if err != nil {
		call.Error = err.Error()
	}
	if lost := c.keep(ctx, call); lost != nil {
		return nil, lost
	}
	return a.scores, err
}

// tryScore sends the request to base once; see try.
func (c *Client) tryScore(ctx context.Context, base string, ask relabel.ScoreRequest, secret string) ([]relabel.Score, relabel.Completion, int, *failure) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.policy.Limits.TimeoutSeconds)*time.Second)
	defer cancel()
	p := protocolOf(c.policy.Server)
	resp, fail := c.post(ctx, p.address(base), func() []byte { return p.encode(c.policy, ask) }, secret)
	if fail != nil {
		return nil, relabel.Completion{}, 0, fail
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, free, _ := readBody(ctx, resp.Body, maxErrorRead) // an incomplete body is better than none
		defer free()
		return nil, relabel.Completion{}, resp.StatusCode, c.refused(resp, body, secret)
	}
	read := &limited{from: resp.Body, left: scoreLimit(ask)}
	got, problem := p.decode(read, ask)
	switch {
	case read.over:
		fail = &failure{err: c.failed("its answer is larger than %d MiB, the limit for %d tokens with top_k %d", scoreLimit(ask)>>20, len(ask.IDs), ask.TopK), outcome: useless}
	case read.err != nil:
		fail = c.noAnswer(read.err, secret)
	case problem != "":
		fail = &failure{err: c.failed("%s", problem), outcome: useless}
	default:
		scores := got.scores
		for i := range scores {
			scores[i].PolicyID = c.policy.ID
		}
		return scores, relabel.Completion{Usage: got.usage, Model: got.model, Clamped: got.clamped}, resp.StatusCode, nil
	}
	return nil, relabel.Completion{}, resp.StatusCode, fail
}

// scoreProtocol is how a kind of server is asked for scores. decode returns the problem of an answer that
// has none.
type scoreProtocol struct {
	address func(base string) string
	encode  func(p relabel.Policy, req relabel.ScoreRequest) []byte
	decode  func(from *limited, req relabel.ScoreRequest) (got scored, problem string)
}

// scored is a decoded answer.
type scored struct {
	scores  []relabel.Score
	usage   *relabel.Usage
	model   string
	clamped clamps
}

// protocolOf returns the protocol of a kind that relabel.CheckScorer accepts.
func protocolOf(kind relabel.ServerKind) scoreProtocol {
	if kind == relabel.ServerSGLang {
		return scoreProtocol{sglangAddress, appendSGLangScore, decodeSGLangScore}
	}
	return scoreProtocol{vllmAddress, appendVLLMScore, decodeVLLMScore}
}

func vllmAddress(base string) string { return base + "/completions" }

// sglangAddress is the address of the native interface, which is beside the one of OpenAI's form.
func sglangAddress(base string) string { return besideV1(base) + "/generate" }

// appendVLLMScore is the body of a request for prompt_logprobs. vLLM takes them from the logits before
// temperature and nucleus, as the values that are sent say too. It generates at least one token.
func appendVLLMScore(p relabel.Policy, req relabel.ScoreRequest) []byte {
	dst := chat.AppendString([]byte(`{"model":`), p.Model)
	dst = appendInts(append(dst, `,"prompt":`...), req.IDs)
	dst = appendInt(append(dst, `,"max_tokens":1,"temperature":1,"top_p":1,"add_special_tokens":false,"return_token_ids":true,"prompt_logprobs":`...), req.TopK)
	return append(dst, '}')
}

// appendSGLangScore is the body of a request for the log-probabilities of the input. SGLang returns those
// of the tokens after logprob_start_len.
func appendSGLangScore(p relabel.Policy, req relabel.ScoreRequest) []byte {
	dst := appendInts([]byte(`{"input_ids":`), req.IDs)
	dst = append(dst, `,"sampling_params":{"max_new_tokens":1,"temperature":1,"top_p":1},"return_logprob":true,"logprob_start_len":`...)
	dst = appendInt(dst, req.Spans[0].Start-1)
	dst = appendInt(append(dst, `,"top_logprobs_num":`...), req.TopK)
	if adapter := sglangAdapter(p.Model); adapter != "" {
		dst = chat.AppendString(append(dst, `,"lora_path":`...), adapter)
	}
	return append(dst, '}')
}
