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

// output runs a program of our own need and returns what it wrote; more than maxWritten is
// errTooLarge. Its files are plain ones, in the folder home: nothing has to feed or empty
// them while it runs.
func (p *processes) output(ctx context.Context, home string, env []string, dir string, stdin []byte, args []string) (stdout, stderr []byte, status syscall.WaitStatus, err error) {
	path, err := lookPath(args[0], env)
	if err != nil {
		return nil, nil, 0, err
	}
	var files [3]*os.File
	for i := range files {
		if files[i], err = unnamed(home); err != nil {
			return nil, nil, 0, err
		}
		defer files[i].Close()
	}
	if _, err = files[0].WriteAt(stdin, 0); err != nil {
		return nil, nil, 0, err
	}
	attr := &syscall.ProcAttr{Dir: dir, Env: env, Sys: &syscall.SysProcAttr{Setsid: true}}
	for _, f := range files {
		attr.Files = append(attr.Files, f.Fd())
	}
	pid, end, err := p.start(path, args, attr)
	if err != nil {
		return nil, nil, 0, err
	}
	select {
	case status = <-end:
	case <-ctx.Done():
		newFamily(pid).signal(syscall.SIGKILL)
		<-end
		return nil, nil, 0, ctx.Err()
	}
	for i, content := range []*[]byte{&stdout, &stderr} {
		if *content, err = io.ReadAll(io.NewSectionReader(files[i+1], 0, maxWritten+1)); err != nil {
			return nil, nil, status, err
		}
		if len(*content) > maxWritten {
			return nil, nil, status, errTooLarge
		}
	}
	return stdout, stderr, status, nil
}

// unnamed makes a file in our folder that no path leads to. A command may have removed
// the folder.
func unnamed(home string) (*os.File, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(home, "unnamed-*")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
