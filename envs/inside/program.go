package inside

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

// errTooLarge says that a program wrote more than maxWritten, or that a patch is longer
// than one may be.
var errTooLarge = errors.New("too large")

// request is a program of our own need.
type request struct {
	scratch string   // the folder of its standard streams
	env     []string // all of its variables
	dir     string   // where it starts
	args    []string // the first is its path, or a name on the PATH of env
	stdin   []byte
	folder  *os.File // open in it as file 3; nil for none
}

// output runs a program of our own need and returns what it wrote; more than maxWritten is
// errTooLarge.
func (p *processes) output(ctx context.Context, r request) (stdout, stderr []byte, status syscall.WaitStatus, err error) {
	out, says, status, err := p.outputFiles(ctx, r)
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
			return nil, nil, status, errTooLarge
		}
	}
	return stdout, stderr, status, nil
}

// outputFiles runs a program of our own need and returns the files that it wrote to, which the
// caller closes. Its standard streams are plain files: nothing has to feed or empty them while it
// runs.
func (p *processes) outputFiles(ctx context.Context, r request) (stdout, stderr *os.File, status syscall.WaitStatus, err error) {
	path, err := lookPath(r.args[0], r.env)
	if err != nil {
		return nil, nil, 0, err
	}
	files, err := standardFiles(r.scratch, r.stdin)
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
func (p *processes) runOwn(ctx context.Context, r request, path string, files [3]*os.File) (syscall.WaitStatus, error) {
	attr := &syscall.ProcAttr{Dir: r.dir, Env: r.env, Sys: &syscall.SysProcAttr{Setsid: true}}
	for _, f := range files {
		attr.Files = append(attr.Files, f.Fd())
	}
	if r.folder != nil {
		attr.Files = append(attr.Files, r.folder.Fd())
	}
	pid, end, err := p.startOwn(path, r.args, attr)
	if err != nil {
		return 0, err
	}
	select {
	case status := <-end:
		return status, nil
	case <-ctx.Done():
		newFamily(pid).signal(syscall.SIGKILL)
		<-end
		return 0, ctx.Err()
	}
}

// standardFiles makes the files of a program's standard streams.
func standardFiles(scratch string, stdin []byte) (files [3]*os.File, err error) {
	for i := range files {
		if files[i], err = unnamed(scratch); err != nil {
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

// unnamed makes a file in a folder of ours that no path leads to.
func unnamed(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "unnamed-*")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
