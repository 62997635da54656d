package localpg

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"relabel"
)

const (
	port = "5432"
	// longestSocket is what a Unix socket's path may have (sun_path, with its NUL).
	longestSocket = 107
)

// cluster is a data folder with the programs and the user that serve it.
type cluster struct {
	dir  string // …/postgres: data, socket and log
	data string
	bin  binaries
	user account
}

// major is the version that made the data folder; 0 if there is none yet.
func (c *cluster) major() int {
	b, _ := os.ReadFile(filepath.Join(c.data, "PG_VERSION"))
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return n
}

func (c *cluster) log() string { return filepath.Join(c.dir, "postgres.log") }

// prepare makes folders and database files if there are none.
func (c *cluster) prepare(ctx context.Context) error {
	if err := c.user.reaches(c.dir); err != nil {
		return err
	}
	if err := c.user.own(c.dir); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(c.data, "PG_VERSION")); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return relabel.Errorf(relabel.CodeUnavailable, "%s cannot be read", c.data).Because(err)
	}
	return c.initialise(ctx)
}

// initialise runs initdb beside and renames, so that an interrupted one leaves nothing
// that looks whole. Whoever reaches the private socket folder is trusted.
func (c *cluster) initialise(ctx context.Context) error {
	fresh := c.data + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "%s cannot be removed", fresh).Because(err)
	}
	cmd := exec.CommandContext(ctx, c.bin.path("initdb"), "-D", fresh, "-U", role, "--auth=trust", "--encoding=UTF8", "--locale=C")
	cmd.SysProcAttr, cmd.Dir = c.user.attributes(), c.dir
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "initdb failed in %s: %s", c.dir, lastLines(said.String())).Because(err)
	}
	if err := os.Rename(fresh, c.data); err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "%s cannot be put in place", c.data).Because(err)
	}
	return nil
}

// socketFolder returns a private folder whose socket's path is short enough: in the
// cluster's own, or below /tmp by a hash of it.
func (c *cluster) socketFolder() (string, error) {
	dir := filepath.Join(c.dir, "socket")
	if len(filepath.Join(dir, ".s.PGSQL."+port)) > longestSocket {
		sum := sha256.Sum256([]byte(c.dir))
		dir = "/tmp/relabel-" + hex.EncodeToString(sum[:8])
	}
	return dir, c.user.own(dir)
}

// launch starts the server, without waiting for it to answer.
func (c *cluster) launch(settings []string) (*process, error) {
	socket, err := c.socketFolder()
	if err != nil {
		return nil, err
	}
	log, err := openLog(c.log(), os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := []string{"-D", c.data, "-k", socket, "-p", port, "-c", "listen_addresses=", "-c", "unix_socket_permissions=0700"}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	cmd := exec.Command(c.bin.path("postgres"), args...)
	cmd.SysProcAttr, cmd.Dir = c.user.attributes(), c.dir
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "%s cannot be started", cmd.Path).Because(err)
	}
	p := &process{pid: cmd.Process.Pid, socket: socket, log: c.log(), gone: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended stands in its log
		close(p.gone)
	}()
	return p, nil
}

// adopt returns the server that an earlier relabel left running on this data folder,
// nil if there is none. postmaster.pid says who it is: the process id, the data
// folder, the start, the port and the socket's folder, a line each.
func (c *cluster) adopt() (*process, error) {
	b, err := os.ReadFile(filepath.Join(c.data, "postmaster.pid"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "postmaster.pid cannot be read").Because(err)
	}
	lines := strings.Split(string(b), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid < 2 || len(lines) < 5 || filepath.Clean(lines[1]) != c.data {
		return nil, nil // left over or not yet written: postgres itself judges the file
	}
	p := &process{pid: pid, socket: lines[4], log: c.log()}
	if !p.alive() || !p.isPostgres() {
		return nil, nil
	}
	return p, nil
}
