// Package worktree reads a working tree through a separate git folder and index of sandboxd.
package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"relabel/envs/inside/process"
	"relabel/envs/wire"
)

// ErrNoRepository means that there is no repository, or that it lacks the commit.
var ErrNoRepository = errors.New("no repository with that commit")

// Repository reads the working tree through sandboxd's own git folder and index, which borrow the real
// repository's objects. So configuration, hooks, filters, locks and index that commands left in the
// repository have no effect, and the repository is never changed.
type Repository struct {
	workdir string
	private string   // our git folder: small files that commands cannot reach
	bulk    *Bulk    // our objects and our index
	Program []string // the first words of a git command
	Start   string   // the commit that HEAD was at when the sandbox started, or first had one
	objects string   // where the repository's objects were then
	NoGit   error    // why there is no git

	Mu     sync.Mutex // one operation at a time: there is one index
	Seeded bool       // our index holds the tracked files
	theirs fileState  // the repository's own index at the last check
	Tree   TreeScan   // the result of the last scan of the working tree
}

// Open reads the repository at workdir without running git, because it delays every start.
func Open(workdir, private string, bulk *Bulk) *Repository {
	r := &Repository{workdir: workdir, private: private, bulk: bulk, Program: []string{"git"}}
	r.NoteStart()
	return r
}

// NoteStart records HEAD and the folder of objects, unless they are known already.
func (r *Repository) NoteStart() {
	if r.Start != "" {
		return
	}
	if dir, err := GitFolder(r.workdir); err == nil {
		r.Start = HeadOf(dir)
		r.objects = filepath.Join(commonFolder(dir), "objects")
	}
}

// GitFolder returns the git folder of a working tree. .git may be a file with its path.
func GitFolder(workdir string) (string, error) {
	dir := filepath.Join(workdir, ".git")
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir, nil
	}
	content, err := process.ReadPlain(dir)
	if err != nil {
		return "", err
	}
	link, ok := strings.CutPrefix(strings.TrimSpace(string(content)), "gitdir: ")
	if !ok {
		return "", ErrNoRepository
	}
	return within(workdir, link), nil
}

// commonFolder is the git folder that worktrees share.
func commonFolder(dir string) string {
	if common, err := process.ReadPlain(filepath.Join(dir, "commondir")); err == nil {
		return within(dir, strings.TrimSpace(string(common)))
	}
	return dir
}

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// HeadOf returns the commit HEAD is at, or "".
func HeadOf(dir string) string {
	head, err := process.ReadPlain(filepath.Join(dir, "HEAD"))
	if err != nil {
		return ""
	}
	ref, symbolic := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if !symbolic {
		return ref
	}
	common := commonFolder(dir)
	if id, err := process.ReadPlain(filepath.Join(common, ref)); err == nil {
		return strings.TrimSpace(string(id))
	}
	packed, err := process.ReadPlain(filepath.Join(common, "packed-refs"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(packed)) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return id
		}
	}
	return ""
}

// volatile are untracked files that programs write and that differ each time only by the clock, such as
// compiled Python. They are never part of a patch, even if the repository does not ignore them.
const volatile = "\n__pycache__/\n*.py[co]\n.pytest_cache/\n"

// Prepare writes sandboxd's git folder for the current repository. It fails with ErrNoRepository if the
// objects are gone, or contain special files that would block git.
func (r *Repository) Prepare() error {
	if r.NoGit != nil {
		return fmt.Errorf("copy git: %w", r.NoGit)
	}
	r.NoteStart()
	dir, err := GitFolder(r.workdir)
	if err != nil {
		return errors.Join(ErrNoRepository, err)
	}
	common := commonFolder(dir)
	objects := r.objects
	if !isFolder(objects) {
		objects = filepath.Join(common, "objects")
	}
	if err := checkObjects(objects); err != nil {
		return errors.Join(ErrNoRepository, err)
	}
	config := "[core]\n\trepositoryformatversion = 0\n"
	if len(r.Start) == 64 {
		config = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
	}
	exclude, _ := process.ReadPlain(filepath.Join(common, "info/exclude")) // without one nothing is excluded
	for name, content := range map[string][]byte{
		filepath.Join(r.private, "HEAD"):         []byte("ref: refs/heads/none\n"),
		filepath.Join(r.private, "config"):       []byte(config),
		filepath.Join(r.private, "info/exclude"): append(exclude, volatile...),
		// Only the content of a file determines whether it is text.
		filepath.Join(r.private, "info/attributes"): []byte("* !diff\n"),
		r.bulk.Path("objects/info/alternates"):      []byte(objects + "\n"),
		filepath.Join(r.private, "refs/none"):       nil,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// checkObjects refuses a folder of objects in which git would open a pipe or a device.
func checkObjects(objects string) error {
	if !isFolder(objects) {
		return fmt.Errorf("%s: %w", objects, process.ErrNotDirectory)
	}
	for _, sub := range []string{"info", "pack"} {
		dir := filepath.Join(objects, sub)
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // git does without
		}
		for _, entry := range entries {
			if waits(filepath.Join(dir, entry.Name()), entry.Type()) {
				return fmt.Errorf("%s/%s: %w", sub, entry.Name(), process.ErrNotRegular)
			}
		}
	}
	return nil
}

// Git runs git on sandboxd's folder and index and returns its standard output. An existing lock is from
// a killed git, because only one operation at a time uses the index.
func (r *Repository) Git(ctx context.Context, processes *process.Table, stdin []byte, args ...string) ([]byte, error) {
	os.Remove(r.bulk.Path("index.lock"))
	stdout, stderr, status, err := processes.Output(ctx, r.request("index", stdin, args))
	return stdout, gitFailure(args[0], stderr, process.ExitCode(status), err)
}

// request is that of a git command on an index of our bulk folder.
func (r *Repository) request(index string, stdin []byte, args []string) process.Request {
	env := []string{
		"PATH=" + process.ValueOf(process.CommandEnv(os.Environ()), "PATH"), "LC_ALL=C", "HOME=/nonexistent", "GIT_EXEC_PATH=/nonexistent",
		"GIT_DIR=" + r.private, "GIT_WORK_TREE=" + r.workdir,
		"GIT_OBJECT_DIRECTORY=" + r.bulk.childPath("objects"), "GIT_INDEX_FILE=" + r.bulk.childPath(index),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1", "GIT_NO_REPLACE_OBJECTS=1",
	}
	config := []string{
		"-c", "core.bigFileThreshold=" + strconv.Itoa(wire.MaxPatch), // such files count as binary
		"-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=true", "-c", "core.autocrlf=false", "-c", "core.safecrlf=false",
		"-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.excludesFile=/dev/null", "-c", "gc.auto=0", "-c", "advice.addEmbeddedRepo=false",
		"-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false", // files of the repository that no hash vouches for
	}
	words := append(append(append([]string{}, r.Program...), config...), args...)
	return process.Request{Scratch: r.bulk.Path("scratch"), Env: env, Dir: r.workdir, Args: words, Stdin: stdin, Folder: r.bulk.Folder}
}

// gitFailure is the error of a git command, nil if it succeeded.
func gitFailure(command string, stderr []byte, exit int, err error) error {
	if err != nil {
		return fmt.Errorf("git %s: %w", command, err)
	}
	if exit != 0 {
		return &gitError{command: command, exit: exit, says: lastLine(stderr)}
	}
	return nil
}

// isExit reports whether err is from a git command with the exit code.
func isExit(err error, code int) bool {
	failed, ok := errors.AsType[*gitError](err)
	return ok && failed.exit == code
}

// gitError is a git command that failed.
type gitError struct {
	command string
	exit    int
	says    string
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s: exit %d: %s", e.command, e.exit, e.says)
}

func lastLine(text []byte) string {
	text = bytes.TrimSpace(text)
	return string(text[bytes.LastIndexByte(text, '\n')+1:])
}
