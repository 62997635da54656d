package policy

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"os"
	"reflect"
	"testing"

	"relabel"
)

// scoreCapture is what a real server answered to a request for scores.
func scoreCapture(t *testing.T, name string) (c capture) {
	t.Helper()
	data, err := os.ReadFile("testdata/scores/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAnAnswerOfARealVLLMIsScores compares the scores of a real answer with those that transformers
// computes for the same model, by the log-softmax after the ids that precede each token.
func TestAnAnswerOfARealVLLMIsScores(t *testing.T) {
	c := scoreCapture(t, "vllm-0.31")
	var sent []byte
	b := open(t, func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		c.serve(w, r)
	}, nil)
	scores, err := b.Score(t.Context(), scoredText(2))
	if err != nil || len(scores) != 1 {
		t.Fatalf("%+v, %v", scores, err)
	}
	if !bytes.Equal(sent, c.Request.Body) {
		t.Errorf("the request is %s, captured was %s", sent, c.Request.Body)
	}
	got := scores[0]
	if got.T != 4 || got.TopK != 2 || !reflect.DeepEqual(got.TopIDs, []int32{71620, 137270, 27863, 116714}) {
		t.Errorf("%+v", got)
	}
	equal(t, got.Logprobs, []float64{-14.01001600994788, -10.70597477186616})
	equal(t, got.TopLogprobs, []float64{-5.756455466887576, -6.324138209960085, -6.691801025757152, -6.948193504700023})
	if call := b.ledger.only(t); call.Usage == nil || call.Usage.PromptTokens != 5 || call.Clamped != nil {
		t.Errorf("recorded %+v", call)
	}
}

// equal compares log-probabilities in float32 with others in float64.
func equal(t *testing.T, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range got {
		if math.Abs(float64(got[i])-want[i]) > 1e-5 {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

func TestARealVLLMRefusesATextThatIsTooLong(t *testing.T) {
	b := open(t, scoreCapture(t, "vllm-0.31-overflow").serve, nil)
	if _, err := b.Score(t.Context(), scoredText(2)); relabel.CodeOf(err) != relabel.CodeContextOverflow {
		t.Error(err)
	}
}
