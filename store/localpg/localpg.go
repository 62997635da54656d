// Package localpg runs a Postgres of relabel's own in its data folder, for those who
// have none: on a Unix socket only, as an unprivileged user, durable.
package localpg

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// database and role are what relabel uses in its own server.
const (
	database = "relabel"
	role     = "relabel"
)

// startLimit bounds how long a server may take to answer, recovery after a crash included.
const startLimit = 2 * time.Minute

// Server is a Postgres that serves one data folder.
type Server struct {
	lock    *folderLock
	process *process
	socket  string // the socket's folder
	endLog  func() // ends the care for its log; safe to call again
}

// Start brings up the Postgres of the folder dir (in dir/postgres, made at need) and
// returns when it answers. One that an earlier relabel left running is taken over.
// settings are further ones as name=value. Errors are CodeConflict if another
// relabel uses the folder, and CodeUnavailable with what to do if no Postgres is
// installed or the folder is out of its user's reach.
func Start(ctx context.Context, dir string, settings ...string) (*Server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "the data folder has no absolute path").Because(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "cannot create the data folder %s", dir).Because(err)
	}
	lock, err := lockFolder(filepath.Join(dir, "postgres.lock"))
	if err != nil {
		return nil, err
	}
	s, err := start(ctx, filepath.Join(dir, "postgres"), settings)
	if err != nil {
		return nil, errors.Join(err, lock.release())
	}
	s.lock = lock
	s.endLog = sync.OnceFunc(tendLog(s.process.log, logPeriod, mostLog))
	return s, nil
}

func start(ctx context.Context, dir string, settings []string) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	as, err := chooseUser()
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, data: filepath.Join(dir, "data"), user: as}
	if c.bin, err = findBinaries(c.major()); err != nil {
		return nil, err
	}
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	for {
		s, err := c.serve(ctx, settings)
		if err == nil || !errors.Is(err, errOrphans) {
			return s, err
		}
		select {
		case <-time.After(orphanPause):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// errOrphans says that processes of a server that was killed have not ended yet. They end
// by themselves, within moments where the machine is not busy.
var errOrphans = errors.New("processes of an earlier server are still there")

// orphanPause is how long a start waits for such processes before it tries again.
const orphanPause = 200 * time.Millisecond

// serve takes over the server of the folder or starts one, and waits until it answers.
func (c *cluster) serve(ctx context.Context, settings []string) (*Server, error) {
	p, err := c.adopt()
	if err == nil && p == nil {
		p, err = c.launch(settings)
	}
	if err != nil {
		return nil, err
	}
	s := &Server{process: p, socket: p.socket}
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(err, p.stop(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// Reaches fails with what to do where Start would, because the user whom Postgres runs as
// cannot pass to the folder dir, which exists.
func Reaches(dir string) error {
	as, err := chooseUser()
	if err != nil {
		return err
	}
	return as.reaches(filepath.Join(dir, "postgres"))
}

// URL is the database's, as DATABASE_URL would say it.
func (s *Server) URL() string { return s.urlOf(database) }

func (s *Server) urlOf(name string) string {
	q := url.Values{"host": {s.socket}, "user": {role}, "port": {port}}
	return "postgres:///" + name + "?" + q.Encode()
}

// Stop ends the server, as a restart of Postgres does: what has committed stays. It
// kills it when ctx ends first. Calling it again does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.endLog()
	return errors.Join(s.process.stop(ctx), s.lock.release())
}

// Leave lets go of the folder and leaves the server running, for another process to
// take over with Start.
func (s *Server) Leave() error {
	s.endLog()
	return s.lock.release()
}

// ready waits until the server answers and sees to it that the database exists.
func (s *Server) ready(ctx context.Context) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var exists bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", database).Scan(&exists); err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "the local Postgres accepts connections but does not answer queries").Because(err)
	}
	if exists {
		return nil
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+database); err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "cannot create the database %s in the local Postgres", database).Because(err)
	}
	return nil
}

// connect tries until the server answers, dies, or ctx ends.
func (s *Server) connect(ctx context.Context) (*pgx.Conn, error) {
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.urlOf("postgres"))
		if err == nil {
			return conn, nil
		}
		select {
		case <-retry.C:
			if !s.process.alive() {
				return nil, s.process.didNotStart()
			}
		case <-ctx.Done():
			return nil, relabel.Errorf(relabel.CodeUnavailable, "the local Postgres did not answer within %v; its log is %s",
				startLimit, s.process.log).Because(fmt.Errorf("%w: %w", ctx.Err(), err))
		}
	}
}
