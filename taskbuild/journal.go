package taskbuild

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"relabel"
)

// Entry is one line of a journal: a candidate whose tests have run, or an image of dependencies that
// cannot be made.
type Entry struct {
	// Key identifies everything that the result depends on: the base tree, the patches and the recipe.
	Key    string `json:"key"`
	ID     string `json:"id"`
	Change string `json:"change"`
	Title  string `json:"title,omitempty"`
	// Reason is why the candidate is not a task; "" if it is one.
	Reason Reason `json:"reason,omitempty"`
	Detail string `json:"detail,omitempty"`
	Task   *Line  `json:"task,omitempty"`
	From   string `json:"from,omitempty"` // the image that the task's was made from
	// Flaky are the tests whose status differed between runs of the same code.
	Flaky   []string `json:"flaky,omitempty"`
	Seconds float64  `json:"seconds"` // from the image to the last run
	Bytes   int64    `json:"bytes"`   // of the image on top of its dependencies
}

// Journal keeps the results of a build in a file, one line each. A line that a crash cut short is removed
// when the journal is opened. It is safe for concurrent use.
type Journal struct {
	mu    sync.Mutex
	file  *os.File
	known map[string]Entry
}

// OpenJournal opens or creates a journal. An error names the line that cannot be read.
func OpenJournal(path string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: file, known: map[string]Entry{}}
	if err := j.read(path); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return j, nil
}

// read reads all whole lines and cuts the file after them.
func (j *Journal) read(path string) error {
	in, whole := bufio.NewReader(j.file), int64(0)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // line has no end: its writer died
		}
		if err != nil {
			return err
		}
		var e Entry
		if err := json.Unmarshal(bytes.TrimSpace(line), &e); err != nil || e.Key == "" {
			return relabel.Errorf(relabel.CodeInvalid, "is not an entry of a journal; remove the line to build its candidate again").
				On(fmt.Sprintf("%s: line %d", path, number)).Because(err)
		}
		j.known[e.Key] = e
		whole += int64(len(line))
	}
	if err := j.file.Truncate(whole); err != nil {
		return err
	}
	_, err := j.file.Seek(whole, io.SeekStart)
	return err
}

// Find returns the entry of a key.
func (j *Journal) Find(key string) (e Entry, known bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e, known = j.known[key]
	return e, known
}

// Add stores an entry; a later entry replaces an earlier one of the same key. After it returns, a crash
// does not lose the entry.
func (j *Journal) Add(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	j.known[e.Key] = e
	return j.file.Sync()
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
