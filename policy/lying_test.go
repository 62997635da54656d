package policy_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/policy"
	"relabel/store"
	"relabel/store/storetest"
)

// lie is an answer that no honest endpoint gives, and its expected effect.
type lie struct {
	name    string
	answer  http.HandlerFunc
	clamped []string     // what the call's row names; the turn is stored anyway
	code    relabel.Code // "": the answer is an action
}

// says answers with 200 and a body.
func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }
}

// beside answers with a message and the given fields beside choices.
func beside(fields string) http.HandlerFunc {
	return says(`{"choices":[{"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],` + fields + `}`)
}

// choice answers with a message and the given fields beside it.
func choice(fields string) http.HandlerFunc {
	return says(`{"choices":[{"message":{"role":"assistant","content":"x"},` + fields + `}]}`)
}

// message answers with a message.
func message(m string) http.HandlerFunc {
	return says(`{"choices":[{"message":` + m + `,"finish_reason":"stop"}]}`)
}

// status answers another status, with a header and a body.
func status(code int, header, value, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if header != "" {
			w.Header().Set(header, value)
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

func usage(fields string) http.HandlerFunc { return beside(`"usage":{` + fields + `}`) }

var long = strings.Repeat("x", 5000)

var lies = []lie{
	{"usage above int4", usage(`"prompt_tokens":3000000000,"completion_tokens":1`), []string{"usage"}, ""},
	{"usage above int8", usage(`"prompt_tokens":99999999999999999999999,"completion_tokens":1`), []string{"usage"}, ""},
	{"completion above int4", usage(`"prompt_tokens":1,"completion_tokens":2147483648`), []string{"usage"}, ""},
	{"negative usage", usage(`"prompt_tokens":-5,"completion_tokens":1`), []string{"usage"}, ""},
	{"fractional usage", usage(`"prompt_tokens":1.5,"completion_tokens":1`), []string{"usage"}, ""},
	{"usage with an exponent", usage(`"prompt_tokens":1e999,"completion_tokens":1`), []string{"usage"}, ""},
	{"usage as text", usage(`"prompt_tokens":"12","completion_tokens":"1"`), []string{"usage"}, ""},
	{"usage NaN", usage(`"prompt_tokens":NaN,"completion_tokens":1`), []string{"numbers"}, ""},
	{"usage is a list", beside(`"usage":[1,2]`), []string{"usage"}, ""},
	{"usage is true", beside(`"usage":true`), []string{"usage"}, ""},
	{"more cached than there were", usage(`"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9}`), []string{"usage"}, ""},
	{"negative cached", usage(`"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":-9}`), []string{"usage"}, ""},
	{"ids above int4", choice(`"token_ids":[1,4294967296]`), []string{"token_ids"}, ""},
	{"negative ids", choice(`"token_ids":[1,-1]`), []string{"token_ids"}, ""},
	{"ids as text", choice(`"token_ids":["1"]`), []string{"token_ids"}, ""},
	{"prompt ids above int4", beside(`"prompt_token_ids":[4294967296]`), []string{"prompt_token_ids"}, ""},
	{"fractional prompt ids", beside(`"prompt_token_ids":[0.5]`), []string{"prompt_token_ids"}, ""},
	{"logprobs NaN", choice(`"logprobs":{"content":[{"logprob":NaN}]}`), []string{"numbers"}, ""},
	{"logprobs -Infinity", choice(`"logprobs":{"content":[{"logprob":-Infinity}]}`), []string{"numbers"}, ""},
	{"logprobs beyond float4", choice(`"logprobs":{"content":[{"logprob":-1e300}]}`), []string{"logprobs"}, ""},
	{"positive logprobs", choice(`"logprobs":{"content":[{"logprob":3.5}]}`), []string{"logprobs"}, ""},
	{"logprobs as text", choice(`"logprobs":{"content":[{"logprob":"-1"}]}`), []string{"logprobs"}, ""},
	{"negative ids in logprobs", choice(`"logprobs":{"content":[{"id":-7,"logprob":-1}]}`), []string{"token_ids"}, ""},
	{"a long finish reason", choice(`"finish_reason":"` + long + `"`), []string{"finish_reason"}, ""},
	{"a finish reason with NUL and half a character", choice(`"finish_reason":"a\u0000\ud800b"`), nil, ""},
	{"a long model name", beside(`"model":"` + long + `"`), []string{"model"}, ""},
	{"a model name with NUL and escapes", beside(`"model":"m\u0000\u001b[31m\ud800"`), nil, ""},
	{"a long fingerprint", beside(`"system_fingerprint":"` + long + `"`), []string{"system_fingerprint"}, ""},
	{"a long refusal", message(`{"role":"assistant","content":"x","refusal":"` + strings.Repeat("n", 100<<10) + `"}`), []string{"refusal"}, ""},
	{"a created time beyond int8", beside(`"created":1e999,"id":{"a":1},"object":7`), nil, ""},
	{"NUL and lone surrogates in the content", message(`{"role":"assistant","content":"a\u0000b\ud800c"}`), nil, ""},
	{"bytes that are not UTF-8", message("{\"role\":\"assistant\",\"content\":\"a\xff\xfe\"}"), nil, ""},
	{"call ids and names without bounds", message(`{"role":"assistant","content":null,"tool_calls":[{"id":"` + long + `\u0000","type":"function","function":{"name":"` + long + `\u0000\ud800","arguments":"{\"a\":\u0000"}}]}`), nil, ""},
	{"two hundred calls", message(`{"role":"assistant","content":null,"tool_calls":[` + strings.Repeat(`{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}},`, 199) +
		`{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}`), nil, ""},
	{"a message above its bound", message(`{"role":"assistant","content":"` + strings.Repeat("y", 9<<20) + `"}`), nil, relabel.CodeEndpoint},
	{"an answer above its bound", func(w http.ResponseWriter, _ *http.Request) {
		for range 40 {
			w.Write(bytes.Repeat([]byte(" "), 1<<20))
		}
	}, nil, relabel.CodeEndpoint},
	{"an error body of 10 MB", status(400, "", "", strings.Repeat("e", 10<<20)), nil, relabel.CodeEndpoint},
	{"an error body with NUL and escapes", status(400, "", "", "{\"error\":{\"message\":\"\\u0000\\u001b]0;x\\u0007\xff\"}}"), nil, relabel.CodeEndpoint},
	{"an overflow of a length beyond all numbers", status(400, "", "", `{"error":{"message":"maximum context length is 99999999999999999999999","type":"exceed_context_size_error","n_ctx":1e999}}`), nil, relabel.CodeContextOverflow},
	{"Retry-After without end", status(429, "Retry-After", "1e300", "{}"), nil, relabel.CodeEndpoint},
	{"Retry-After NaN", status(429, "Retry-After", "NaN", "{}"), nil, relabel.CodeEndpoint},
	{"Retry-After in the year 9999", status(503, "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT", "{}"), nil, relabel.CodeEndpoint},
	{"a redirect to nowhere", status(302, "Location", "http://\x01", ""), nil, relabel.CodeEndpoint},
	{"choices is text", says(`{"choices":"x"}`), nil, relabel.CodeEndpoint},
	{"no choices", says(`{"choices":[]}`), nil, relabel.CodeEndpoint},
	{"a message that is a number", says(`{"choices":[{"message":7}]}`), nil, relabel.CodeEndpoint},
	{"depth without end", says(strings.Repeat("[", 100_000)), nil, relabel.CodeEndpoint},
	{"nothing", says(""), nil, relabel.CodeEndpoint},
	{"half an answer", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, `{"choices":[`)
	}, nil, relabel.CodeEndpoint},
	{"a body that claims to be compressed", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		io.WriteString(w, `{"choices":[]}`)
	}, nil, relabel.CodeEndpoint},
	{"a header of a megabyte", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("h", 12<<20))
		io.WriteString(w, `{"choices":[]}`)
	}, nil, relabel.CodeEndpoint},
}

func TestALyingEndpointsAnswersAreBoundedAndStored(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := storetest.SeedWith(t, s, 1, func(d *storetest.Seeded) {
		d.Trajectories[0].Executors = relabel.Executors(strings.Repeat("s", len(lies)))
	})
	claim := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	turn := 0
	for _, l := range lies {
		done, err := askLiar(t, s, claim, turn+1, l)
		if code := relabel.CodeOf(err); code != l.code {
			t.Errorf("%s: %v", l.name, err)
			continue
		}
		if err != nil {
			continue
		}
		if !slices.Equal(done.Clamped, l.clamped) {
			t.Errorf("%s: %q is clamped", l.name, done.Clamped)
		}
		turn++
		commitLie(t, s, claim, turn, done, l.name)
	}
	checkLies(t, s, claim.TrajectoryID)
}

// askLiar asks an endpoint that lies, and bounds how often it is asked.
func askLiar(t *testing.T, s *store.Store, claim relabel.Claim, turn int, l lie) (relabel.Completion, error) {
	t.Helper()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		io.Copy(io.Discard, r.Body)
		l.answer(w, r)
	}))
	defer server.Close()
	p := claim.Student
	p.BaseURL, p.Limits.Retries, p.Limits.PatienceSeconds, p.Limits.TimeoutSeconds = server.URL+"/v1", 0, 0, 60
	c, err := policy.Open(p, policy.Options{Record: s.RecordCall, Seen: func(ctx context.Context, m relabel.ModelSeen) error {
		_, err := s.RecordModel(ctx, m)
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	done, err := c.Complete(context.Background(), relabel.ChatRequest{Messages: []relabel.Message{{Role: relabel.RoleUser, Content: "?"}},
		TrajectoryID: claim.TrajectoryID, Attempt: claim.Attempt, T: turn, Purpose: relabel.PurposeAct})
	if asked > 1 {
		t.Errorf("%s: asked %d times", l.name, asked)
	}
	return done, err
}

// commitLie stores a turn and a label of what was answered.
func commitLie(t *testing.T, s *store.Store, claim relabel.Claim, turn int, done relabel.Completion, name string) {
	t.Helper()
	parse := func(relabel.Message) relabel.ParseOutcome { return relabel.NoCall }
	label := done.Action(claim.Teacher.ID, parse)
	stored := relabel.Turn{T: turn, Executor: relabel.Student, Action: done.Action(claim.Student.ID, parse), Label: &label,
		StartedAt: time.Now(), EndedAt: time.Now(), Tree: "tree"}
	for k, call := range done.Message.ToolCalls {
		stored.Observations = append(stored.Observations, relabel.Observation{CallID: relabel.CallID(turn, k), Tool: call.Name, Content: "there is no such tool", Failed: true})
	}
	if err := s.CommitTurn(context.Background(), claim.Fence, stored); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// checkLies looks at the rows: numbers within bounds, and each call's clamps with it.
func checkLies(t *testing.T, s *store.Store, trajectory relabel.ID) {
	t.Helper()
	calls, err := s.ListCalls(context.Background(), trajectory)
	if err != nil {
		t.Fatal(err)
	}
	if len(calls) != len(lies) {
		t.Errorf("%d calls are recorded of %d", len(calls), len(lies))
	}
	var clamped int
	for _, c := range calls {
		if len(c.Clamped) > 0 {
			clamped++
		}
		if u := c.Usage; u != nil && (u.PromptTokens < 0 || u.CompletionTokens < 0 || u.CachedTokens > u.PromptTokens) {
			t.Errorf("stored usage %+v", *u)
		}
		if len(c.ErrorBody) > 8<<10 || len(c.Error) > 2<<10 || len(c.Model) > 200 || len(c.FinishReason) > 200 {
			t.Errorf("stored without bound: %d, %d, %d, %d bytes", len(c.ErrorBody), len(c.Error), len(c.Model), len(c.FinishReason))
		}
	}
	want := 0
	for _, l := range lies {
		want += min(len(l.clamped), 1)
	}
	if clamped != want {
		t.Errorf("%d calls name what was clamped, not %d", clamped, want)
	}
}
