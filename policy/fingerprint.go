package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"relabel"
)

// fingerprintSeconds limits each request of a fingerprint.
const fingerprintSeconds = 60

// TakeFingerprints takes the fingerprint of p's model at each of its addresses, in their order. It sends short
// requests beside all limits of the policy and does not record them. A fingerprint that could not be taken has its
// reason. An adapter that relabel loaded and that a server no longer has, as after a restart, is loaded there again. The
// error is that of the policy (see Open).
func TakeFingerprints(ctx context.Context, p relabel.Policy, o Options) ([]relabel.Fingerprint, error) {
	secret, err := o.check(p)
	if err != nil {
		return nil, err
	}
	p.Limits.TimeoutSeconds = min(p.Limits.TimeoutSeconds, fingerprintSeconds)
	client := withoutRedirects(o, 1)
	defer client.CloseIdleConnections()
	all := make([]relabel.Fingerprint, len(p.BaseURLs()))
	var running sync.WaitGroup
	for i, base := range p.BaseURLs() {
		running.Go(func() {
			b := &prober{policy: at(p, base), http: client, secret: secret, report: &Report{}}
			if all[i] = takeFingerprint(ctx, b); !all[i].Taken() && reloaded(ctx, p, b) {
				all[i] = takeFingerprint(ctx, b)
			}
			all[i].BaseURL = base
		})
	}
	running.Wait()
	return all, nil
}

// takeFingerprint takes the fingerprint of one address. A server of a kind with completions that refuses them, such
// as a proxy, is asked by chat.
func takeFingerprint(ctx context.Context, b *prober) relabel.Fingerprint {
	if !b.policy.GivesLogprobs() {
		return relabel.Fingerprint{Reason: fmt.Sprintf("log-probabilities are not requested from a server of kind %s", b.policy.Server)}
	}
	f, err := takeTwice(ctx, b, fingerprintWayOf(b.policy.Server))
	if refused := (*refusedRequest)(nil); errors.As(err, &refused) && f.Method != chatNext.method {
		if byChat, chatErr := takeTwice(ctx, b, chatNext); chatErr == nil {
			return byChat
		}
	}
	if err != nil {
		return relabel.Fingerprint{Able: true, Reason: firstLine(err.Error())}
	}
	return f
}

// takeTwice takes a fingerprint with one request per text, and with all texts at once.
func takeTwice(ctx context.Context, b *prober, way fingerprintWay) (relabel.Fingerprint, error) {
	f := relabel.Fingerprint{Version: fingerprintVersion, Method: way.method, Able: true}
	again := f
	prompts := fingerprintPrompts()
	if err := each(ctx, b, way, prompts, &f); err != nil {
		return f, err
	}
	err := together(ctx, b, way, prompts, &again)
	f.Noise = f.Distance(again)
	return f, err
}

// refusedRequest is an answer with a status that says that the request is wrong.
type refusedRequest struct{ problem string }

func (r *refusedRequest) Error() string { return r.problem }

// fingerprintWay is how a kind of server is asked for the most probable next tokens of texts.
type fingerprintWay struct {
	method string
	beside bool // the path is beside /v1
	path   string
	encode func(p relabel.Policy, prompts []string) []byte
	decode func(body []byte, n int) ([][]listedToken, error)
	alone  bool // a request has one text
}

// listedToken is one of the most probable tokens.
type listedToken struct {
	name    string
	logprob float32
}

// The ways.
var (
	vllmNext   = fingerprintWay{method: "completions", path: "/completions", encode: encodeVLLMNext, decode: decodeVLLMNext}
	sglangNext = fingerprintWay{method: "completions", beside: true, path: "/generate", encode: encodeSGLangNext, decode: decodeSGLangNext}
	chatNext   = fingerprintWay{method: "chat", path: "/chat/completions", encode: encodeChatNext, decode: decodeChatNext, alone: true}
)

// fingerprintWayOf returns how a kind of server is asked.
func fingerprintWayOf(kind relabel.ServerKind) fingerprintWay {
	switch kind {
	case relabel.ServerVLLM:
		return vllmNext
	case relabel.ServerSGLang:
		return sglangNext
	}
	return chatNext
}

// each asks for one text after the other.
func each(ctx context.Context, b *prober, way fingerprintWay, prompts []string, f *relabel.Fingerprint) error {
	for _, prompt := range prompts {
		if err := b.next(ctx, way, []string{prompt}, f); err != nil {
			return err
		}
	}
	return nil
}

// together asks for all texts at once.
func together(ctx context.Context, b *prober, way fingerprintWay, prompts []string, f *relabel.Fingerprint) error {
	if !way.alone {
		return b.next(ctx, way, prompts, f)
	}
	parts, failed := make([]relabel.Fingerprint, len(prompts)), make([]error, len(prompts))
	var running sync.WaitGroup
	for i, prompt := range prompts {
		running.Go(func() {
			own := *b
			own.report = &Report{}
			failed[i] = own.next(ctx, way, []string{prompt}, &parts[i])
		})
	}
	running.Wait()
	for _, part := range parts {
		f.Texts = append(f.Texts, part.Texts...)
		f.Tokens = append(f.Tokens, part.Tokens...)
		f.Logprobs = append(f.Logprobs, part.Logprobs...)
	}
	return errors.Join(failed...)
}

// next asks for the next tokens of prompts and adds them to f.
func (b *prober) next(ctx context.Context, way fingerprintWay, prompts []string, f *relabel.Fingerprint) error {
	to := *b
	if way.beside {
		to.policy.BaseURL = besideV1(b.policy.BaseURL)
	}
	got := to.send(ctx, http.MethodPost, way.path, way.encode(b.policy, prompts))
	switch got.status {
	case http.StatusOK:
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnprocessableEntity:
		return &refusedRequest{got.problem}
	default:
		return errors.New(got.problem)
	}
	lists, err := way.decode(got.body, len(prompts))
	if err != nil {
		return err
	}
	for _, list := range lists {
		slices.SortStableFunc(list, func(x, y listedToken) int { return cmp.Compare(y.logprob, x.logprob) })
		f.Texts = append(f.Texts, int32(len(list)))
		for _, t := range list {
			f.Tokens = append(f.Tokens, t.name)
			f.Logprobs = append(f.Logprobs, t.logprob)
		}
	}
	return nil
}

// firstLine is the first of several joined errors.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// reloaded reports whether a server has lost an adapter that relabel loaded, and has it again.
func reloaded(ctx context.Context, p relabel.Policy, b *prober) bool {
	if p.Weights == nil || p.Weights.Kind != relabel.WeightsAdapter || relabel.CheckLoading(p) != nil {
		return false
	}
	l := &loader{p, b.http, b.secret}
	_, fresh, err := l.load(ctx, b, *p.Weights)
	return fresh && err == nil
}
