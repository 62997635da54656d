package relabel

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxTaskLine is the longest line of a task file, in bytes.
const MaxTaskLine = 32 << 20

// maxTaskProblems is how many problems of a file are told at once.
const maxTaskProblems = 20

// TaskFormat names the form of a task file's lines.
type TaskFormat string

// The forms. FormatAuto tells each line's form by its fields; see detectFormat.
const (
	FormatAuto         TaskFormat = "auto"
	FormatRelabel      TaskFormat = "relabel"
	FormatSWEBench     TaskFormat = "swebench" // SWE-bench, Lite and Verified, up to v5
	FormatSWEBenchLive TaskFormat = "swebenchlive"
	FormatSWEGym       TaskFormat = "swegym"
	FormatSWERebench   TaskFormat = "swerebench"
	FormatSWERebenchV2 TaskFormat = "swerebenchv2"
)

// TaskFormats lists the forms that ReadTasks takes.
var TaskFormats = []TaskFormat{
	FormatAuto, FormatRelabel, FormatSWEBench, FormatSWEBenchLive, FormatSWEGym, FormatSWERebench, FormatSWERebenchV2,
}

// TaskFile is what was read from a file of tasks.
type TaskFile struct {
	Tasks  []Task // in the order of the file, without ids
	Digest string // hex SHA-256 of the file's bytes
	// Unused counts, by name, the lines whose field holds something that no part of a task
	// was read from. A field of install_config is named install_config.FIELD.
	Unused map[string]int
}

// taskProblem is what is wrong with one field of one line.
type taskProblem struct {
	line    int    // from 1
	field   string // "" where the line as a whole is wrong
	message string
}

func (p taskProblem) where() string {
	if p.field == "" {
		return fmt.Sprintf("line %d", p.line)
	}
	return fmt.Sprintf("line %d: %s", p.line, p.field)
}

// ReadTasks reads a JSONL file, one task per line. A byte order mark and blank lines are
// skipped.
//
// It is all or nothing: where any line is wrong it returns no task and a CodeInvalid
// error whose Field names the first wrong line and field ("line 7: FAIL_TO_PASS") and
// whose Message goes on with the others, 20 at most.
func ReadTasks(r io.Reader, format TaskFormat) (TaskFile, error) {
	if err := checkTaskFormat(format); err != nil {
		return TaskFile{}, err
	}
	hash := sha256.New()
	in := bufio.NewReaderSize(io.TeeReader(r, hash), 1<<16)
	file := taskFileReader{format: format, unused: map[string]int{}, lines: map[string]int{}}
	for number := 1; ; number++ {
		line, long, err := readLine(in, MaxTaskLine)
		if err != nil && !errors.Is(err, io.EOF) {
			return TaskFile{}, Errorf(CodeInvalid, "the file cannot be read to its end").Because(err)
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if line = bytes.TrimSpace(line); long || len(line) > 0 {
			file.add(number, line, long)
		}
		if err != nil || len(file.problems) > maxTaskProblems {
			break
		}
	}
	if len(file.problems) > 0 {
		return TaskFile{}, taskFileError(file.problems)
	}
	if len(file.tasks) == 0 {
		return TaskFile{}, Errorf(CodeInvalid, "the file holds no task")
	}
	return TaskFile{Tasks: file.tasks, Digest: hex.EncodeToString(hash.Sum(nil)), Unused: file.unused}, nil
}

// taskFileReader collects the lines of a file.
type taskFileReader struct {
	format   TaskFormat
	tasks    []Task
	unused   map[string]int
	problems []taskProblem
	lines    map[string]int // instance id → line
}

// add reads one line that is not blank.
func (f *taskFileReader) add(number int, text []byte, long bool) {
	line := readTaskLine(number, text, long)
	var task Task
	if len(line.problems) == 0 {
		task = line.task(f.format)
	}
	if first := f.lines[task.InstanceID]; first > 0 && task.InstanceID != "" {
		line.refuse("instance_id", "%q is that of line %d too", task.InstanceID, first)
	} else {
		f.lines[task.InstanceID] = number
	}
	for _, field := range line.unused() {
		f.unused[field]++
	}
	f.tasks = append(f.tasks, task)
	f.problems = append(f.problems, line.problems...)
}

func checkTaskFormat(format TaskFormat) error {
	names := make([]string, len(TaskFormats))
	for i, f := range TaskFormats {
		if f == format {
			return nil
		}
		names[i] = string(f)
	}
	return Errorf(CodeInvalid, "%q is none of %s", format, strings.Join(names, ", ")).On("format")
}

// readTaskLine reads the fields of one line, or says why it has none.
func readTaskLine(number int, text []byte, long bool) *taskLine {
	line := newTaskLine(number, nil)
	if long {
		line.refuse("", "is longer than %d MiB", MaxTaskLine>>20)
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

// readLine reads up to and with a newline. Of a line over limit it reads all and keeps
// nothing, and says long.
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

// taskFileError tells the problems of a file, the first in the error's Field.
func taskFileError(problems []taskProblem) error {
	more := ""
	if len(problems) > maxTaskProblems {
		problems, more = problems[:maxTaskProblems], "\nand more; nothing after this line was read"
	}
	var b strings.Builder
	b.WriteString(problems[0].message)
	for _, p := range problems[1:] {
		b.WriteString("\n" + p.where() + ": " + p.message)
	}
	b.WriteString(more)
	return Errorf(CodeInvalid, "%s", b.String()).On(problems[0].where())
}
