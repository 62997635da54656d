package inside

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"relabel/envs/wire"
)

// errNoRepository says that there is no repository, or not the commit asked for.
var errNoRepository = errors.New("no repository with that commit")

// gitTime bounds one git command of ours.
const gitTime = 5 * time.Minute

// repository reads the working tree through a git folder of our own, which borrows the
// real one's objects. So the configuration, hooks, filters and locks that a command
// may have left in the repository mean nothing, and what is written here, objects and
// index, leaves the repository as it was.
type repository struct {
	workdir string
	private string // our git folder
	start   string // the commit that HEAD was at when the sandbox started, or first had one

	mu   sync.Mutex // one at a time: there is one index
	warm *warmIndex // nil where none is known
}

// openRepository looks at the repository at workdir without running git, because it is
// in the way of every start.
func openRepository(workdir, private string) *repository {
	r := &repository{workdir: workdir, private: private}
	r.noteStart()
	return r
}

// noteStart keeps where HEAD is, unless it is known already.
func (r *repository) noteStart() {
	if r.start != "" {
		return
	}
	if dir, err := gitFolder(r.workdir); err == nil {
		r.start = headOf(dir)
	}
}

// gitFolder returns the git folder of a working tree; .git may be a file that names it.
func gitFolder(workdir string) (string, error) {
	dir := filepath.Join(workdir, ".git")
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir, nil
	}
	content, err := readPlain(dir)
	if err != nil {
		return "", err
	}
	link, ok := strings.CutPrefix(strings.TrimSpace(string(content)), "gitdir: ")
	if !ok {
		return "", errNoRepository
	}
	return within(workdir, link), nil
}

// commonFolder is the git folder that worktrees share.
func commonFolder(dir string) string {
	if common, err := readPlain(filepath.Join(dir, "commondir")); err == nil {
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

// headOf returns the commit HEAD is at, or "".
func headOf(dir string) string {
	head, err := readPlain(filepath.Join(dir, "HEAD"))
	if err != nil {
		return ""
	}
	ref, symbolic := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if !symbolic {
		return ref
	}
	common := commonFolder(dir)
	if id, err := readPlain(filepath.Join(common, ref)); err == nil {
		return strings.TrimSpace(string(id))
	}
	packed, err := readPlain(filepath.Join(common, "packed-refs"))
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

// volatile are the untracked files that running a program leaves, and that differ each
// time by the clock alone: compiled Python holds its source's time. They are no part of
// what an agent did, whether or not the repository ignores them.
const volatile = "\n__pycache__/\n*.py[co]\n.pytest_cache/\n"

// prepare makes our git folder anew over the repository as it is now, with a copy of its
// index, so that git knows which files it need not read again.
func (r *repository) prepare(ctx context.Context, processes *processes) error {
	r.noteStart()
	dir, err := gitFolder(r.workdir)
	if err != nil {
		return errors.Join(errNoRepository, err)
	}
	objects := filepath.Join(commonFolder(dir), "objects")
	if _, err := os.Stat(objects); err != nil {
		return errors.Join(errNoRepository, err)
	}
	for _, sub := range []string{"objects/info", "refs", "info"} {
		if err := os.MkdirAll(filepath.Join(r.private, sub), 0o700); err != nil {
			return err
		}
	}
	config := "[core]\n\trepositoryformatversion = 0\n"
	if len(r.start) == 64 {
		config = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
	}
	exclude, _ := readPlain(filepath.Join(commonFolder(dir), "info/exclude")) // without one nothing is excluded
	for name, content := range map[string][]byte{
		"HEAD": []byte("ref: refs/heads/none\n"), "config": []byte(config),
		"objects/info/alternates": []byte(objects + "\n"), "info/exclude": append(exclude, volatile...),
		// Whether a file is text is seen from its content alone.
		"info/attributes": []byte("* !diff\n"),
	} {
		if err := os.WriteFile(filepath.Join(r.private, name), content, 0o600); err != nil {
			return err
		}
	}
	os.Remove(filepath.Join(r.private, "index.lock"))
	return r.placeIndex(ctx, processes, filepath.Join(dir, "index"))
}

// copyIndex copies an index with its age. Without one stage builds one.
func copyIndex(from, to string) error {
	source, err := openPlain(from)
	if err != nil {
		return nil
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if err = errors.Join(err, target.Close()); err != nil {
		return err
	}
	info, err := source.Stat()
	if err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// stage puts the whole working tree into our index, on top of what is tracked.
func (r *repository) stage(ctx context.Context, processes *processes, commit string) error {
	if err := r.prepare(ctx, processes); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(r.private, "index")); err == nil && r.addOpenly(ctx, processes) == nil {
		return nil
	}
	// The copied index may be broken, or a half of one: begin from the commit.
	os.Remove(filepath.Join(r.private, "index"))
	if _, err := r.git(ctx, processes, nil, "read-tree", commit); err != nil {
		return errors.Join(errNoRepository, err)
	}
	return r.add(ctx, processes)
}

// addOpenly stages the working tree, files too that the copied index has git pass over:
// those are marked "assume unchanged" or "skip". A skipped file that is not there stays as
// it was: a sparse checkout leaves it out.
func (r *repository) addOpenly(ctx context.Context, processes *processes) error {
	listed, err := r.git(ctx, processes, nil, "ls-files", "-v", "-z")
	if err != nil {
		return err
	}
	var hidden bytes.Buffer
	for entry := range bytes.SplitSeq(listed, []byte{0}) {
		tag, path, _ := bytes.Cut(entry, []byte(" "))
		if len(tag) != 1 || tag[0] != 'S' && (tag[0] < 'a' || tag[0] > 'z') {
			continue
		}
		if _, err := os.Lstat(filepath.Join(r.workdir, string(path))); err != nil && (tag[0] == 'S' || tag[0] == 's') {
			continue
		}
		hidden.Write(append(path, 0))
	}
	// Of the two options git heeds the last alone.
	for _, mark := range []string{"--no-assume-unchanged", "--no-skip-worktree"} {
		if hidden.Len() == 0 {
			break
		}
		if _, err := r.git(ctx, processes, hidden.Bytes(), "update-index", mark, "-z", "--stdin"); err != nil {
			return err
		}
	}
	return r.add(ctx, processes)
}

// add stages what can be read; files that cannot, which git tells by exit code 1, stay
// as they were.
func (r *repository) add(ctx context.Context, processes *processes) error {
	_, err := r.git(ctx, processes, nil, "add", "-A", "--ignore-errors")
	if isExit(err, 1) {
		return nil
	}
	return err
}

// isExit reports whether err is a git command's that ended with the exit code.
func isExit(err error, code int) bool {
	var failed *gitError
	return errors.As(err, &failed) && failed.exit == code
}

// git runs git on our folder and returns its standard output.
func (r *repository) git(ctx context.Context, processes *processes, stdin []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	env := []string{
		"PATH=" + valueOf(commandEnv(os.Environ()), "PATH"), "LC_ALL=C", "HOME=/nonexistent",
		"GIT_DIR=" + r.private, "GIT_WORK_TREE=" + r.workdir,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1", "GIT_NO_REPLACE_OBJECTS=1",
	}
	config := []string{
		"git", "-c", "core.bigFileThreshold=" + strconv.Itoa(wire.MaxPatch), // such files count as binary
		"-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=true", "-c", "core.autocrlf=false", "-c", "core.safecrlf=false",
		"-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.excludesFile=/dev/null", "-c", "gc.auto=0", "-c", "advice.addEmbeddedRepo=false",
	}
	stdout, stderr, status, err := processes.output(ctx, r.private, env, r.workdir, stdin, append(config, args...))
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	if status.ExitStatus() != 0 {
		return nil, &gitError{command: args[0], exit: exitCode(status), says: lastLine(stderr)}
	}
	return stdout, nil
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
