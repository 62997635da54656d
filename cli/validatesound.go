package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"relabel"
	"relabel/tasks"
)

// writeSound writes the rows of the sound tasks of files as JSONL; those of a JSONL file are unchanged. With dropFlaky
// it also writes those of flaky tasks, without the tests that flicker. all are the tasks of the files, found the results
// by instance id.
func writeSound(from, to string, all []relabel.Task, found map[string]relabel.Validation, dropFlaky bool) (err error) {
	set, closeFiles, err := openTasks([]string{from}, tasks.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFiles()) }()
	partial := to + ".partial"
	out, err := os.Create(partial)
	if err != nil {
		return err
	}
	s := soundLines{out: bufio.NewWriter(out), found: found, dropFlaky: dropFlaky}
	err = s.write(all, set)
	if err = errors.Join(err, s.out.Flush(), out.Close()); err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	if err := os.Rename(partial, to); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %d of %s, %d of them without their flaky tests.\n", to, s.sound, counted(len(all), "task"), s.changed)
	return nil
}

// soundLines writes the rows of sound tasks.
type soundLines struct {
	out            *bufio.Writer
	found          map[string]relabel.Validation
	dropFlaky      bool
	sound, changed int
}

// write writes the rows of a set, whose tasks are all.
func (s *soundLines) write(all []relabel.Task, set *tasks.Set) error {
	at := 0
	for line, err := range set.Lines() {
		if err == nil && at == len(all) {
			err = relabel.Errorf(relabel.CodeInvalid, "the file has more tasks than when the validation began: run the same command again").On("--sound")
		}
		if err != nil {
			return err
		}
		if err := s.add(all[at], line); err != nil {
			return fmt.Errorf("%s: %w", all[at].InstanceID, err)
		}
		at++
	}
	return nil
}

// add writes the row of a task if the task is sound.
func (s *soundLines) add(task relabel.Task, line []byte) (err error) {
	v := s.found[task.InstanceID]
	switch {
	case v.State == relabel.TaskFlaky && s.dropFlaky:
		if line, err = withoutTests(line, v.Flaky); err != nil {
			return err
		}
		s.changed++
	case !v.Sound():
		return nil
	}
	s.sound++
	_, err = s.out.Write(append(line[:len(line):len(line)], '\n'))
	return err
}

// testLists are the fields that have the tests of a task.
var testLists = []string{"FAIL_TO_PASS", "PASS_TO_PASS", "fail_to_pass", "pass_to_pass"}

// withoutTests returns a line of a task file whose lists do not have flaky tests. A list may be a JSON list or a
// string with one.
func withoutTests(line []byte, flaky []relabel.FlakyTest) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return nil, err
	}
	dropped := 0
	for _, name := range testLists {
		text := fields[name]
		if text == nil {
			continue
		}
		var inner string
		quoted := json.Unmarshal(text, &inner) == nil
		if quoted {
			text = json.RawMessage(inner)
		}
		var tests []string
		if err := json.Unmarshal(text, &tests); err != nil {
			return nil, fmt.Errorf("%s is not a list of tests: %w", name, err)
		}
		kept := slices.DeleteFunc(slices.Clone(tests), func(test string) bool {
			return slices.ContainsFunc(flaky, func(f relabel.FlakyTest) bool { return f.Test == test })
		})
		dropped += len(tests) - len(kept)
		packed, err := json.Marshal(kept)
		if err == nil && quoted {
			packed, err = json.Marshal(string(packed))
		}
		if err != nil {
			return nil, err
		}
		fields[name] = packed
	}
	if dropped < len(flaky) {
		return nil, relabel.Errorf(relabel.CodeInvalid, "its lists of tests are not among %v; import the file and use --taskset NAME --drop-flaky", testLists).On("--drop-flaky")
	}
	return json.Marshal(fields)
}
