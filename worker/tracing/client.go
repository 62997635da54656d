package tracing

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"relabel"
)

// Client calls the endpoints of a policy.
type Client interface {
	Complete(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error)
	Score(ctx context.Context, req relabel.ScoreRequest) ([]relabel.Score, error)
	Down() (why string, changed <-chan struct{})
}

// Client returns a client of the policy p that calls next, and sends a chat span for each completion of a
// trajectory's states, and a text_completion span for each text that is scored. Labels are below their turn, whoever acted there.
func (t *Tracer) Client(p relabel.Policy, next Client) Client {
	if t == nil {
		return next
	}
	return &tracedClient{Client: next, tracer: t, policy: p, fixed: policyAttributes(operationChat, p)}
}

type tracedClient struct {
	Client
	tracer *Tracer
	policy relabel.Policy
	fixed  []attribute
}

// Complete asks for an action.
func (c *tracedClient) Complete(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
	begun := time.Now()
	answer, err := c.Client.Complete(ctx, req)
	if req.TrajectoryID == (relabel.ID{}) {
		return answer, err
	}
	at := place{req.TrajectoryID, req.Attempt}
	s := span{place: at, parent: at.turn(req.T), name: operationChat + " " + c.policy.Model, kind: kindClient,
		begun: begun, ended: time.Now()}
	s.attributes = append(s.attributes, c.fixed...)
	s.attributes = append(s.attributes, requestAttributes(req)...)
	if err != nil {
		s.failed = relabel.CodeOf(err)
	} else {
		s.attributes = append(s.attributes, answerAttributes(answer)...)
	}
	if c.tracer.content {
		s.attributes = append(s.attributes, messageAttributes(req)...)
		if err == nil {
			s.attributes = append(s.attributes, attribute{outputMessages, outputText(answer)})
		}
	}
	c.tracer.send(s)
	return answer, err
}

// Score asks for the log-probabilities of the tokens of some turns, and sends a text_completion span: servers score a text as the
// prompt of a completion of one token.
func (c *tracedClient) Score(ctx context.Context, req relabel.ScoreRequest) ([]relabel.Score, error) {
	begun := time.Now()
	scores, err := c.Client.Score(ctx, req)
	if req.TrajectoryID == (relabel.ID{}) {
		return scores, err
	}
	at := place{req.TrajectoryID, req.Attempt}
	s := span{place: at, parent: at.turn(0), name: operationText + " " + c.policy.Model, kind: kindClient, begun: begun, ended: time.Now(), failed: relabel.CodeOf(err)}
	scored := 0
	for _, of := range req.Spans {
		scored += of.Length
	}
	s.attributes = append(policyAttributes(operationText, c.policy), attribute{conversationID, req.TrajectoryID},
		attribute{inputTokens, len(req.IDs)}, attribute{"relabel.purpose", relabel.PurposeScore},
		attribute{"relabel.turn", req.T}, attribute{"relabel.attempt", req.Attempt},
		attribute{"relabel.scored.turns", len(req.Spans)}, attribute{"relabel.scored.tokens", scored})
	c.tracer.send(s)
	return scores, err
}

// policyAttributes say which model is asked for what, and where.
func policyAttributes(operation string, p relabel.Policy) []attribute {
	all := []attribute{
		{operationName, operation}, {providerName, p.Server}, {requestModel, p.Model},
		{"relabel.policy", p.Name + "@" + strconv.Itoa(p.Version)},
	}
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return all
	}
	all = append(all, attribute{serverAddress, u.Hostname()}) // not the whole URL: it may have a key
	if port, err := strconv.Atoi(u.Port()); err == nil {
		all = append(all, attribute{serverPort, port})
	}
	return all
}

func requestAttributes(req relabel.ChatRequest) []attribute {
	all := []attribute{
		{conversationID, req.TrajectoryID},
		{"relabel.purpose", req.Purpose}, {"relabel.turn", req.T}, {"relabel.attempt", req.Attempt},
	}
	s := req.Sampling
	all = append(all, attribute{requestTemperature, s.Temperature}, attribute{requestTopP, s.TopP})
	if s.MaxTokens > 0 {
		all = append(all, attribute{requestMaxTokens, s.MaxTokens})
	}
	if req.Seed != nil {
		all = append(all, attribute{requestSeed, *req.Seed})
	}
	return all
}

func answerAttributes(a relabel.Completion) []attribute {
	all := []attribute{{finishReasons, []string{a.FinishReason}}}
	if a.Model != "" {
		all = append(all, attribute{responseModel, a.Model})
	}
	if a.Usage != nil {
		all = append(all, attribute{inputTokens, a.Usage.PromptTokens}, attribute{outputTokens, a.Usage.CompletionTokens},
			attribute{cachedTokens, a.Usage.CachedTokens})
	}
	return all
}
