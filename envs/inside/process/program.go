package process

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"relabel/envs/wire"
)

// maxWritten bounds the output of a program of sandboxd, in bytes.
const maxWritten = wire.MaxBody

// ErrTooLarge means that the output of a program, or a patch, exceeds its limit.
var ErrTooLarge = errors.New("too large")

// Request describes a program of sandboxd.
type Request struct {
	Scratch string   // the folder of its standard streams
	Env     []string // all of its variables
	Dir     string   // where it starts
	Args    []string // the first is its path, or a name on the PATH of Env
	Stdin   []byte   // its standard input
	Folder  *os.File // file 3 of the program; nil for none
}

// Output runs a program of sandboxd and returns its output; more than maxWritten is ErrTooLarge.
func (p *Table) Output(ctx context.Context, r Request) (stdout, stderr []byte, status syscall.WaitStatus, err error) {
	out, says, status, err := p.OutputFiles(ctx, r)
	if err != nil {
		return nil, nil, status, err
	}
	defer out.Close()
	defer says.Close()
	for content, from := range map[*[]byte]*os.File{&stdout: out, &stderr: says} {
		if *content, err = io.ReadAll(io.NewSectionReader(from, 0, maxWritten+1)); err != nil {
			return nil, nil, status, err
		}
		if len(*content) > maxWritten {
			return nil, nil, status, ErrTooLarge
		}
	}
	return stdout, stderr, status, nil
}

// OutputFiles runs a program of sandboxd and returns the files of its output, which the caller closes.
// Its standard streams are plain files, which need no copying while it runs.
func (p *Table) OutputFiles(ctx context.Context, r Request) (stdout, stderr *os.File, status syscall.WaitStatus, err error) {
	path, err := LookPath(r.Args[0], r.Env)
	if err != nil {
		return nil, nil, 0, err
	}
	files, err := standardFiles(r.Scratch, r.Stdin)
	if err != nil {
		return nil, nil, 0, err
	}
	defer files[0].Close()
	status, err = p.runOwn(ctx, r, path, files)
	if err != nil {
		return nil, nil, 0, errors.Join(err, files[1].Close(), files[2].Close())
	}
	return files[1], files[2], status, nil
}

// runOwn runs a program until it or ctx ends.
func (p *Table) runOwn(ctx context.Context, r Request, path string, files [3]*os.File) (syscall.WaitStatus, error) {
	attr := &syscall.ProcAttr{Dir: r.Dir, Env: r.Env, Sys: &syscall.SysProcAttr{Setsid: true}}
	for _, f := range files {
		attr.Files = append(attr.Files, f.Fd())
	}
	if r.Folder != nil {
		attr.Files = append(attr.Files, r.Folder.Fd())
	}
	pid, end, err := p.startOwn(path, r.Args, attr)
	if err != nil {
		return 0, err
	}
	select {
	case status := <-end:
		return status, nil
	case <-ctx.Done():
		NewFamily(pid).Signal(syscall.SIGKILL)
		<-end
		return 0, ctx.Err()
	}
}

// standardFiles makes the files for a program's standard streams.
func standardFiles(scratch string, stdin []byte) (files [3]*os.File, err error) {
	for i := range files {
		if files[i], err = Unnamed(scratch); err != nil {
			for _, f := range files[:i] {
				f.Close()
			}
			return files, err
		}
	}
	if _, err = files[0].WriteAt(stdin, 0); err != nil {
		for _, f := range files {
			f.Close()
		}
	}
	return files, err
}

// Unnamed makes a file without a name in a folder of sandboxd.
func Unnamed(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "unnamed-*")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
