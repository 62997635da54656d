package shard

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/riverqueue/river"

	"relabel"
	"relabel/shard/hub/hubtest"
)

func (s *fixedStore) ReportPush(_ context.Context, _ relabel.ID, number int, sent, of int64) (bool, error) {
	return s.onPush(number, func(p *relabel.ExportPush) {
		p.State, p.SentBytes, p.Bytes, p.Waiting = relabel.ExportRunning, sent, of, ""
	}), nil
}

func (s *fixedStore) FinishPush(_ context.Context, _ relabel.ID, number int, place string) error {
	s.onPush(number, func(p *relabel.ExportPush) { p.State, p.Place = relabel.ExportDone, place })
	return nil
}

func (s *fixedStore) FailPush(_ context.Context, _ relabel.ID, number int, reason string) error {
	s.onPush(number, func(p *relabel.ExportPush) { p.State, p.Failure = relabel.ExportFailed, reason })
	return nil
}

func (s *fixedStore) PushWaits(_ context.Context, _ relabel.ID, number int, reason string) (bool, error) {
	return s.onPush(number, func(p *relabel.ExportPush) { p.Waiting = reason }), nil
}

func (s *fixedStore) onPush(number int, do func(*relabel.ExportPush)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.export.Pushes {
		if p := &s.export.Pushes[i]; p.Number == number && p.Open() {
			do(p)
			return true
		}
	}
	return false
}

// queuePush queues a push of the store's export and returns what the job does.
func (s *fixedStore) queuePush(t *testing.T, x *Exporter, place string) (do func() error, pushed func() relabel.ExportPush) {
	t.Helper()
	p, err := x.PreparePush(context.Background(), s.export, relabel.ExportPush{Destination: place})
	if err != nil {
		t.Fatal(err)
	}
	p.Number, p.State = len(s.export.Pushes)+1, relabel.ExportQueued
	s.export.Pushes = append([]relabel.ExportPush{p}, s.export.Pushes...)
	return func() error { return work(s, x, relabel.PushExport, p.Number) }, func() relabel.ExportPush {
		e, _ := s.FindExport(context.Background(), s.export.ID)
		now, _ := e.Push(p.Number)
		return now
	}
}

// pushable is a store with a finished export in a folder, or on the Hub.
func pushable(t *testing.T, place string) (*fixedStore, *Exporter) {
	t.Helper()
	s := hubStore("one", place)
	x := hubExporter(t, s)
	export(t, s, x)
	return s, x
}

func TestAPushedExportEqualsTheFinishedOne(t *testing.T) {
	server := hubtest.Start(t)
	server.Use(t)
	want := inFolder(t, "")
	for _, from := range []string{"", "hf://acme/first@round"} {
		s, x := pushable(t, from)
		place := "hf://acme/of-folder"
		if from != "" {
			place = "hf://acme/of-hub@b/in"
		}
		for range 2 { // the second time there is nothing to do
			do, pushed := s.queuePush(t, x, place)
			if err := do(); err != nil {
				t.Fatal(err)
			}
			repo, branch, at := "acme/of-folder", "main", ""
			if from != "" {
				repo, branch, at = "acme/of-hub", "b", "/in"
			}
			head, commits := server.Head(repo, branch)
			if p := pushed(); p.State != relabel.ExportDone || p.Place != "hf://"+repo+"@"+head+at || commits != 2 || p.Bytes == 0 {
				t.Errorf("after %d commits it is %+v", commits, p)
			}
			for name, text := range want {
				if got := server.Files(repo, head)[strings.TrimPrefix(at+"/"+name, "/")]; got != text {
					t.Errorf("%s has other bytes", name)
				}
			}
		}
		if from != "" {
			scratchFree(t, x)
		}
	}
}

func TestAPushContinuesAfterADeath(t *testing.T) {
	for _, at := range []string{"/preupload/", "/objects/batch", "/objects/", "/commit/", "/tree/"} {
		server := hubtest.Start(t)
		server.Use(t)
		s, x := pushable(t, "")
		do, pushed := s.queuePush(t, x, "hf://acme/set")
		ctx, die := context.WithCancel(context.Background())
		var died atomic.Bool
		server.Before = func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.Contains(r.URL.Path, at) && died.CompareAndSwap(false, true) {
				die()
			}
			return false
		}
		if err := x.Step(ctx, relabel.ExportJob{ExportID: s.export.ID, Step: relabel.PushExport, Part: 1}); err == nil || !pushed().Open() {
			t.Errorf("%s: the worker did not die: %v, %+v", at, err, pushed())
		}
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if head, commits := server.Head("acme/set", "main"); pushed().Place != "hf://acme/set@"+head || commits != 2 {
			t.Errorf("%s: %+v, while main is at %s after %d commits", at, pushed(), head, commits)
		}
	}
}

func TestAPushWaitsForABusyHubAndFailsWhenItIsRefused(t *testing.T) {
	server := hubtest.Start(t)
	server.Use(t)
	var full atomic.Bool
	server.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if full.Load() && strings.HasSuffix(r.URL.Path, "/objects/batch") {
			w.Header().Set("X-Error-Message", "Private repository storage limit reached")
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	}
	s, x := pushable(t, "")
	do, pushed := s.queuePush(t, x, "hf://acme/set")
	full.Store(true)
	var snoozed *river.JobSnoozeError
	if err := do(); !errors.As(err, &snoozed) || !strings.Contains(pushed().Waiting, "Private repository storage limit reached") {
		t.Errorf("%v, waits for %q", err, pushed().Waiting)
	}
	full.Store(false)
	if err := do(); err != nil || pushed().State != relabel.ExportDone {
		t.Errorf("%v, %+v", err, pushed())
	}
	do, pushed = s.queuePush(t, x, "hf://others/set")
	if err := do(); err == nil || pushed().State != relabel.ExportFailed || !strings.Contains(pushed().Failure, "You don't have the rights") {
		t.Errorf("%v, %+v", err, pushed())
	}
	if s.export.State != relabel.ExportDone || len(s.reasons) > 0 {
		t.Errorf("the export is %s for %q", s.export.State, s.reasons)
	}
}

func TestACancelledPushMakesNoCommit(t *testing.T) {
	server := hubtest.Start(t)
	server.Use(t)
	s, x := pushable(t, "")
	do, pushed := s.queuePush(t, x, "hf://acme/set")
	var once atomic.Bool
	server.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/objects/batch") && once.CompareAndSwap(false, true) {
			s.onPush(1, func(p *relabel.ExportPush) { p.State = relabel.ExportCancelled })
			_, _ = io.Copy(io.Discard, r.Body) // only then does the server see that the client is gone
			<-r.Context().Done()               // the worker noticed
			return true
		}
		return false
	}
	if err := do(); err != nil {
		t.Fatal(err)
	}
	if _, commits := server.Head("acme/set", "main"); commits != 1 || pushed().State != relabel.ExportCancelled {
		t.Errorf("%d commits, it is %+v", commits, pushed())
	}
}

func TestAPushWithSecretsIsRefusedBeforeItIsQueued(t *testing.T) {
	server := hubtest.Start(t)
	server.Use(t)
	s, x := pushable(t, "")
	for place, says := range map[string]string{
		"s3://bucket": "must be a data set of the Hugging Face Hub", "hf://acme/set@" + strings.Repeat("a", 40): "names the commit",
	} {
		if _, err := x.PreparePush(t.Context(), s.export, relabel.ExportPush{Destination: place}); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", place, err)
		}
	}
	if _, err := x.PreparePush(t.Context(), s.export, relabel.ExportPush{Destination: "hf://acme/set", AllowSecrets: []string{"fun"}}); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("an unknown rule: %v", err)
	}
	s = leakyStore("leaky", "")
	x = newTestExporter(t, s)
	export(t, s, x)
	if _, err := x.PreparePush(t.Context(), s.export, relabel.ExportPush{Destination: "hf://acme/set"}); relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(err.Error(), "github-token") {
		t.Errorf("a token: %v", err)
	}
	p, err := x.PreparePush(t.Context(), s.export, relabel.ExportPush{Destination: "hf://datasets/acme/set@main?private=false", AllowSecrets: []string{"github-token", "aws-access-key"}})
	if err != nil || p.Destination != "hf://acme/set?private=false" {
		t.Errorf("%+v, %v", p, err)
	}
	if len(server.Requests("")) > 0 {
		t.Errorf("the Hub was asked: %v", server.Requests(""))
	}
}
