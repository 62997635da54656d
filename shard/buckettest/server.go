// Package buckettest starts real object stores for tests.
package buckettest

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience limits the start of a server on a busy machine.
const patience = 2 * time.Minute

// server is a program that listens on an address of this machine.
type server struct {
	t       testing.TB
	address string
	args    func(address string) []string
	env     []string // in addition to the test's own
	cmd     *exec.Cmd
	ended   chan struct{}
}

// Start starts the server again at its previous address.
func (s *server) Start() {
	s.t.Helper()
	if !s.start() {
		s.t.Fatalf("the server does not start again at %s", s.address)
	}
}

// Stop kills the server; its address then refuses connections.
func (s *server) Stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	<-s.ended
	s.cmd = nil
}

// startSomewhere starts the server at a free address. It retries if another program takes the
// address first.
func (s *server) startSomewhere() {
	s.t.Helper()
	s.t.Cleanup(s.Stop)
	for range 5 {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.t.Fatal(err)
		}
		s.address = free.Addr().String()
		if err := free.Close(); err != nil {
			s.t.Fatal(err)
		}
		if s.start() {
			return
		}
	}
	s.t.Fatal("the server does not start")
}

// start starts the server and reports whether it listens. If it does not, its output is logged.
func (s *server) start() bool {
	s.t.Helper()
	args := s.args(s.address)
	said, err := os.CreateTemp(s.t.TempDir(), "server")
	if err != nil {
		s.t.Fatal(err)
	}
	defer said.Close()
	s.cmd, s.ended = exec.Command(args[0], args[1:]...), make(chan struct{})
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = append(os.Environ(), s.env...), said, said
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func(cmd *exec.Cmd, ended chan struct{}) {
		defer close(ended)
		_ = cmd.Wait()
	}(s.cmd, s.ended)
	for end := time.Now().Add(patience); time.Now().Before(end); {
		line, err := net.DialTimeout("tcp", s.address, time.Second)
		if err == nil {
			_ = line.Close()
			return true
		}
		select {
		case <-s.ended:
			text, _ := os.ReadFile(said.Name())
			s.t.Logf("%s ended: %s", args[0], text)
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	s.Stop()
	return false
}

// program returns the output of a script of this repository: the path of a program.
func program(t testing.TB, script string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			t.Fatalf("no go.mod above the test: %v", err)
		}
	}
	cmd := exec.Command(filepath.Join(dir, "scripts", script))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return strings.TrimSpace(string(out))
}
