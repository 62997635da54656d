package process

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"relabel/envs/wire"
)

// maxWritten is the most that a program of our own need may write, in bytes.
const maxWritten = wire.MaxBody

// ErrTooLarge says that a program wrote more than maxWritten, or that a patch is longer
// than one may be.
var ErrTooLarge = errors.New("too large")

// Request is a program of our own need.
type Request struct {
	Scratch string   // the folder of its standard streams
	Env     []string // all of its variables
	Dir     string   // where it starts
	Args    []string // the first is its path, or a name on the PATH of env
	Stdin   []byte   // its standard input
	Folder  *os.File // open in it as file 3; nil for none
}

// Output runs a program of our own need and returns what it wrote; more than maxWritten is
// ErrTooLarge.
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

// OutputFiles runs a program of our own need and returns the files that it wrote to, which the
// caller closes. Its standard streams are plain files: nothing has to feed or empty them while it
// runs.
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

// runOwn runs a program to its end, which comes at once where ctx is over.
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

// standardFiles makes the files of a program's standard streams.
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

// Unnamed makes a file in a folder of ours that no path leads to.
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
