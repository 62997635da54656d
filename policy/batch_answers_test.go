package policy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"relabel"
)

// batchOf opens the batch endpoint whose files are what file writes.
func batchOf(t *testing.T, file func(io.Writer)) *Batches {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { file(w) }))
	t.Cleanup(server.Close)
	b, err := OpenBatches(aPolicy(func(p *relabel.Policy) { p.BaseURL = server.URL + "/v1" }), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// lineOf is an answer with a number of bytes of text.
func lineOf(id string, bytes int) string {
	return fmt.Sprintf(`{"custom_id":%q,"response":{"status_code":200,"body":{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":%q}}],"padding":%q}}}`+"\n",
		id, id, strings.Repeat("x", bytes))
}

func TestFewLargeLinesOfBatchesAreInMemoryAtOnce(t *testing.T) {
	t.Parallel()
	b := batchOf(t, func(w io.Writer) { io.WriteString(w, lineOf("large", usualAnswer+1)) })
	var mu sync.Mutex
	held, most := 0, 0
	of := func(string) relabel.ChatRequest { // while the line is in memory
		mu.Lock()
		held++
		most = max(most, held)
		mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		mu.Lock()
		held--
		mu.Unlock()
		return relabel.ChatRequest{}
	}
	var reading sync.WaitGroup
	for range 4 * largeAtOnce {
		reading.Go(func() {
			if err := b.Answers(context.Background(), "f", of, func(relabel.BatchAnswer) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	reading.Wait()
	if most > largeAtOnce {
		t.Errorf("%d large lines were in memory at once", most)
	}
}

func TestLinesOfBatchesAreReadWhateverTheirLength(t *testing.T) {
	t.Parallel()
	b := batchOf(t, func(w io.Writer) {
		io.WriteString(w, "\n\nno JSON\n"+lineOf("first", 10)+lineOf("large", 2*usualAnswer)+lineOf("second", 70_000))
		io.WriteString(w, strings.Repeat(" ", maxAnswer+200_000)+lineOf("end of too large a line", 0)+lineOf("too large", maxAnswer+1)+lineOf("third", 0)+"\n"+strings.TrimSpace(lineOf("last", 1)))
	})
	var got []string
	err := b.Answers(context.Background(), "f", func(string) relabel.ChatRequest { return relabel.ChatRequest{} }, func(a relabel.BatchAnswer) error {
		if a.Err != nil || a.Completion.Message.Content != a.CustomID {
			t.Errorf("%s: %q, %v", a.CustomID, a.Completion.Message.Content, a.Err)
		}
		got = append(got, a.CustomID)
		return nil
	})
	if want := "first large second third last"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("read %v, %v", got, err)
	}
}

func TestAnIncompleteFileOfAnswersIsUnclear(t *testing.T) {
	t.Parallel()
	b := batchOf(t, func(w io.Writer) {
		io.WriteString(w, lineOf("first", 10)+`{"custom_id"`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	n := 0
	err := b.Answers(context.Background(), "f", func(string) relabel.ChatRequest { return relabel.ChatRequest{} }, func(relabel.BatchAnswer) error {
		n++
		return nil
	})
	if relabel.CodeOf(err) != relabel.CodeUnavailable || n != 1 {
		t.Errorf("%d lines, %v", n, err)
	}
}

func TestABatchIsFoundOnALaterPageOfTheList(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("after"))
		if r.URL.Query().Get("after") == "" {
			fmt.Fprint(w, `{"data": [{"id": "b1", "metadata": {"relabel_batch": "another"}}, {"id": "b2"}], "has_more": true}`)
			return
		}
		fmt.Fprint(w, `{"data": [{"id": "b3", "metadata": {"relabel_batch": "ours"}}], "has_more": false}`)
	}))
	defer server.Close()
	b, err := OpenBatches(aPolicy(func(p *relabel.Policy) { p.BaseURL = server.URL + "/v1" }), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"ours": "b3", "nobody's": ""} {
		asked = nil
		found, err := b.Find(t.Context(), key)
		if err != nil || !slices.Equal(asked, []string{"", "b2"}) || (found != nil) != (want != "") || found != nil && found.ID != want {
			t.Errorf("%s: %+v, %v, asked after %q", key, found, err, asked)
		}
	}
}
