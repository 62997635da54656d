package labeller_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"relabel"
	"relabel/labeller"
	"relabel/policy"
	"relabel/store"
	"relabel/store/storetest"
	"relabel/tokenizer"
)

// sampled is a store with one trajectory of six turns that is done, whose student's turns have the ids
// that ids returns.
func sampled(t *testing.T, ids func(turn int) (prompt, sampled []int32)) (*store.Store, storetest.Seeded) {
	t.Helper()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "roller")
	for i := 1; i <= 6; i++ {
		label := storetest.Received(c.Teacher.ID, "label")
		turn := storetest.Turn(c, i, &label)
		if turn.Executor == relabel.Student {
			turn.Action.PromptTokenIDs, turn.Action.TokenIDs = ids(i)
		}
		must(t, s.CommitTurn(ctx, c.Fence, turn))
	}
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndMaxTurns}))
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Reason: "no patch"}))
	return s, d
}

// growing are turns 1, 3 and 5 whose texts are one: each prompt begins with the text of the turn before.
func growing(turn int) (prompt, sampled []int32) {
	for i := range 10 * turn {
		prompt = append(prompt, int32(i))
	}
	return prompt, []int32{int32(10 * turn), int32(10*turn + 1)}
}

// scorer answers as vLLM does, with −id/64 for each token. It keeps the prompts.
type scorer struct {
	*httptest.Server
	mu      sync.Mutex
	prompts [][]int32
	longest int // of a prompt that fits; 0: any
}

func newScorer(t *testing.T) *scorer {
	t.Helper()
	s := &scorer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask struct {
			Prompt []int32 `json:"prompt"`
		}
		_ = json.NewDecoder(r.Body).Decode(&ask)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.prompts = append(s.prompts, ask.Prompt)
		if s.longest > 0 && len(ask.Prompt) > s.longest {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":"This model's maximum context length is %d tokens."}}`, s.longest)
			return
		}
		listed := make([]map[string]any, len(ask.Prompt))
		for i, id := range ask.Prompt[1:] {
			listed[i+1] = map[string]any{fmt.Sprint(id): map[string]any{"logprob": -float64(id) / 64}}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"model": "tiny", "usage": map[string]any{"prompt_tokens": len(ask.Prompt), "completion_tokens": 1},
			"choices": []any{map[string]any{"prompt_logprobs": listed, "prompt_token_ids": ask.Prompt}}})
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *scorer) policy(t *testing.T, in *store.Store, change func(*relabel.Policy)) relabel.Policy {
	t.Helper()
	p := relabel.Policy{Name: "scorer", BaseURL: s.URL + "/v1", Model: "tiny", Server: relabel.ServerVLLM, Sampling: relabel.PaperSampling,
		Limits: relabel.PolicyLimits{Concurrency: 4, TimeoutSeconds: 30}, Price: &relabel.Price{Input: 4, Currency: "EUR"}}
	if change != nil {
		change(&p)
	}
	p, err := in.CreatePolicy(context.Background(), p)
	must(t, err)
	return p
}

// bytesOnly is a tokenizer of the bytes, with one added token.
func bytesOnly(t *testing.T, added string) *tokenizer.Tokenizer {
	t.Helper()
	vocabulary := map[string]int{}
	for i := range 256 {
		vocabulary[string(rune(0x4e00+i))] = i
	}
	file, err := json.Marshal(map[string]any{"version": "1.0", "added_tokens": []any{map[string]any{"id": 256, "content": added,
		"single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}},
		"model": map[string]any{"type": "BPE", "vocab": vocabulary, "merges": []any{}}})
	must(t, err)
	tokens, err := tokenizer.Parse(file)
	must(t, err)
	return tokens
}

// scoringWorker is a worker with tokenizers by the policy's name.
func scoringWorker(t *testing.T, s *store.Store, of map[string]*tokenizer.Tokenizer) *labeller.Labeller {
	l := worker(s, s, "scorer", labeller.BatchBounds{})
	l.World.Policy = func(p relabel.Policy) (labeller.Policy, error) {
		return policy.Open(p, policy.Options{Record: s.RecordCall})
	}
	l.World.Tokenizer = func(_ context.Context, p relabel.Policy) (*tokenizer.Tokenizer, error) {
		if found := of[p.Name]; found != nil {
			return found, nil
		}
		return nil, relabel.Errorf(relabel.CodeInvalid, "the policy has no tokenizer").On("policy")
	}
	return l
}

// scoresOf runs one scoring and returns the scores by turn.
func scoresOf(t *testing.T, s *store.Store, d storetest.Seeded, p relabel.Policy, l *labeller.Labeller) map[int]relabel.Score {
	t.Helper()
	must(t, s.StartScoring(t.Context(), relabel.ScoreSelection{RunID: d.Run.ID}, p.ID, 0, 0))
	must(t, l.Score(t.Context()))
	list, err := s.ListScores(t.Context(), d.Trajectories[0].ID, p.ID)
	must(t, err)
	byTurn := map[int]relabel.Score{}
	for _, score := range list {
		byTurn[score.T] = score
	}
	return byTurn
}

func TestAGrowingTextIsScoredInOneCall(t *testing.T) {
	t.Parallel()
	s, d := sampled(t, growing)
	e := newScorer(t)
	p := e.policy(t, s, nil)
	same := bytesOnly(t, "<end>")
	scores := scoresOf(t, s, d, p, scoringWorker(t, s, map[string]*tokenizer.Tokenizer{"scorer": same, "student": same}))
	for _, turn := range []int{1, 3, 5} {
		_, ids := growing(turn)
		want := []float32{-float32(ids[0]) / 64, -float32(ids[1]) / 64}
		if !slices.Equal(scores[turn].Logprobs, want) {
			t.Errorf("turn %d has %+v, want %v", turn, scores[turn], want)
		}
	}
	if len(e.prompts) != 1 || len(e.prompts[0]) != 52 {
		t.Errorf("asked for %v", e.prompts)
	}
	calls, err := s.ListCalls(t.Context(), d.Trajectories[0].ID)
	must(t, err)
	if len(calls) != 1 || calls[0].Purpose != relabel.PurposeScore || calls[0].CostMicros == nil || *calls[0].CostMicros != 4*52 {
		t.Errorf("calls %+v", calls)
	}
}

func TestATurnThatCannotBeScoredIsMissingWithItsReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ids     func(turn int) (prompt, sampled []int32)
		longest int
		student string // its added token
		says    map[int]string
		asked   int
	}{
		"no ids": {func(turn int) ([]int32, []int32) {
			prompt, ids := growing(turn)
			switch turn {
			case 1:
				return nil, ids
			case 3:
				return prompt, nil
			}
			return prompt, ids
		}, 0, "<end>", map[int]string{1: "no token ids of the prompt", 3: "no token ids of its action"}, 1},
		"a text that does not continue": {func(turn int) ([]int32, []int32) {
			if prompt, ids := growing(turn); turn != 3 {
				return prompt, ids
			}
			return []int32{7}, []int32{8}
		}, 0, "<end>", nil, 3},
		"too long": {growing, 40, "<end>", map[int]string{5: "context length"}, 2},
		"an added token that differs": {func(turn int) ([]int32, []int32) {
			prompt, ids := growing(turn)
			if turn == 3 {
				ids = append(ids, 256)
			}
			return prompt, ids
		}, 0, "<think>", map[int]string{3: "token 256 is not in the tokenizers of both"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, d := sampled(t, c.ids)
			e := newScorer(t)
			e.longest = c.longest
			p := e.policy(t, s, nil)
			l := scoringWorker(t, s, map[string]*tokenizer.Tokenizer{"scorer": bytesOnly(t, "<end>"), "student": bytesOnly(t, c.student)})
			scores := scoresOf(t, s, d, p, l)
			for _, turn := range []int{1, 3, 5} {
				if says := c.says[turn]; (scores[turn].Reason == "") != (says == "") || !strings.Contains(scores[turn].Reason, says) {
					t.Errorf("turn %d: %+v", turn, scores[turn])
				}
			}
			if len(e.prompts) != c.asked {
				t.Errorf("%d calls for %v", len(e.prompts), e.prompts)
			}
			progress, err := s.ScoreProgress(t.Context(), relabel.ScoreSelection{RunID: d.Run.ID})
			must(t, err)
			if n := progress[0]; n.Missing != len(c.says) || n.Received != 3-len(c.says) || n.Scorings[relabel.ScoringDone] != 1 {
				t.Errorf("progress %+v", n)
			}
		})
	}
}

func TestAPolicyThatCannotScoreFailsTheScoring(t *testing.T) {
	t.Parallel()
	s, d := sampled(t, growing)
	e := newScorer(t)
	p := e.policy(t, s, nil)
	l := scoringWorker(t, s, nil)
	if scores := scoresOf(t, s, d, p, l); len(scores) != 0 {
		t.Errorf("scores %+v", scores)
	}
	list, _, err := s.ListScorings(t.Context(), relabel.ScoringFilter{State: relabel.ScoringFailed}, relabel.Page{})
	must(t, err)
	if len(list) != 1 || !strings.Contains(list[0].Failure, "no tokenizer") || list[0].Pending != 3 {
		t.Errorf("scorings %+v", list)
	}
}

func TestAScorerOfAnotherVocabularyScoresNothing(t *testing.T) {
	t.Parallel()
	s, d := sampled(t, growing)
	e := newScorer(t)
	p := e.policy(t, s, nil)
	other, err := tokenizer.Parse([]byte(`{"version":"1.0","model":{"type":"BPE","vocab":{"a":0},"merges":[]}}`))
	must(t, err)
	same := bytesOnly(t, "<end>")
	scores := scoresOf(t, s, d, p, scoringWorker(t, s, map[string]*tokenizer.Tokenizer{"scorer": other, "student": same}))
	for turn, score := range scores {
		if !strings.Contains(score.Reason, other.VocabularyHash()) || !strings.Contains(score.Reason, same.VocabularyHash()) {
			t.Errorf("turn %d: %+v", turn, score)
		}
	}
	if len(scores) != 3 || len(e.prompts) != 0 {
		t.Errorf("%d scores, %d calls", len(scores), len(e.prompts))
	}
}

func TestTheTurnsOfAStudentWithoutATokenizerAreMissing(t *testing.T) {
	t.Parallel()
	s, d := sampled(t, growing)
	e := newScorer(t)
	p := e.policy(t, s, nil)
	scores := scoresOf(t, s, d, p, scoringWorker(t, s, map[string]*tokenizer.Tokenizer{"scorer": bytesOnly(t, "<end>")}))
	for turn, score := range scores {
		if !strings.Contains(score.Reason, "a new one does not change what it sampled") {
			t.Errorf("turn %d: %+v", turn, score)
		}
	}
	if len(scores) != 3 || len(e.prompts) != 0 {
		t.Errorf("%d scores, %d calls", len(scores), len(e.prompts))
	}
}

func TestAReleasedScoringGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	s, d := sampled(t, func(turn int) ([]int32, []int32) { return []int32{int32(turn)}, []int32{int32(turn + 1)} })
	e := newScorer(t)
	p := e.policy(t, s, nil)
	must(t, s.StartScoring(t.Context(), relabel.ScoreSelection{RunID: d.Run.ID}, p.ID, 0, 0))
	dead, err := s.ClaimScoring(t.Context(), "dead", storetest.Lease)
	must(t, err)
	must(t, s.SettleScores(t.Context(), dead.ScoreFence, []relabel.Score{{T: 3, PolicyID: p.ID, Logprobs: []float32{-5}}}))
	must(t, s.ReleaseScoring(t.Context(), dead.ScoreFence))
	same := bytesOnly(t, "<end>")
	scores := scoresOf(t, s, d, p, scoringWorker(t, s, map[string]*tokenizer.Tokenizer{"scorer": same, "student": same}))
	want := map[int][]float32{1: {-2.0 / 64}, 3: {-5}, 5: {-6.0 / 64}}
	got := map[int][]float32{}
	for turn, score := range scores {
		got[turn] = score.Logprobs
	}
	if !reflect.DeepEqual(got, want) || len(e.prompts) != 2 {
		t.Errorf("scores %v after %v", got, e.prompts)
	}
}
