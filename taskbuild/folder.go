package taskbuild

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/uuid"

	"relabel"
)

// TasksFile is the name of the file of tasks in an output folder.
const TasksFile = "tasks.jsonl"

// folder is the output folder of a build.
type folder struct {
	dir     string
	id      string // identifies the folder in the labels of images
	lock    *os.File
	journal *Journal
}

// openFolder creates or opens an output folder for a source and locks it.
func openFolder(dir, source string) (*folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f := &folder{dir: dir}
	if f.lock, err = os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(relabel.Errorf(relabel.CodeConflict, "another build uses %s", dir), f.lock.Close())
	}
	if err := errors.Join(f.claim(source), f.open()); err != nil {
		return nil, errors.Join(err, f.lock.Close())
	}
	return f, nil
}

// claim refuses a folder of another source.
func (f *folder) claim(source string) error {
	if source == "" {
		return nil
	}
	name := filepath.Join(f.dir, "source")
	was, err := os.ReadFile(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return replace(name, []byte(source+"\n"))
	case err != nil:
		return err
	case string(was) != source+"\n":
		return relabel.Errorf(relabel.CodeConflict, "%s has tasks of %s, not of %s: choose another folder; if the source only moved, remove %s first",
			f.dir, bytes.TrimSpace(was), source, name).On("--out")
	}
	return nil
}

// open reads the folder's id and journal, and removes what a killed build left.
func (f *folder) open() error {
	name := filepath.Join(f.dir, "id")
	id, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		id = []byte(uuid.NewString()[:8] + "\n")
		err = replace(name, id)
	}
	if err != nil {
		return err
	}
	f.id = string(bytes.TrimSpace(id))
	if err := os.RemoveAll(f.work()); err != nil {
		return err
	}
	f.journal, err = OpenJournal(filepath.Join(f.dir, "journal.jsonl"))
	return err
}

// work is the folder of temporary files. A build removes it at its end, and at its beginning.
func (f *folder) work() string { return filepath.Join(f.dir, "work") }

// tempDir makes a temporary folder.
func (f *folder) tempDir() (string, error) {
	if err := os.MkdirAll(f.work(), 0o755); err != nil {
		return "", err
	}
	return os.MkdirTemp(f.work(), "")
}

// absent returns the tasks of the build before that are not among the candidates of this one.
func (f *folder) absent(items []result) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(f.dir, TasksFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	now := map[string]bool{}
	for _, r := range items {
		now[r.item.Candidate.ID] = true
	}
	var absent []string
	for line := range bytes.Lines(text) {
		var task Line
		if err := json.Unmarshal(line, &task); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(f.dir, TasksFile), err)
		}
		if !now[task.InstanceID] {
			absent = append(absent, task.InstanceID)
		}
	}
	return absent, nil
}

// write writes the tasks and the report.
func (f *folder) write(tasks []Entry, report Report) error {
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	out.SetEscapeHTML(false)
	for _, e := range tasks {
		if err := out.Encode(e.Task); err != nil {
			return err
		}
	}
	sum := sha256.Sum256(lines.Bytes())
	report.TasksSHA256 = hex.EncodeToString(sum[:])
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(replace(filepath.Join(f.dir, TasksFile), lines.Bytes()),
		replace(filepath.Join(f.dir, "report.json"), append(text, '\n')))
}

// close releases the folder.
func (f *folder) close() error {
	return errors.Join(os.RemoveAll(f.work()), f.journal.Close(), f.lock.Close())
}

// replace writes a file that is never seen incomplete.
func replace(name string, content []byte) error {
	aside, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	_, err = aside.Write(content)
	err = errors.Join(err, aside.Chmod(0o644), aside.Sync(), aside.Close())
	if err == nil {
		err = os.Rename(aside.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(aside.Name()))
	}
	return nil
}
