package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"

	"relabel"
)

// results is a folder with the results of validations: results.jsonl has a line for each, and logs their logs. One
// process at a time writes it.
type results struct {
	dir   string
	mu    sync.Mutex
	file  *os.File
	found map[string]resultLine // the last of each instance
}

// resultLine is a line of results.jsonl.
type resultLine struct {
	Digest string `json:"digest"` // of the task that was validated
	relabel.Validation
}

// openResults opens the folder, which it makes if there is none. It reads the results and cuts off a line that was
// not written to its end. CodeConflict while another process has it open.
func openResults(dir string) (*results, error) {
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o755); err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "the folder of the results cannot be made: %v; choose another with --results DIR", err)
	}
	path := filepath.Join(dir, "results.jsonl")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(relabel.Errorf(relabel.CodeConflict, "another validation writes to %s: wait for it, or choose another folder with --results", dir), file.Close())
	}
	r := &results{dir: dir, file: file, found: map[string]resultLine{}}
	if err := r.read(path); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

func (r *results) read(path string) error {
	text, err := io.ReadAll(r.file)
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for n, line := range bytes.Split(whole, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var found resultLine
		if err := json.Unmarshal(line, &found); err != nil {
			return relabel.Errorf(relabel.CodeInvalid, "line %d of %s cannot be read: %v; remove the line, or choose another folder with --results", n+1, path, err)
		}
		r.found[found.InstanceID] = found
	}
	if err := r.file.Truncate(int64(len(whole))); err != nil {
		return err
	}
	_, err = r.file.Seek(int64(len(whole)), io.SeekStart)
	return err
}

// find returns the result of a task with at least as many runs and the same time limit. A failure of the
// infrastructure is not a result.
func (r *results) find(task relabel.Task, o ValidateOptions) (relabel.Validation, bool) {
	found, is := r.found[task.InstanceID]
	if !is || found.Digest != taskDigest(task) || found.Times < o.Times || found.VerifySeconds != o.VerifySeconds || found.State == relabel.TaskInfra {
		return relabel.Validation{}, false
	}
	for i, run := range found.Runs {
		if packed, err := os.ReadFile(r.logPath(task.InstanceID, run)); err == nil {
			found.Runs[i].Log, _ = relabel.UnpackLog(packed) // for the end of the table; the file stays
		}
	}
	return found.Validation, true
}

// add writes a result with its logs: first the logs, then the line.
func (r *results) add(_ context.Context, task relabel.Task, v relabel.Validation) error {
	for _, run := range v.Runs {
		if packed := relabel.PackLog(run.Log, relabel.MaxValidationLog); packed != nil {
			if err := os.WriteFile(r.logPath(task.InstanceID, run), packed, 0o644); err != nil {
				return err
			}
		}
	}
	v.ID, v.CreatedAt = relabel.NewID(), time.Now().UTC()
	line, err := json.Marshal(resultLine{taskDigest(task), v})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return r.file.Sync()
}

// logs is where the logs are, for people.
func (r *results) logs() string {
	return filepath.Join(r.dir, "logs", "INSTANCE-gold-1.log.gz") + " and so on; results: " + filepath.Join(r.dir, "results.jsonl")
}

func (r *results) close() error { return r.file.Close() }

// plainName is an instance id that can name a file.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,150}$`)

func (r *results) logPath(instance string, run relabel.ValidationRun) string {
	name := instance
	if !plainName.MatchString(name) {
		sum := sha256.Sum256([]byte(instance))
		name = "instance-" + hex.EncodeToString(sum[:16])
	}
	return filepath.Join(r.dir, "logs", fmt.Sprintf("%s-%s-%d.log.gz", name, run.Patch, run.Number))
}

// taskDigest is the hex SHA-256 of what a validation of a task depends on.
func taskDigest(task relabel.Task) string {
	task.ID, task.TasksetID, task.HeldOut, task.Excluded, task.AddedIn, task.ReplacedIn = relabel.ID{}, relabel.ID{}, false, "", 0, nil
	text, err := json.Marshal(task)
	if err != nil {
		panic(err) // strings, numbers and lists of these
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
