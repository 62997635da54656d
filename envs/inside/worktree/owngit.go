package worktree

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"relabel/envs/inside/process"
)

// errNoGit says that the image has no git that can be copied.
var errNoGit = errors.New("the image has no git program")

// copyTime bounds the copying of git.
const copyTime = time.Minute

// CopyGit copies the image's git, with its loader and its libraries, to dir, which commands cannot
// reach, before any command runs. It returns the first arguments of a git command. So programs that
// commands later put onto the PATH, or in place of git and its libraries, are never run.
func CopyGit(ctx context.Context, processes *process.Table, scratch string, env []string, dir string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, copyTime)
	defer cancel()
	git, interpreter, err := findGit(env)
	if err != nil {
		return nil, err
	}
	libraries := filepath.Join(dir, "lib")
	if err := os.MkdirAll(libraries, 0o700); err != nil {
		return nil, err
	}
	own := filepath.Join(dir, "git")
	if err := copyProgram(git, own); err != nil || interpreter == "" {
		return []string{own}, err
	}
	needed, err := listLibraries(ctx, processes, scratch, []string{interpreter}, git)
	if err != nil {
		return nil, err
	}
	for name, path := range needed {
		if err := copyProgram(path, filepath.Join(libraries, name)); err != nil {
			return nil, err
		}
	}
	loader := filepath.Join(dir, "loader")
	if err := copyLoader(interpreter, loader); err != nil {
		return nil, err
	}
	start := []string{loader, "--library-path", libraries}
	loaded, err := listLibraries(ctx, processes, scratch, start, own)
	if err != nil {
		return nil, err
	}
	for name, path := range loaded {
		if filepath.Dir(path) != libraries && path != loader && !strings.HasPrefix(filepath.Base(path), "ld-") {
			return nil, fmt.Errorf("the copy of git loads %s from %s", name, path)
		}
	}
	return append(start, own), nil
}

// findGit returns the first git on the PATH of env that is not a script, and its loader, "" if it is
// linked statically.
func findGit(env []string) (git, interpreter string, err error) {
	for _, dir := range filepath.SplitList(process.ValueOf(env, "PATH")) {
		path := filepath.Join(dir, "git")
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		program, err := elf.Open(path)
		if err != nil {
			continue // a script
		}
		interpreter, err = interpreterOf(program)
		return path, interpreter, errors.Join(err, program.Close())
	}
	return "", "", errNoGit
}

// interpreterOf returns the path of a program's loader, "" if it has none.
func interpreterOf(program *elf.File) (string, error) {
	for _, segment := range program.Progs {
		if segment.Type == elf.PT_INTERP {
			path, err := io.ReadAll(segment.Open())
			return string(bytes.TrimRight(path, "\x00")), err
		}
	}
	return "", nil
}

// listLibraries runs a loader with the arguments of start, and returns the files that it would load for
// a program by their names in the program.
func listLibraries(ctx context.Context, processes *process.Table, scratch string, start []string, program string) (map[string]string, error) {
	args := append(append([]string{}, start[:1]...), "--list")
	args = append(append(args, start[1:]...), program)
	out, says, status, err := processes.Output(ctx, process.Request{Scratch: scratch, Env: []string{"LC_ALL=C"}, Dir: "/", Args: args})
	if err != nil || status.ExitStatus() != 0 {
		return nil, errors.Join(fmt.Errorf("list the libraries of %s: exit %d: %s", program, process.ExitCode(status), lastLine(says)), err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		// "name => /path (0x…)", "/path (0x…)" for the loader, or a name alone for the kernel's.
		name, path, named := strings.Cut(strings.TrimSpace(line), " => ")
		if !named {
			continue
		}
		path, _, _ = strings.Cut(path, " (")
		if !strings.HasPrefix(path, "/") {
			return nil, fmt.Errorf("%s needs %s, which is missing", program, name)
		}
		files[filepath.Base(name)] = path
	}
	return files, nil
}

// copyProgram copies a program or a library.
func copyProgram(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o700)
}

// preloadFile lists libraries that the GNU loader loads into every program. No option changes its path.
const preloadFile = "/etc/ld.so.preload\x00"

// copyLoader copies a loader and disables its preloadFile.
func copyLoader(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	content = bytes.ReplaceAll(content, []byte(preloadFile), append([]byte{0}, preloadFile[1:]...))
	return os.WriteFile(to, content, 0o700)
}
