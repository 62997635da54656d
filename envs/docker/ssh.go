package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// sshGrace is how long an ssh may take to end once its connection is closed.
const sshGrace = 5 * time.Second

// dialSSH connects to the engine of another machine through its user's ssh and
// `docker system dial-stdio` there, as Docker's own client does. Keys, jump hosts and
// shared connections are ssh's business: ~/.ssh/config has the word. Nobody is asked for a
// password.
func dialSSH(ctx context.Context, to *url.URL) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	c := &sshConn{Conn: ours, ended: make(chan struct{})}
	c.ssh = exec.Command("ssh", sshArguments(to)...)
	c.ssh.Stdin, c.ssh.Stdout, c.ssh.Stderr = theirs, theirs, &c.said
	c.ssh.WaitDelay = time.Second
	c.ssh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is for us: we close it when we have tidied up
	if err := c.ssh.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	go func() {
		c.exit = c.ssh.Wait()
		close(c.ended)
	}()
	return c, nil
}

func sshArguments(to *url.URL) []string {
	args := []string{"-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3"}
	if user := to.User.Username(); user != "" {
		args = append(args, "-l", user)
	}
	if port := to.Port(); port != "" {
		args = append(args, "-p", port)
	}
	return append(args, "--", to.Hostname(), "docker", "system", "dial-stdio")
}

// socketPair makes both ends of a connection: the one as such, the other for a child.
func socketPair() (net.Conn, *os.File, error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("a pair of sockets: %w", err)
	}
	mine, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	defer mine.Close()
	conn, err := net.FileConn(mine)
	if err != nil {
		theirs.Close()
	}
	return conn, theirs, err
}

// sshConn is a connection through an ssh that belongs to it.
type sshConn struct {
	net.Conn
	ssh   *exec.Cmd
	said  sshWords
	ended chan struct{}
	exit  error // once ended is closed
	once  sync.Once
}

// Read reads from the engine. Where ssh has failed its own words are the error.
func (c *sshConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 || err == nil || !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		return n, err
	}
	return n, c.explain(err)
}

// Write writes to the engine. An ssh that fails at once may be gone before the first
// request is written.
func (c *sshConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err == nil || !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		return n, err
	}
	return n, c.explain(err)
}

// explain puts ssh's own words in the place of an error, where ssh has failed.
func (c *sshConn) explain(err error) error {
	select {
	case <-c.ended:
		if c.exit != nil {
			return fmt.Errorf("ssh: %w: %s", c.exit, c.said.String())
		}
	case <-time.After(sshGrace):
	}
	return err
}

// CloseWrite tells the engine that nothing more comes.
func (c *sshConn) CloseWrite() error {
	if half, ok := c.Conn.(*net.UnixConn); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close ends the connection and its ssh.
func (c *sshConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		go func() {
			select {
			case <-c.ended:
			case <-time.After(sshGrace):
				_ = c.ssh.Process.Kill() // it may have ended since
			}
		}()
	})
	return err
}

// sshWords keeps the end of what an ssh says on standard error.
type sshWords struct {
	mu   sync.Mutex
	text []byte
}

func (w *sshWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	w.text = w.text[max(0, len(w.text)-maxErrors):]
	return len(p), nil
}

func (w *sshWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimSpace(string(w.text))
}
