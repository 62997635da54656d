package localpg

import (
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
	// longestSocket is the limit of a Unix socket's path in bytes (sun_path, without its NUL).
	longestSocket = 107
)

// cluster is a data folder with the programs and the user that run its server.
type cluster struct {
	dir  string // …/postgres: data, socket and log
	data string
	bin  binaries
	user account
}

// major returns the version that created the data folder; 0 if there is none yet.
func (c *cluster) major() int {
	b, _ := os.ReadFile(filepath.Join(c.data, "PG_VERSION"))
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return n
}

func (c *cluster) log() string { return filepath.Join(c.dir, "postgres.log") }

// prepare creates folders and database files if they are missing.
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
		return relabel.Errorf(relabel.CodeUnavailable, "cannot read %s", c.data).Because(err)
	}
	return c.initialise(ctx)
}

// initialise runs initdb in another folder and renames it, so that an interrupted initdb does not
// leave a folder that looks complete. All who can reach the private socket folder are trusted.
func (c *cluster) initialise(ctx context.Context) error {
	fresh := c.data + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "cannot remove %s", fresh).Because(err)
	}
	cmd := exec.CommandContext(ctx, c.bin.path("initdb"), "-D", fresh, "-U", role, "--auth=trust", "--encoding=UTF8", "--locale=C")
	cmd.SysProcAttr, cmd.Dir = c.user.attributes(), c.dir
	if output, err := cmd.CombinedOutput(); err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "initdb failed in %s: %s", c.dir, lastLines(output)).Because(err)
	}
	if err := os.Rename(fresh, c.data); err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "cannot rename %s to %s", fresh, c.data).Because(err)
	}
	return nil
}

// socketFolder returns a private folder whose socket's path is short enough: in the cluster's
// folder, or below /tmp with a name from its hash.
func (c *cluster) socketFolder() (string, error) {
	dir := filepath.Join(c.dir, "socket")
	if len(filepath.Join(dir, ".s.PGSQL."+port)) > longestSocket {
		sum := sha256.Sum256([]byte(c.dir))
		dir = "/tmp/relabel-" + hex.EncodeToString(sum[:8])
	}
	return dir, c.user.own(dir)
}

// launch starts the server and does not wait until it answers.
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
		return nil, relabel.Errorf(relabel.CodeUnavailable, "cannot start %s", cmd.Path).Because(err)
	}
	p := &process{pid: cmd.Process.Pid, socket: socket, log: c.log(), gone: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // its log contains the reason
		close(p.gone)
	}()
	return p, nil
}

// adopt returns the server of this data folder that an earlier relabel started and that still
// runs; nil if there is none. postmaster.pid contains one line each for the process id, the data
// folder, the start time, the port and the socket's folder.
func (c *cluster) adopt() (*process, error) {
	b, err := os.ReadFile(filepath.Join(c.data, "postmaster.pid"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "cannot read postmaster.pid").Because(err)
	}
	lines := strings.Split(string(b), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid < 2 || len(lines) < 5 || filepath.Clean(lines[1]) != c.data {
		return nil, nil // stale or not yet written: postgres itself checks the file
	}
	p := &process{pid: pid, socket: lines[4], log: c.log()}
	if !p.alive() {
		return nil, nil
	}
	return p, nil
}
