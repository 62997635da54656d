// Package tasks reads files of tasks in the formats of the data sets that publish them,
// checks each task, and marks the held-out ones.
package tasks

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"relabel"
)

// MaxLine is the longest line of a task file, in bytes.
const MaxLine = 32 << 20

// maxProblems bounds the problems of a file in one error.
const maxProblems = 20

// Format names the format of a task file's lines.
type Format string

// The formats. FormatAuto detects each line's format by its fields; see detectFormat.
const (
	FormatAuto         Format = "auto"
	FormatRelabel      Format = "relabel"
	FormatSWEBench     Format = "swebench" // SWE-bench, Lite and Verified, up to v5
	FormatSWEBenchLive Format = "swebenchlive"
	FormatSWEGym       Format = "swegym"
	FormatSWERebench   Format = "swerebench"
	FormatSWERebenchV2 Format = "swerebenchv2"
)

// Formats lists the formats that Read takes.
var Formats = []Format{
	FormatAuto, FormatRelabel, FormatSWEBench, FormatSWEBenchLive, FormatSWEGym, FormatSWERebench, FormatSWERebenchV2,
}

// File is what was read from a file of tasks.
type File struct {
	Tasks  []relabel.Task // in file order, without ids
	Digest string         // hex SHA-256 of the file's bytes
	// Unused counts, by field name, the lines with a value in that field that the task does not
	// use. A field of install_config is named install_config.FIELD.
	Unused map[string]int
}

// problem is a problem of one field of one line.
type problem struct {
	line    int    // from 1
	field   string // "" if the whole line is wrong
	message string
}

func (p problem) where() string {
	if p.field == "" {
		return fmt.Sprintf("line %d", p.line)
	}
	return fmt.Sprintf("line %d: %s", p.line, p.field)
}

// Read reads a JSONL file, one task per line. A byte order mark and blank lines are
// skipped.
//
// If any line is wrong, it returns no task and a relabel.CodeInvalid error: Field names the
// first wrong line and field ("line 7: FAIL_TO_PASS"), Message lists at most 20 problems.
func Read(r io.Reader, format Format) (File, error) {
	if err := checkFormat(format); err != nil {
		return File{}, err
	}
	hash := sha256.New()
	file := fileReader{format: format, unused: map[string]int{}, lines: map[string]int{}}
	if err := readLines(io.TeeReader(r, hash), file.add); err != nil {
		return File{}, err
	}
	if len(file.tasks) == 0 {
		return File{}, relabel.Errorf(relabel.CodeInvalid, "the file contains no task")
	}
	return File{Tasks: file.tasks, Digest: hex.EncodeToString(hash.Sum(nil)), Unused: file.unused}, nil
}

// readLines passes each line that is not blank to add, which returns its problems. It fails if there
// are any.
func readLines(r io.Reader, add func(line *taskLine) []problem) error {
	in := bufio.NewReaderSize(r, 1<<16)
	var problems []problem
	for number := 1; ; number++ {
		line, long, err := readLine(in, MaxLine)
		if err != nil && !errors.Is(err, io.EOF) {
			return relabel.Errorf(relabel.CodeInvalid, "the file cannot be read completely").Because(err)
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if line = bytes.TrimSpace(line); long || len(line) > 0 {
			problems = append(problems, add(readTaskLine(number, line, long))...)
		}
		if err != nil || len(problems) > maxProblems {
			break
		}
	}
	if len(problems) > 0 {
		return fileError(problems)
	}
	return nil
}

// fileReader collects the lines of a file.
type fileReader struct {
	format Format
	tasks  []relabel.Task
	unused map[string]int
	lines  map[string]int // instance id → line
	kind   relabel.TaskKind
	first  int // the line that has the kind
}

// add reads one line that is not blank.
func (f *fileReader) add(line *taskLine) []problem {
	var task relabel.Task
	if len(line.problems) == 0 {
		task = line.task(f.format)
	}
	if first := f.lines[task.InstanceID]; first > 0 && task.InstanceID != "" {
		line.refuse("instance_id", "%q is that of line %d too", task.InstanceID, first)
	} else {
		f.lines[task.InstanceID] = line.number
	}
	f.checkKind(line, task.Kind)
	for _, field := range line.unused() {
		f.unused[field]++
	}
	f.tasks = append(f.tasks, task)
	return line.problems
}

// checkKind refuses a kind of task that is not that of the lines before.
func (f *fileReader) checkKind(line *taskLine, kind relabel.TaskKind) {
	switch {
	case kind == "": // its line has a problem
	case f.kind == "":
		f.kind, f.first = kind, line.number
	case kind != f.kind:
		line.refuse("kind", "is %s, and that of line %d is %s: a file has tasks of one kind", kind, f.first, f.kind)
	}
}

func checkFormat(format Format) error {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		if f == format {
			return nil
		}
		names[i] = string(f)
	}
	return relabel.Errorf(relabel.CodeInvalid, "%q is not one of %s", format, strings.Join(names, ", ")).On("format")
}

// readTaskLine reads the fields of one line, or describes why it cannot.
func readTaskLine(number int, text []byte, long bool) *taskLine {
	line := newTaskLine(number, nil)
	if long {
		line.refuse("", "is longer than %d MiB", MaxLine>>20)
		return line
	}
	fields, wrong := parseObject(text)
	if wrong != "" {
		line.refuse("", "%s", wrong)
		return line
	}
	line.fields = fields
	return line
}

// readLine reads a line with its newline. It reads a line over limit completely, keeps nothing
// of it, and reports long.
func readLine(in *bufio.Reader, limit int) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > limit; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// fileError returns the error for the problems of a file, with the first one as its Field.
func fileError(problems []problem) error {
	more := ""
	if len(problems) > maxProblems {
		problems, more = problems[:maxProblems], "\nand more; nothing after this line was read"
	}
	var b strings.Builder
	b.WriteString(problems[0].message)
	for _, p := range problems[1:] {
		b.WriteString("\n" + p.where() + ": " + p.message)
	}
	b.WriteString(more)
	return relabel.Errorf(relabel.CodeInvalid, "%s", b.String()).On(problems[0].where())
}
