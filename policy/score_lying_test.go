package policy

import (
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"relabel"
)

// changed replaces a part of an answer, which must be there.
func changed(t *testing.T, of, from, to string) string {
	t.Helper()
	if !strings.Contains(of, from) {
		t.Fatalf("no %s", from)
	}
	return strings.Replace(of, from, to, 1)
}

func TestAnswersWithMoreScoresThanWereAskedForAreRefused(t *testing.T) {
	vllm, lang := documented(t, "vllm"), documented(t, "sglang")
	begin, end := strings.Index(vllm, `{"index"`), strings.Index(vllm, `],"service_tier"`)
	choice := vllm[begin:end]
	const last = `,{"525":{"logprob":0.0,"rank":1,"decoded_token":" are"},"646":{"logprob":-9999.0,"rank":2,"decoded_token":" can"}}`
	list := choice[strings.Index(choice, `"prompt_logprobs"`):strings.Index(choice, `,"prompt_token_ids"`)]
	short := changed(t, choice, last, "")
	more := strings.Repeat(`,"7":{"logprob":-9}`, 3)
	for name, c := range map[string]struct {
		change func(*relabel.Policy)
		body   string
		says   string
	}{
		"two choices":             {nil, changed(t, vllm, choice, short+","+choice), "more than once"},
		"two lists":               {nil, changed(t, vllm, choice, changed(t, short, `,"prompt_token_ids"`, `,`+list+`,"prompt_token_ids"`)), "more than once"},
		"two lists of choices":    {nil, changed(t, vllm, choice, short+`],"choices":[`+choice), "more than once"},
		"a longer list":           {nil, changed(t, vllm, last, last+last), "did not return the token ids"},
		"a longer prompt":         {nil, changed(t, vllm, `2610,525]`, `2610,525,525]`), "did not return the token ids"},
		"a shorter prompt":        {nil, changed(t, vllm, `2610,525]`, `2610]`), "did not return the token ids"},
		"many candidates":         {nil, changed(t, vllm, `"785":{"logprob":-1.25,"rank":2,"decoded_token":"The"}`, `"785":{"logprob":-1.25}`+more), "more candidates"},
		"a candidate twice":       {nil, changed(t, vllm, `"785":{`, `"40":{`), "more candidates"},
		"sglang: a longer list":   {sglang, changed(t, lang, `[-0.125,525,null]]`, `[-0.125,525,null],[-0.125,525,null]]`), "did not return the token ids"},
		"sglang: a shorter list":  {sglang, changed(t, lang, `,[-0.125,525,null]]`, `]`), "did not return the token ids"},
		"sglang: two lists":       {sglang, changed(t, lang, `"completion_tokens"`, `"input_token_logprobs":[],"completion_tokens"`), "more than once"},
		"sglang: many candidates": {sglang, changed(t, lang, `[-1.25,785,null]`, `[-1.25,785,null],[-9,7,null],[-9,8,null]`), "more candidates"},
		"sglang: two answers":     {sglang, "[" + lang + "," + lang + "]", "no log-probabilities"},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, say(200, c.body), c.change)
			if got, err := b.Score(t.Context(), scoredText(2)); relabel.CodeOf(err) != relabel.CodeEndpoint || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestUsageOfScoresIsBoundedAndNotedForBothKinds(t *testing.T) {
	vllm, lang := documented(t, "vllm"), documented(t, "sglang")
	const completion, cached = `"completion_tokens":1`, `"prompt_tokens_details":null`
	none := (*relabel.Usage)(nil)
	for name, c := range map[string]struct {
		change func(*relabel.Policy)
		body   string
		want   *relabel.Usage
	}{
		"vllm: negative":      {nil, changed(t, vllm, completion, `"completion_tokens":-2000000000`), none},
		"vllm: huge":          {nil, changed(t, vllm, completion, `"completion_tokens":1000000000000`), none},
		"vllm: text":          {nil, changed(t, vllm, completion, `"completion_tokens":[[1],2]`), none},
		"vllm: a list":        {nil, changed(t, vllm, `"usage":{`, `"usage":[{}],"x":{`), none},
		"vllm: more cached":   {nil, changed(t, vllm, cached, `"prompt_tokens_details":{"cached_tokens":9}`), &relabel.Usage{PromptTokens: 5, CompletionTokens: 1, CachedTokens: 5}},
		"sglang: negative":    {sglang, changed(t, lang, completion, `"completion_tokens":-2000000000`), none},
		"sglang: huge":        {sglang, changed(t, lang, completion, `"completion_tokens":1000000000000`), none},
		"sglang: less cached": {sglang, changed(t, lang, `"cached_tokens":0`, `"cached_tokens":-5`), &relabel.Usage{PromptTokens: 5, CompletionTokens: 1}},
		"sglang: more cached": {sglang, changed(t, lang, `"cached_tokens":0`, `"cached_tokens":9`), &relabel.Usage{PromptTokens: 5, CompletionTokens: 1, CachedTokens: 5}},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, say(200, c.body), c.change)
			if _, err := b.Score(t.Context(), scoredText(2)); err != nil {
				t.Fatal(err)
			}
			call := b.ledger.only(t)
			if (call.Usage == nil) != (c.want == nil) || c.want != nil && *call.Usage != *c.want {
				t.Errorf("usage %+v", call.Usage)
			}
			if !slices.Equal(call.Clamped, []string{"usage"}) {
				t.Errorf("%q is clamped", call.Clamped)
			}
		})
	}
}

func TestScoresThatContradictEachOtherAreRefused(t *testing.T) {
	vllm, lang := documented(t, "vllm"), documented(t, "sglang")
	for name, c := range map[string]struct {
		change func(*relabel.Policy)
		body   string
		says   string
	}{
		"too probable":               {nil, changed(t, changed(t, vllm, `"logprob":-1.0,`, `"logprob":0.009,`), `"logprob":-1.25,`, `"logprob":0.009,`), "have the sum 2.1"},
		"below minus infinity":       {nil, changed(t, vllm, `"logprob":-2.5,`, `"logprob":-3e38,`), "is -3e+38"},
		"sglang: a candidate twice":  {sglang, changed(t, lang, `[-1.25,785,null]`, `[-1.25,40,null]`), "lists token id 40 twice"},
		"sglang: two of its own":     {sglang, changed(t, lang, `[[-0.125,525,null],[-3.0`, `[[-0.5,525,null],[-3.0`), "the log-probabilities -0.125 and -0.5"},
		"sglang: below the smallest": {sglang, changed(t, lang, `[-3.0,646,null]`, `[-3e38,646,null]`), "is -3e+38"},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, say(200, c.body), c.change)
			if got, err := b.Score(t.Context(), scoredText(2)); relabel.CodeOf(err) != relabel.CodeEndpoint || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// flood writes a start and then a part until the client has gone or limit bytes are written.
func flood(start, part string, limit int, wrote *int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		part := strings.Repeat(part, 64<<10/len(part))
		_, err := io.WriteString(w, start)
		for err == nil && *wrote < limit {
			_, err = io.WriteString(w, part)
			*wrote += len(part)
		}
	}
}

func TestAFloodOfValuesIsRefusedWhileItComes(t *testing.T) {
	vllm, lang := documented(t, "vllm"), documented(t, "sglang")
	until := func(of, part string) string { return of[:strings.Index(of, part)+len(part)] }
	req := scoredText(2)
	for len(req.IDs) < 20_000 { // so that the limit of the whole answer is above what is sent
		req.IDs = append(req.IDs, 7)
	}
	for name, c := range map[string]struct {
		change      func(*relabel.Policy)
		start, part string
		says        string
	}{
		"ids of the prompt":    {nil, until(vllm, `"logprobs":null,`) + `"prompt_token_ids":[151644`, ",8948", "did not return the token ids"},
		"candidates":           {nil, until(vllm, `"decoded_token":"You"}`), `,"7":{"logprob":-9}`, "more candidates"},
		"a text":               {nil, until(vllm, `"text":"`), "x", "long texts"},
		"a number":             {nil, until(vllm, `"created":1`), "1", "long texts"},
		"space":                {nil, until(vllm, `"created":`), " ", "long texts"},
		"lists in lists":       {nil, until(vllm, `"logprobs":`), "[", "lists in lists"},
		"sglang: tokens":       {sglang, until(lang, `[-0.125,525,null]`), ",[-0.125,525,null]", "did not return the token ids"},
		"sglang: candidates":   {sglang, `{"meta_info":{"input_top_logprobs":[null,[[-1,40,null]`, ",[-1.25,785,null]", "more candidates"},
		"sglang: an escape":    {sglang, until(lang, `{"text":"`), `\"`, "long texts"},
		"sglang: deep objects": {sglang, until(lang, `"finish_reason":`), `{"a":`, "lists in lists"},
	} {
		t.Run(name, func(t *testing.T) {
			wrote := 0
			b := open(t, flood(c.start, c.part, 8<<20, &wrote), c.change)
			if _, err := b.Score(t.Context(), req); relabel.CodeOf(err) != relabel.CodeEndpoint || !strings.Contains(err.Error(), c.says) {
				t.Error(err)
			}
			b.server.Close() // waits for the handler
			if wrote >= 8<<20 {
				t.Errorf("%d bytes were read", wrote)
			}
		})
	}
	wrote := 0
	b := open(t, flood(until(vllm, `"logprobs":`)+"[7", ",7", 64<<20, &wrote), nil)
	if _, err := b.Score(t.Context(), scoredText(2)); relabel.CodeOf(err) != relabel.CodeEndpoint || !strings.Contains(err.Error(), "larger than 1 MiB, the limit for 5 tokens with top_k 2") {
		t.Errorf("a field that is not read: %v", err)
	}
	if b.server.Close(); wrote > 4<<20 {
		t.Errorf("%d bytes of a field that is not read were read", wrote)
	}
}

// TestOnlyScoresOfAnAnswerAreInMemory has 16 MiB of texts beside the scores, and looks at the heap while
// the last part of the answer is still to come.
func TestOnlyScoresOfAnAnswerAreInMemory(t *testing.T) {
	const tokens, text = 20_000, 800
	req := relabel.ScoreRequest{IDs: slices.Repeat([]int32{7}, tokens), TopK: 2, TrajectoryID: relabel.NewID(), Attempt: 1, T: 1,
		Spans: []relabel.ScoreSpan{{T: 1, Start: 1, Length: tokens - 1}}}
	word := strings.Repeat("x", text)
	for name, c := range map[string]struct {
		change                   func(*relabel.Policy)
		start, first, entry, end string
	}{
		"vllm": {nil, `{"choices":[{"prompt_token_ids":[7` + strings.Repeat(",7", tokens-1) + `],"prompt_logprobs":[`, `null`,
			`,{"7":{"logprob":-1,"decoded_token":"` + word + `"},"8":{"logprob":-2}}`, `]}]}`},
		"sglang": {sglang, `{"meta_info":{"prompt_tokens":20000,"completion_tokens":1,"input_top_logprobs":[null` +
			strings.Repeat(`,[[-1,7,null],[-2,8,null]]`, tokens-1) + `],"input_token_logprobs":[`, `[null,7,null]`, `,[-1,7,"` + word + `"]`, `]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			b := open(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(w, c.start+c.first)
				runtime.GC()
				runtime.ReadMemStats(&before)
				for range tokens - 1 {
					_, _ = io.WriteString(w, c.entry)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				_, _ = io.WriteString(w, c.end)
			}, c.change)
			got, err := b.Score(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 || len(got[0].Logprobs) != tokens-1 || len(got[0].TopIDs) != 2*(tokens-1) {
				t.Errorf("%d scores", len(got))
			}
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 6<<20 {
				t.Errorf("%d MiB are in memory", grown>>20)
			}
		})
	}
}
