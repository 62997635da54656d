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
	"sync"
	"syscall"
	"time"
)

// sshGrace is how long ssh may take to end after its connection is closed.
const sshGrace = 5 * time.Second

// dialSSH connects to the engine of another machine through the user's ssh and
// `docker system dial-stdio` there, as Docker's client does. ~/.ssh/config determines keys, jump hosts
// and shared connections. ssh does not prompt for passwords.
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
	c.ssh.Stdin, c.ssh.Stdout, c.ssh.Stderr = theirs, theirs, &c.stderr
	c.ssh.WaitDelay = time.Second
	c.ssh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C must not end ssh before relabel has cleaned up
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

// socketPair makes both ends of a connection, one of them as a file for a child process.
func socketPair() (net.Conn, *os.File, error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("create a socket pair: %w", err)
	}
	mine, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	defer mine.Close()
	conn, err := net.FileConn(mine)
	if err != nil {
		theirs.Close()
	}
	return conn, theirs, err
}

// sshConn is a connection through its own ssh process.
type sshConn struct {
	net.Conn
	ssh    *exec.Cmd
	stderr tail
	ended  chan struct{}
	exit   error // once ended is closed
	once   sync.Once
}

// Read reads from the engine. If ssh failed, the error contains its message.
func (c *sshConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		return n, err
	}
	return n, c.explain(err)
}

// Write writes to the engine. An ssh that fails may end before the first request is written.
func (c *sshConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, c.explain(err)
}

// explain replaces the error of a broken connection by ssh's message if ssh failed.
func (c *sshConn) explain(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		return err
	}
	select {
	case <-c.ended:
		if c.exit != nil {
			return fmt.Errorf("ssh: %w: %s", c.exit, &c.stderr)
		}
	case <-time.After(sshGrace):
	}
	return err
}

// CloseWrite signals the end of the input to the engine.
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
				_ = c.ssh.Process.Kill() // it may have ended meanwhile
			}
		}()
	})
	return err
}
