package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"relabel"
)

// writeSound writes the lines of a JSONL file whose tasks are sound, unchanged. With dropFlaky it also writes those of
// flaky tasks, without the tests that flicker. all are the tasks of the file, found the results by instance id.
func writeSound(from, to string, all []relabel.Task, found map[string]relabel.Validation, dropFlaky bool) error {
	body, err := readLines(from)
	if err != nil {
		return err
	}
	lines := slices.DeleteFunc(bytes.Split(body, []byte("\n")), func(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 })
	if len(lines) != len(all) {
		return relabel.Errorf(relabel.CodeInvalid, "%s is not JSONL with one task per line; import it and use --taskset NAME --exclude-broken", from).On("--sound")
	}
	var out bytes.Buffer
	sound, changed := 0, 0
	for i, task := range all {
		v := found[task.InstanceID]
		line := lines[i]
		switch {
		case v.State == relabel.TaskFlaky && dropFlaky:
			if line, err = withoutTests(line, v.Flaky); err != nil {
				return fmt.Errorf("%s: %w", task.InstanceID, err)
			}
			changed++
		case !v.Sound():
			continue
		}
		sound++
		out.Write(line)
		out.WriteByte('\n')
	}
	partial := to + ".partial"
	if err := os.WriteFile(partial, out.Bytes(), 0o644); err != nil {
		return err
	}
	if err := os.Rename(partial, to); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %d of %d tasks, %d of them without their flaky tests.\n", to, sound, len(all), changed)
	return nil
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
