package faketest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"relabel"
	"relabel/envs"
	"relabel/envs/inside"
	"relabel/envs/remote"
)

// Sandbox is a folder with an in-process sandboxd. Its methods use the sandbox's paths; commands see
// this machine's paths.
type Sandbox struct {
	host  *Host
	spec  envs.Spec
	root  string // the folder of all files of the sandbox
	files string // the folder of the sandbox's file system

	session   *remote.Session
	served    chan struct{}
	commands  atomic.Int64
	closed    bool // of Host.mu, as abandoned
	abandoned bool
}

var _ envs.Sandbox = (*Sandbox)(nil)

// pipes is one end of a connection within this process.
type pipes struct {
	io.Reader
	io.Writer
	close func() error
}

func (p pipes) Close() error { return p.close() }

func (b *Sandbox) start(ctx context.Context, workdir, home string) error {
	fromHost, toBox := io.Pipe()
	fromBox, toHost := io.Pipe()
	b.served = make(chan struct{})
	closeAll := func() error { return errors.Join(toBox.Close(), fromBox.Close(), fromHost.Close(), toHost.Close()) }
	go func() {
		defer close(b.served)
		defer closeAll()
		// The host's side of the pipes gets the error.
		_ = inside.Serve(fromHost, toHost, inside.Config{Home: home, Disk: home, Expire: func() { _ = closeAll() }})
	}()
	var err error
	b.session, err = remote.Open(ctx, pipes{fromBox, toBox, closeAll}, remote.Config{
		Workdir: workdir, Deadline: b.spec.Labels.Deadline, Silence: b.host.Silence,
	})
	if err != nil {
		return err
	}
	b.session.OwnedBy(ctx)
	return nil
}

// die ends sandboxd and its processes.
func (b *Sandbox) die() {
	_ = b.session.Close()
	<-b.served
}

// dead reports whether sandboxd has ended.
func (b *Sandbox) dead() bool {
	select {
	case <-b.session.Over():
		return true
	default:
		return false
	}
}

func (b *Sandbox) remove() error {
	b.die()
	return os.RemoveAll(b.root)
}

// path converts a path of the sandbox to this machine's path.
func (b *Sandbox) path(p string) string {
	if p == "" || !filepath.IsAbs(p) {
		p = filepath.Join(b.spec.Workdir, p)
	}
	return filepath.Join(b.files, p)
}

// describe converts the path of a file to the sandbox's path.
func (b *Sandbox) describe(f envs.FileInfo) envs.FileInfo {
	f.Path = strings.TrimPrefix(f.Path, b.files)
	return f
}

// before starts every call: it returns the current faults, after the delay that they demand.
func (b *Sandbox) before(ctx context.Context) (Faults, error) {
	f := b.host.current(b)
	if f.Slow > 0 {
		select {
		case <-time.After(f.Slow):
		case <-ctx.Done():
			return f, ctx.Err()
		}
	}
	return f, nil
}

// Run implements envs.Sandbox.
func (b *Sandbox) Run(ctx context.Context, cmd envs.Command) (envs.Result, error) {
	f, err := b.before(ctx)
	if err != nil {
		return envs.Result{}, err
	}
	if n := b.commands.Add(1); f.DieAfter > 0 && n > int64(f.DieAfter) || f.DieIn != "" && strings.Contains(strings.Join(cmd.Args, " "), f.DieIn) {
		b.die()
	}
	cmd.Dir = b.path(cmd.Dir)
	return b.session.Run(ctx, cmd)
}

// ReadFile implements envs.Sandbox.
func (b *Sandbox) ReadFile(ctx context.Context, path string, limit int64) ([]byte, int64, error) {
	if _, err := b.before(ctx); err != nil {
		return nil, 0, err
	}
	return b.session.ReadFile(ctx, b.path(path), limit)
}

// WriteFile implements envs.Sandbox.
func (b *Sandbox) WriteFile(ctx context.Context, path string, data []byte, mode fs.FileMode) error {
	if _, err := b.before(ctx); err != nil {
		return err
	}
	return b.session.WriteFile(ctx, b.path(path), data, mode)
}

// Stat implements envs.Sandbox.
func (b *Sandbox) Stat(ctx context.Context, path string) (envs.FileInfo, error) {
	if _, err := b.before(ctx); err != nil {
		return envs.FileInfo{}, err
	}
	f, err := b.session.Stat(ctx, b.path(path))
	return b.describe(f), err
}

// List implements envs.Sandbox.
func (b *Sandbox) List(ctx context.Context, dir string, depth, limit int) ([]envs.FileInfo, bool, error) {
	if _, err := b.before(ctx); err != nil {
		return nil, false, err
	}
	entries, more, err := b.session.List(ctx, b.path(dir), depth, limit)
	for i := range entries {
		entries[i] = b.describe(entries[i])
	}
	return entries, more, err
}

// Fingerprint implements envs.Sandbox.
func (b *Sandbox) Fingerprint(ctx context.Context) (string, error) {
	if _, err := b.before(ctx); err != nil {
		return "", err
	}
	return b.session.Fingerprint(ctx)
}

// Patch implements envs.Sandbox.
func (b *Sandbox) Patch(ctx context.Context, base string) (envs.Patch, error) {
	f, err := b.before(ctx)
	if err != nil {
		return envs.Patch{}, err
	}
	if f.Patch != nil {
		return envs.Patch{}, relabel.Errorf(relabel.CodeEnvironment, "no patch").Because(f.Patch)
	}
	return b.session.Patch(ctx, base)
}

// EndCommands implements envs.Sandbox.
func (b *Sandbox) EndCommands(ctx context.Context) error {
	if _, err := b.before(ctx); err != nil {
		return err
	}
	return b.session.EndCommands(ctx)
}

// Altered implements envs.Sandbox. There is no image to compare with.
func (b *Sandbox) Altered(ctx context.Context) ([]string, error) {
	_, err := b.before(ctx)
	return nil, err
}

// Close implements envs.Sandbox.
func (b *Sandbox) Close(context.Context) error {
	b.host.mu.Lock()
	defer b.host.mu.Unlock()
	b.closed = true
	if b.host.boxes[b.spec.Name] == b {
		delete(b.host.boxes, b.spec.Name)
	}
	return b.remove()
}

// ID implements envs.Sandbox.
func (b *Sandbox) ID() string { return "fake-" + filepath.Base(b.root) }

// HostName is the fake host's name.
func (b *Sandbox) HostName() string { return b.host.Name() }
