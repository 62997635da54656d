package store_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"relabel"
	"relabel/envs/docker/dockertest"
	"relabel/store/localpg"
	"relabel/store/storetest"
)

// mortalPostgres is a Postgres of a test's own, which may die.
type mortalPostgres struct {
	*localpg.Server
	t   *testing.T
	dir string
}

func startPostgres(t *testing.T) *mortalPostgres {
	t.Helper()
	dir, err := os.MkdirTemp("", "restart") // t.TempDir's is closed to Postgres's user
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return startPostgresIn(t, dir)
}

func startPostgresIn(t *testing.T, dir string) *mortalPostgres {
	t.Helper()
	must(t, os.Chmod(dir, 0o755))
	p := &mortalPostgres{t: t, dir: dir}
	p.start()
	t.Cleanup(func() {
		stop, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
		defer cancel()
		must(t, p.Stop(stop))
	})
	return p
}

func (p *mortalPostgres) start() {
	p.t.Helper()
	pg, err := localpg.Start(context.Background(), p.dir)
	must(p.t, err)
	p.Server = pg
}

// postmaster is its first process. SIGQUIT to it ends all at once, as an immediate shutdown
// or a crash does.
func (p *mortalPostgres) postmaster() int {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, "postgres", "data", "postmaster.pid"))
	must(p.t, err)
	line, _, _ := strings.Cut(string(b), "\n")
	pid, err := strconv.Atoi(line)
	must(p.t, err)
	return pid
}

// recover starts it again when it has gone.
func (p *mortalPostgres) recover() {
	p.t.Helper()
	must(p.t, p.Stop(context.Background()))
	p.start()
}

// TestACrashOfPostgresInACommitIsSettled crashes it when a commit is on its way to it, and
// when it has committed and not answered. Each turn is there once in the end.
func TestACrashOfPostgresInACommitIsSettled(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pg := startPostgres(t)
	direct := storetest.Open(t, pg.URL())
	must(t, direct.Migrate(ctx))
	d := storetest.Seed(t, direct, 1)
	line := storetest.NewLine(t, pg.URL())
	s := storetest.Open(t, line.URL)
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	const turns = 6
	for n := 1; n <= turns; n++ {
		crashed, pid := make(chan error, 1), pg.postmaster()
		where, done := storetest.BeforeAnswer, false
		if n%2 == 0 {
			where = storetest.BeforeRequest
		}
		line.CutAt(where, func(_ int, sql string) bool {
			if done || !strings.Contains(sql, "FROM room; ") {
				return false
			}
			done = true
			go func() { crashed <- syscall.Kill(pid, syscall.SIGQUIT) }() // at the same time as the commit
			return n%3 != 0                                               // else it is Postgres alone that breaks the line
		})
		committed := make(chan error)
		go func() { committed <- s.CommitTurn(ctx, c.Fence, storetest.Turn(c, n, nil)) }()
		must(t, <-crashed)
		pg.recover()
		if err := <-committed; err != nil {
			t.Fatalf("turn %d: %v", n, err)
		}
	}
	line.CutAt(0, nil)
	if n := value[int](t, direct, "SELECT count(*) FROM turns"); n != turns {
		t.Errorf("%d turns, not %d", n, turns)
	}
}

// TestAPostgresWithoutRoomTakesNothingInPart fills its disk up. A turn for which there is no
// room is refused whole, as something that passes, and is taken when there is room again.
func TestAPostgresWithoutRoomTakesNothingInPart(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	disk := dockertest.SmallDisk(t, "320m")
	must(t, os.Chmod(filepath.Dir(disk), 0o711)) // Postgres's user is another
	pg := startPostgresIn(t, disk)
	s := storetest.Open(t, pg.URL())
	must(t, s.Migrate(ctx))
	d := storetest.Seed(t, s, 1)
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, nil)))
	filler := filepath.Join(disk, "filler")
	f, err := os.Create(filler)
	must(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 1<<20))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	must(t, f.Close())
	turn := storetest.Turn(c, 2, nil)
	large := make([]byte, 32<<20) // more than one segment of its log holds
	_, err = rand.Read(large)
	must(t, err)
	turn.Observations = []relabel.Observation{{CallID: "call_2_0", Content: base64.StdEncoding.EncodeToString(large)}}
	wantCode(t, s.CommitTurn(ctx, c.Fence, turn), relabel.CodeUnavailable)
	must(t, os.Remove(filler))
	must(t, s.CommitTurn(ctx, c.Fence, turn))
	if n := value[int](t, s, "SELECT count(*) FROM turns"); n != 2 {
		t.Errorf("%d turns, not 2", n)
	}
}

func TestARestartOfPostgresLosesNoTurn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pg := startPostgres(t)
	s := storetest.Open(t, pg.URL())
	must(t, s.Migrate(ctx))
	d := storetest.Seed(t, s, 1)
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, nil)))

	must(t, pg.Stop(ctx)) // every connection of the pool is dead now
	committed := make(chan error)
	go func() { committed <- s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 2, nil)) }()
	pg.start()
	must(t, <-committed)
	must(t, s.SettleLabel(ctx, c.Fence, 1, storetest.Received(c.Teacher.ID, "late")))
	if n := value[int](t, s, "SELECT count(*) FROM turns"); n != 2 {
		t.Errorf("%d turns, not 2", n)
	}
}
