package server_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"relabel"
	"relabel/server"
)

// eventually polls until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

func TestFewAnswersAreBuiltConcurrently(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	building, most, gate := 0, 0, make(chan struct{})
	s := start(t, func(c *server.Config) {
		c.Overview = func(context.Context) (relabel.Overview, error) {
			mu.Lock()
			building++
			most = max(most, building)
			mu.Unlock()
			<-gate
			mu.Lock()
			building--
			mu.Unlock()
			return relabel.Overview{}, nil
		}
	})
	var asking sync.WaitGroup
	for range 20 {
		asking.Go(func() { s.want(200, s.get("/v1/overview")) })
	}
	eventually(t, "eight answers that are built", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return building == 8
	})
	s.want(200, s.get("/healthz")) // waits for none of them
	close(gate)
	asking.Wait()
	if most != 8 {
		t.Errorf("%d answers were built at once", most)
	}
}

func TestLargeAnswersThatNobodyReadsLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := s.seed()
	s.store.mu.Lock()
	small := s.store.runs[0]
	small.ID, small.Name = relabel.NewID(), "small"
	s.store.runs[0].Prompts.System = strings.Repeat("x", 20<<20)
	s.store.runs = append(s.store.runs, small)
	s.store.mu.Unlock()
	path := "/v1/runs/" + ids.run
	var lazy []net.Conn
	eventually(t, "a refusal", func() bool {
		lazy = append(lazy, s.dial("GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		answer := s.get(path)
		if answer.StatusCode == 200 && len(lazy) < 50 {
			return false
		}
		s.refused(answer, 503, "unavailable", "")
		if answer.Header.Get("Retry-After") == "" {
			t.Error("it does not say when to try again")
		}
		return true
	})
	if len(lazy) > 20 {
		t.Errorf("%d answers of 20 MiB were held", len(lazy))
	}
	s.want(200, s.get("/v1/runs/"+small.ID.String()))
	for _, c := range lazy {
		c.Close()
	}
	eventually(t, "room again", func() bool { return s.get(path).StatusCode == 200 })
}

func TestATokenizerIsPassedOnPieceByPiece(t *testing.T) {
	t.Parallel()
	s := start(t)
	content := bytes.Repeat([]byte("0123456789"), relabel.TokenizerChunk/4)
	files := relabel.TokenizerFiles{relabel.TokenizerJSON: content, relabel.ModelConfig: []byte("{}")}
	if _, err := s.store.CreateTokenizer(t.Context(), "large", files); err != nil {
		t.Fatal(err)
	}
	answer := s.want(200, s.get("/v1/tokenizers/large/files"))
	if answer.ContentLength != int64(len(answer.body)) {
		t.Errorf("%d bytes, said to be %d", len(answer.body), answer.ContentLength)
	}
	archive, got := tar.NewReader(bytes.NewReader(answer.body)), relabel.TokenizerFiles{}
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if got[header.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
	if got.Hash() != files.Hash() {
		t.Errorf("other files came: %v", got.List())
	}
}

func TestATokenizerThatIsDeletedWhileItIsReadEndsTheConnection(t *testing.T) {
	t.Parallel()
	s := start(t)
	tokenizer, err := s.store.CreateTokenizer(t.Context(), "gone", relabel.TokenizerFiles{relabel.TokenizerJSON: []byte("{}"), relabel.ModelConfig: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	s.store.mu.Lock()
	delete(s.store.tokenizerFiles[tokenizer.Hash], relabel.TokenizerJSON)
	s.store.mu.Unlock()
	response, err := s.Client().Get(s.URL + "/v1/tokenizers/gone/files")
	if err == nil {
		_, err = io.ReadAll(response.Body)
		response.Body.Close()
	}
	if err == nil {
		t.Error("half of the files look like all of them")
	}
}
