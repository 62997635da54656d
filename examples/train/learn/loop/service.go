package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"relabel/api/client"
	"relabel/examples/train/learn/repair"
)

// process is a running program.
type process struct {
	command *exec.Cmd
	done    chan error
}

// start starts a program. Its standard error goes to a file.
func start(logFile, program string, args ...string) (*process, *bufio.Scanner, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	p := &process{command: exec.Command(program, args...), done: make(chan error, 1)}
	p.command.Stderr = log
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, nil, err
	}
	return p, bufio.NewScanner(out), nil
}

// watch ends when the program does.
func (p *process) watch() { go func() { p.done <- p.command.Wait() }() }

// stop asks the program to end, and waits for that.
func (p *process) stop() {
	if p == nil {
		return
	}
	_ = p.command.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.done:
	case <-time.After(90 * time.Second):
		_ = p.command.Process.Kill()
	}
}

// startRelabel starts a relabel with its data in the folder --out, and waits until it answers.
func startRelabel(ctx context.Context, o options) (*process, *client.Client, error) {
	data := filepath.Join(o.Out, "data")
	if err := os.MkdirAll(data, 0o755); err != nil {
		return nil, nil, err
	}
	address := filepath.Join(data, "server.url")
	_ = os.Remove(address) // of a server that was killed
	logFile := filepath.Join(o.Out, "relabel.log")
	p, _, err := start(logFile, o.Relabel, "serve", "--data", data, "--listen", "127.0.0.1:0", "--min-free", "1GiB",
		"--rollouts", strconv.Itoa(o.Rollouts), "--prefetch", strconv.Itoa(max(1, o.Rollouts/2)))
	if err != nil {
		return nil, nil, err
	}
	p.watch()
	c, err := waitForServer(ctx, p, address)
	if err != nil {
		p.stop()
		return nil, nil, fmt.Errorf("relabel does not start, see %s: %w", logFile, err)
	}
	return p, c, nil
}

// startLimit is how long a server may take until it answers.
const startLimit = 5 * time.Minute

// waitForServer waits for the file with the address of the server, and for its answer.
func waitForServer(ctx context.Context, p *process, address string) (*client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-p.done:
			p.done <- err
			return nil, fmt.Errorf("it ended: %w", err)
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
		url, err := os.ReadFile(address)
		if err != nil {
			continue
		}
		c, err := client.New(strings.TrimSpace(string(url)), "")
		if err != nil {
			return nil, err
		}
		if _, err := c.Runs(ctx); err == nil {
			return c, nil
		}
	}
}

// startTeacher serves the teacher. It returns the base URL of its policy.
func startTeacher() (stop func(), url string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	server := &http.Server{Handler: repair.NewTeacher(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }() // ends with ErrServerClosed
	return func() { _ = server.Close() }, "http://" + l.Addr().String() + "/v1", nil
}

// startStudent serves a checkpoint. It returns the base URL of its policy.
func startStudent(o options, model, checkpoint string) (*process, string, error) {
	logFile := filepath.Join(o.Out, "student.log")
	p, lines, err := start(logFile, o.Python, filepath.Join(o.Programs, "serve.py"), model+"="+checkpoint)
	if err != nil {
		return nil, "", err
	}
	const says = "listening on "
	for lines.Scan() {
		if url, found := strings.CutPrefix(lines.Text(), says); found {
			p.watch()
			return p, url, nil
		}
	}
	p.watch()
	p.stop()
	return nil, "", fmt.Errorf("the student's server does not start, see %s", logFile)
}
