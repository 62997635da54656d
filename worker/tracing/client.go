package tracing

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

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
	return &tracedClient{Client: next, tracer: t, policy: p, fixed: policyAttributes(p)}
}

type tracedClient struct {
	Client
	tracer *Tracer
	policy relabel.Policy
	fixed  []attribute.KeyValue
}

// Complete asks for an action.
func (c *tracedClient) Complete(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
	begun := time.Now()
	answer, err := c.Client.Complete(ctx, req)
	if req.TrajectoryID == (relabel.ID{}) {
		return answer, err
	}
	at := place{req.TrajectoryID, req.Attempt}
	s := span{place: at, parent: at.turn(req.T), name: named(semconv.GenAIOperationNameChat, c.policy.Model), kind: trace.SpanKindClient,
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
			s.attributes = append(s.attributes, outputMessages.String(outputText(answer)))
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
	s := span{place: at, parent: at.turn(0), name: named(semconv.GenAIOperationNameTextCompletion, c.policy.Model), kind: trace.SpanKindClient, begun: begun, ended: time.Now(), failed: relabel.CodeOf(err)}
	scored := 0
	for _, of := range req.Spans {
		scored += of.Length
	}
	s.attributes = append(policyAttributesAs(semconv.GenAIOperationNameTextCompletion, c.policy), semconv.GenAIConversationID(req.TrajectoryID.String()),
		semconv.GenAIUsageInputTokens(len(req.IDs)), attribute.String("relabel.purpose", string(relabel.PurposeScore)),
		attribute.Int("relabel.turn", req.T), attribute.Int("relabel.attempt", req.Attempt),
		attribute.Int("relabel.scored.turns", len(req.Spans)), attribute.Int("relabel.scored.tokens", scored))
	c.tracer.send(s)
	return scores, err
}

// policyAttributes say which model is asked in a chat, and where.
func policyAttributes(p relabel.Policy) []attribute.KeyValue {
	return policyAttributesAs(semconv.GenAIOperationNameChat, p)
}

// policyAttributesAs say which model is asked for what, and where.
func policyAttributesAs(operation attribute.KeyValue, p relabel.Policy) []attribute.KeyValue {
	all := []attribute.KeyValue{
		operation, semconv.GenAIProviderNameKey.String(string(p.Server)), semconv.GenAIRequestModel(p.Model),
		attribute.String("relabel.policy", p.Name+"@"+strconv.Itoa(p.Version)),
	}
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return all
	}
	all = append(all, semconv.ServerAddress(u.Hostname())) // not the whole URL: it may have a key
	if port, err := strconv.Atoi(u.Port()); err == nil {
		all = append(all, semconv.ServerPort(port))
	}
	return all
}

func requestAttributes(req relabel.ChatRequest) []attribute.KeyValue {
	all := []attribute.KeyValue{
		semconv.GenAIConversationID(req.TrajectoryID.String()),
		attribute.String("relabel.purpose", string(req.Purpose)), attribute.Int("relabel.turn", req.T), attribute.Int("relabel.attempt", req.Attempt),
	}
	s := req.Sampling
	all = append(all, semconv.GenAIRequestTemperature(s.Temperature), semconv.GenAIRequestTopP(s.TopP))
	if s.MaxTokens > 0 {
		all = append(all, semconv.GenAIRequestMaxTokens(s.MaxTokens))
	}
	if req.Seed != nil {
		all = append(all, semconv.GenAIRequestSeed(int(*req.Seed)))
	}
	return all
}

func answerAttributes(a relabel.Completion) []attribute.KeyValue {
	all := []attribute.KeyValue{semconv.GenAIResponseFinishReasons(plain(a.FinishReason))}
	if a.Model != "" {
		all = append(all, semconv.GenAIResponseModel(plain(a.Model)))
	}
	if a.Usage != nil {
		all = append(all, semconv.GenAIUsageInputTokens(a.Usage.PromptTokens), semconv.GenAIUsageOutputTokens(a.Usage.CompletionTokens),
			semconv.GenAIUsageCacheReadInputTokens(a.Usage.CachedTokens))
	}
	return all
}
