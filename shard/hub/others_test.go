package hub_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"relabel"
	"relabel/shard/hub/hubtest"
)

func TestFilesThatAreNoExportsAreNotOverwritten(t *testing.T) {
	for name, text := range map[string]string{"README.md": "somebody's", "manifest.json": `{"name": "app"}`} {
		s := hubtest.Start(t)
		s.CreateRepo("acme/set", false)
		s.Write("acme/set", "main", name, text)
		_, err := client(s).Push(context.Background(), place(t, "hf://acme/set"), set(t, round(1)), "an export", func(int64) {})
		if relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "name another branch or folder") {
			t.Errorf("%s: %v", name, err)
		}
		if got := s.Files("acme/set", "main"); len(got) != 1 || got[name] != text {
			t.Errorf("there are %v", got)
		}
	}
}

func TestFilesBesideAnEarlierExportAreNotOverwritten(t *testing.T) {
	s := hubtest.Start(t)
	push(t, s, "hf://acme/set", set(t, round(1)))
	s.Write("acme/set", "main", "packed/00002.parquet", "somebody's")
	_, err := client(s).Push(context.Background(), place(t, "hf://acme/set"), set(t, round(2)), "again", func(int64) {})
	if relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(err.Error(), "packed/00002.parquet") {
		t.Error(err)
	}
	if got := s.Files("acme/set", "main")["packed/00002.parquet"]; got != "somebody's" {
		t.Errorf("it is %q now", got)
	}
}

func TestACommitOfSomebodyElseMeanwhileIsKept(t *testing.T) {
	s := hubtest.Start(t)
	s.CreateRepo("acme/set", true)
	var once sync.Once
	s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/commit/") {
			once.Do(func() { s.Write("acme/set", "main", "notes.txt", "theirs") })
		}
		return false
	}
	want := round(1)
	push(t, s, "hf://acme/set", set(t, want))
	want["notes.txt"] = "theirs"
	sameFiles(t, s.Files("acme/set", "main"), want)
}

func TestAFileOfSomebodyElseMeanwhileIsNotOverwritten(t *testing.T) {
	s := hubtest.Start(t)
	s.CreateRepo("acme/set", true)
	var once sync.Once
	s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/commit/") {
			once.Do(func() { s.Write("acme/set", "main", "linear/00000.parquet", "theirs") })
		}
		return false
	}
	_, err := client(s).Push(context.Background(), place(t, "hf://acme/set"), set(t, round(1)), "an export", func(int64) {})
	if relabel.CodeOf(err) != relabel.CodeConflict || s.Files("acme/set", "main")["linear/00000.parquet"] != "theirs" {
		t.Error(err)
	}
}
