package policy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"relabel"
)

// scoredText is the text of testdata/scores: the last two tokens are the turn's.
func scoredText(topK int) relabel.ScoreRequest {
	return relabel.ScoreRequest{IDs: []int32{151644, 8948, 198, 2610, 525}, TopK: topK,
		Spans: []relabel.ScoreSpan{{T: 4, Start: 3, Length: 2}}, TrajectoryID: relabel.NewID(), Attempt: 1, T: 4}
}

func sglang(p *relabel.Policy) { p.Server = relabel.ServerSGLang }

// documented is an answer in the form that a kind of server documents.
func documented(t *testing.T, kind string) string {
	t.Helper()
	body, err := os.ReadFile("testdata/scores/" + kind + "-documented.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestAnswersInTheDocumentedFormAreScores(t *testing.T) {
	for kind, c := range map[string]struct {
		change  func(*relabel.Policy)
		path    string
		request string
		want    relabel.Score
	}{
		"vllm": {func(*relabel.Policy) {}, "/v1/completions",
			`{"model":"tiny","prompt":[151644,8948,198,2610,525],"max_tokens":1,"temperature":1,"top_p":1,"add_special_tokens":false,"return_token_ids":true,"prompt_logprobs":2}`,
			relabel.Score{T: 4, TopK: 2, Logprobs: []float32{-2.5, 0}, TopIDs: []int32{40, 785, 525, 646}, TopLogprobs: []float32{-1, -1.25, 0, -9999}}},
		"sglang": {sglang, "/generate",
			`{"input_ids":[151644,8948,198,2610,525],"sampling_params":{"max_new_tokens":1,"temperature":1,"top_p":1},"return_logprob":true,"logprob_start_len":2,"top_logprobs_num":2}`,
			relabel.Score{T: 4, TopK: 2, Logprobs: []float32{-2.5, -0.125}, TopIDs: []int32{40, 785, 525, 646}, TopLogprobs: []float32{-1, -1.25, -0.125, -3}}},
	} {
		t.Run(kind, func(t *testing.T) {
			var at, sent string
			b := open(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				at, sent = r.URL.Path, string(body)
				_, _ = w.Write([]byte(documented(t, kind)))
			}, c.change)
			got, err := b.Score(t.Context(), scoredText(2))
			if err != nil {
				t.Fatal(err)
			}
			c.want.PolicyID = b.policy.ID
			if !reflect.DeepEqual(got, []relabel.Score{c.want}) {
				t.Errorf("scores %+v\nwant %+v", got, c.want)
			}
			if at != c.path || sent != c.request {
				t.Errorf("sent to %s: %s", at, sent)
			}
			call := b.ledger.only(t)
			if call.Purpose != relabel.PurposeScore || call.T != 4 || call.Usage == nil || call.Usage.PromptTokens != 5 || call.Status != 200 {
				t.Errorf("recorded %+v", call)
			}
		})
	}
}

func TestScoresOfOtherTokensAreRefused(t *testing.T) {
	vllm := documented(t, "vllm")
	lang := documented(t, "sglang")
	cut := func(of, from, to string) string {
		if !strings.Contains(of, from) {
			t.Fatalf("no %s", from)
		}
		return strings.Replace(of, from, to, 1)
	}
	for name, c := range map[string]struct {
		change func(*relabel.Policy)
		topK   int
		body   string
		says   string
	}{
		"another prompt":           {nil, 2, cut(vllm, `[151644,8948,198,2610,525]`, `[151644,8948,198,2611,525]`), "did not return the token ids"},
		"no prompt":                {nil, 2, cut(vllm, `,"prompt_token_ids":[151644,8948,198,2610,525]`, ``), "vLLM 0.10.2"},
		"another token":            {nil, 2, cut(vllm, `"2610":`, `"2611":`), "did not return the token ids"},
		"a shorter list":           {nil, 2, cut(vllm, `,{"525":{"logprob":0.0,"rank":1,"decoded_token":" are"},"646":{"logprob":-9999.0,"rank":2,"decoded_token":" can"}}`, ``), "1 of the 2 tokens"},
		"no scores":                {nil, 2, goodBody, "did not return the token ids"},
		"scores that are null":     {nil, 2, cut(vllm, `"prompt_logprobs":[null,`, `"prompt_logprobs":null,"x":[null,`), "no log-probabilities"},
		"too few candidates":       {nil, 3, vllm, "2 of the 3 most probable"},
		"a positive logarithm":     {nil, 2, cut(vllm, `-2.5`, `2.5`), "is 2.5"},
		"another kind":             {nil, 2, lang, "did not return the token ids"},
		"sglang: another token":    {sglang, 2, cut(lang, `[-2.5,2610,null]`, `[-2.5,2611,null]`), "did not return the token ids"},
		"sglang: a shorter prompt": {sglang, 2, cut(lang, `"prompt_tokens":5`, `"prompt_tokens":4`), "did not return the token ids"},
		"sglang: no candidates":    {sglang, 2, cut(lang, `"input_top_logprobs":[null,`, `"input_top_logprobs":[`), "most probable"},
		"sglang: another kind":     {sglang, 2, vllm, "no log-probabilities"},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, say(200, c.body), c.change)
			_, err := b.Score(t.Context(), scoredText(c.topK))
			if relabel.CodeOf(err) != relabel.CodeEndpoint || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
			if call := b.ledger.only(t); !strings.Contains(call.Error, c.says) || call.Tries != 1 {
				t.Errorf("recorded %+v", call)
			}
		})
	}
}

func TestOnlyServersWithLogprobsOfGivenTokensScore(t *testing.T) {
	for _, kind := range []relabel.ServerKind{relabel.ServerGeneric, relabel.ServerOpenAI, relabel.ServerLlama, relabel.ServerTransformers, relabel.ServerLlamaCpp} {
		b := open(t, good, func(p *relabel.Policy) { p.Server = kind })
		if _, err := b.Score(t.Context(), scoredText(0)); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "can label") {
			t.Errorf("%s: %v", kind, err)
		}
	}
	b := open(t, say(400, `{"error":{"message":"This model's maximum context length is 4 tokens. However, your prompt has 5.","type":"BadRequestError","code":400}}`), nil)
	if _, err := b.Score(t.Context(), scoredText(0)); relabel.CodeOf(err) != relabel.CodeContextOverflow {
		t.Errorf("a text that is too long: %v", err)
	}
}

// startScorer starts testdata/scores/server.py and returns its address.
func startScorer(t *testing.T) string {
	t.Helper()
	name := os.Getenv("RELABEL_TRAIN_PYTHON")
	if name == "" {
		out, err := exec.Command("../scripts/python.sh", "../examples/train/requirements.txt").Output()
		if err != nil {
			t.Fatalf("no Python with examples/train/requirements.txt (RELABEL_TRAIN_PYTHON names one): %v", err)
		}
		name = strings.TrimSpace(string(out))
	}
	cmd := exec.Command(name, "testdata/scores/server.py")
	cmd.Env = append(os.Environ(), "HF_HUB_OFFLINE=1", "PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the model's server did not start: %v", err)
	}
	return "http://127.0.0.1:" + strings.TrimSpace(port)
}

// referenceScore is what a model says of a token when it reads what precedes it alone.
type referenceScore struct {
	Logprob     float64   `json:"logprob"`
	TopIDs      []int32   `json:"top_ids"`
	TopLogprobs []float64 `json:"top_logprobs"`
}

func referenceScores(t *testing.T, base string, ids []int32, positions []int, topK int) (all []referenceScore) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"ids": ids, "positions": positions, "top_k": topK})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(base+"/reference", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestScoresAreTheModelsLogSoftmax scores two turns of a random text with a server over transformers in
// float32, and compares each token with transformers' own log-softmax after what precedes it.
func TestScoresAreTheModelsLogSoftmax(t *testing.T) {
	t.Parallel()
	base := startScorer(t)
	r := rand.New(rand.NewPCG(1, 2))
	req := relabel.ScoreRequest{TopK: 3, Spans: []relabel.ScoreSpan{{T: 1, Start: 1, Length: 9}, {T: 2, Start: 30, Length: 20}}, T: 2, TrajectoryID: relabel.NewID(), Attempt: 1}
	for range 50 {
		req.IDs = append(req.IDs, r.Int32N(300))
	}
	c := openAs(t, aPolicy(func(p *relabel.Policy) { p.BaseURL = base + "/v1" }), Options{})
	scores, err := c.Score(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for i, span := range req.Spans {
		var positions []int
		for at := range span.Length {
			positions = append(positions, span.Start+at)
		}
		for at, want := range referenceScores(t, base, req.IDs, positions, req.TopK) {
			worst = max(worst, math.Abs(float64(scores[i].Logprobs[at])-want.Logprob))
			ids, logprobs := scores[i].Top(at)
			if !reflect.DeepEqual(ids, want.TopIDs) {
				t.Fatalf("turn %d, token %d: the most probable are %v, want %v", span.T, at, ids, want.TopIDs)
			}
			tail := 1.0
			for k, l := range logprobs {
				worst = max(worst, math.Abs(float64(l)-want.TopLogprobs[k]))
				tail -= math.Exp(want.TopLogprobs[k])
			}
			if math.Abs(scores[i].TailMass(at)-tail) > 1e-5 {
				t.Errorf("the tail has %v, want %v", scores[i].TailMass(at), tail)
			}
		}
	}
	t.Logf("largest difference %.2g", worst)
	if worst > 1e-4 {
		t.Errorf("a log-probability differs by %v", worst)
	}
}
