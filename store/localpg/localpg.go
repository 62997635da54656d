// Package localpg runs a private Postgres in relabel's data folder if DATABASE_URL names none: on a
// Unix socket only, as an unprivileged user, durable.
package localpg

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// database and role are the names in the local server.
const (
	database = "relabel"
	role     = "relabel"
)

// startLimit bounds the time until a server answers, with its recovery after a crash.
const startLimit = 2 * time.Minute

// Server is the Postgres of one data folder.
type Server struct {
	process *process
	stopLog func()       // stops the rotation of its log
	unlock  func() error // releases the folder
}

// Start starts the Postgres of the folder dir, in dir/postgres, which is created if needed, and
// returns when it answers. It takes over a server that an earlier relabel left running. settings
// are additional ones as name=value. Errors are CodeConflict if another relabel uses the folder,
// and CodeUnavailable with what to do if no Postgres is installed or its user cannot reach the
// folder.
func Start(ctx context.Context, dir string, settings ...string) (*Server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "the data folder has no absolute path").Because(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "cannot create the data folder %s", dir).Because(err)
	}
	unlock, err := lockFolder(filepath.Join(dir, "postgres.lock"))
	if err != nil {
		return nil, err
	}
	s, err := start(ctx, filepath.Join(dir, "postgres"), settings)
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	s.unlock = unlock
	s.stopLog = rotateLogs(s.process.log, logPeriod, mostLog)
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

// errOrphans reports processes of a killed server that still run. They end within moments, later
// on a busy machine.
var errOrphans = errors.New("processes of an earlier server still run")

// orphanPause is the time between two attempts to start while such processes run.
const orphanPause = 200 * time.Millisecond

// serve takes over the folder's server or starts one, and waits until it answers.
func (c *cluster) serve(ctx context.Context, settings []string) (*Server, error) {
	p, err := c.adopt()
	if err == nil && p == nil {
		p, err = c.launch(settings)
	}
	if err != nil {
		return nil, err
	}
	s := &Server{process: p}
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(err, p.stop(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// Reaches fails, like Start, if the user that Postgres runs as cannot reach the existing folder
// dir. The error describes what to do.
func Reaches(dir string) error {
	as, err := chooseUser()
	if err != nil {
		return err
	}
	return as.reaches(filepath.Join(dir, "postgres"))
}

// URL returns the database's URL, in the form of DATABASE_URL.
func (s *Server) URL() string { return s.urlOf(database) }

func (s *Server) urlOf(name string) string {
	q := url.Values{"host": {s.process.socket}, "user": {role}, "port": {port}}
	return "postgres:///" + name + "?" + q.Encode()
}

// Stop stops the server and keeps all committed data. If ctx ends first, it kills the server. It
// may be called again.
func (s *Server) Stop(ctx context.Context) error {
	return errors.Join(s.process.stop(ctx), s.Leave())
}

// Leave releases the folder and keeps the server running; another process can take it over with
// Start.
func (s *Server) Leave() error {
	s.stopLog()
	return s.unlock()
}

// ready waits until the server answers, and creates the database if needed.
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
	if !exists {
		if _, err := conn.Exec(ctx, "CREATE DATABASE "+database); err != nil {
			return relabel.Errorf(relabel.CodeUnavailable, "cannot create the database %s in the local Postgres", database).Because(err)
		}
	}
	return nil
}

// connect retries until the server answers or ends, or ctx ends.
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
