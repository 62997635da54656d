package store_test

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// line is a connection to Postgres that can be cut right after a commit was answered,
// before the client hears of it.
type line struct {
	url      string
	armed    atomic.Bool
	cuts     atomic.Int32
	listener net.Listener
}

func newLine(t *testing.T, database string) *line {
	t.Helper()
	u, err := url.Parse(database)
	must(t, err)
	q := u.Query()
	network, target := "unix", filepath.Join(q.Get("host"), ".s.PGSQL."+q.Get("port"))
	if q.Get("host") == "" {
		network, target = "tcp", u.Host
		u.Host = ""
	}
	dir := t.TempDir()
	l := &line{}
	l.listener, err = net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	must(t, err)
	t.Cleanup(func() { _ = l.listener.Close() })
	q.Set("host", dir)
	q.Set("port", "5432")
	u.RawQuery = q.Encode()
	l.url = u.String()
	go func() {
		for {
			client, err := l.listener.Accept()
			if err != nil {
				return
			}
			go l.serve(client, network, target)
		}
	}()
	return l
}

func (l *line) serve(client net.Conn, network, target string) {
	server, err := net.Dial(network, target)
	if err != nil {
		_ = client.Close()
		return
	}
	var committing atomic.Bool
	var both sync.WaitGroup
	both.Go(func() {
		defer server.Close()
		l.copy(server, client, func(b []byte) bool {
			if bytes.Contains(b, []byte("commit\x00")) && l.armed.CompareAndSwap(true, false) {
				committing.Store(true)
			}
			return true
		})
	})
	both.Go(func() {
		defer client.Close()
		l.copy(client, server, func([]byte) bool {
			if committing.Load() { // the answer to the commit: it never arrives
				l.cuts.Add(1)
				return false
			}
			return true
		})
	})
	both.Wait()
}

func (l *line) copy(to, from net.Conn, pass func([]byte) bool) {
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if n > 0 && !pass(b[:n]) {
			return
		}
		if _, werr := to.Write(b[:n]); err != nil || werr != nil {
			return
		}
	}
}

func TestAnUnclearCommitIsSettledByItsKey(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	database := storetest.Schema(t)
	direct := storetest.Open(t, database)
	must(t, direct.Migrate(ctx))
	d := storetest.Seed(t, direct, 2)
	l := newLine(t, database)
	s := storetest.Open(t, l.url)
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")

	cut := func(what string, write func() error) {
		t.Helper()
		before := l.cuts.Load()
		l.armed.Store(true)
		if err := write(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if l.cuts.Load() != before+1 {
			t.Fatalf("%s: the line was cut %d times", what, l.cuts.Load()-before)
		}
	}
	label := storetest.Had(c.Teacher.ID, "late")
	cut("turn 1", func() error { return s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, nil)) })
	cut("turn 2", func() error { return s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 2, nil)) })
	cut("label", func() error { return s.SettleLabel(ctx, c.Fence, 1, label) })
	cut("renewal", func() error { return renew(s, c.Fence) })
	cut("ending", func() error { return s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish}) })
	cut("verifying", func() error { return s.BeginVerifying(ctx, c.Fence) })
	cut("verdict", func() error { return s.Finish(ctx, c.Fence, relabel.Verdict{Reason: "empty_patch"}) })
	other := storetest.Claim(t, s, d.Trajectories[1].ID, "w")
	cut("release", func() error { return s.Release(ctx, other.Fence) })
	other = storetest.Claim(t, s, d.Trajectories[1].ID, "w")
	must(t, s.CommitTurn(ctx, other.Fence, storetest.Turn(other, 1, nil)))
	cut("broken sandbox", func() error { return s.ReleaseBroken(ctx, other.Fence, "the engine is gone", 0) })
	other = storetest.Claim(t, s, d.Trajectories[1].ID, "w")
	cut("adoption", func() error { return s.AdoptTurns(ctx, other.Fence, other.Trajectory.Trail) })
	must(t, s.Release(ctx, other.Fence))
	other = storetest.Claim(t, s, d.Trajectories[1].ID, "w")
	cut("divergence", func() error { return s.Diverge(ctx, other.Fence, other.Trajectory.Trail, "turn 1: another tree") })
	must(t, s.CommitTurn(ctx, other.Fence, storetest.Turn(other, 1, nil)))
	if n := other.Trajectory.EnvironmentFailures; n != 1 {
		t.Errorf("one broken sandbox was counted %d times", n)
	}
	cut("failure", func() error { return s.Fail(ctx, other.Fence, relabel.FailEndpoint, "gone") })

	if n := value[int](t, direct, "SELECT count(*) FROM turns"); n != 4 { // one of them diverged
		t.Errorf("%d turns, not 4", n)
	}
	it, _, err := direct.FindIteration(ctx, d.Iteration.ID)
	must(t, err)
	if it.State != relabel.IterationDone {
		t.Errorf("each trajectory ended once, but the iteration is %s", it.State)
	}
}

func TestADatabaseThatIsNotThereIsUnavailable(t *testing.T) {
	t.Parallel()
	_, err := store.Open(context.Background(), "postgres:///relabel?user=relabel&host="+url.QueryEscape(t.TempDir()))
	wantCode(t, err, relabel.CodeUnavailable)
	_, err = store.Open(context.Background(), "postgres://relabel@:x:y/")
	wantCode(t, err, relabel.CodeInvalid)
}
