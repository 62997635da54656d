// Package tasks reads files of tasks in the formats of the data sets that publish them,
// checks each task, and marks the held-out ones.
package tasks

import (
	"errors"
	"iter"
	"strings"

	"relabel"
)

// maxProblems bounds the problems of a file in one error.
const maxProblems = 20

// MaxSkipped bounds the skipped rows that a report names; it counts all.
const MaxSkipped = 1000

// maxUnused bounds the names of unused fields. Further ones are counted as otherUnused.
const (
	maxUnused   = 500
	otherUnused = "other fields"
)

// Format names the format of a task file's rows.
type Format string

// The formats. FormatAuto detects each row's format by its fields; see detectFormat.
const (
	FormatAuto         Format = "auto"
	FormatRelabel      Format = "relabel"
	FormatSWEBench     Format = "swebench" // SWE-bench, Lite, Verified, Multilingual and Multimodal, up to v5
	FormatSWEBenchLive Format = "swebenchlive"
	FormatSWEGym       Format = "swegym"
	FormatSWERebench   Format = "swerebench"
	FormatSWERebenchV2 Format = "swerebenchv2"
	FormatSWESmith     Format = "swesmith"
	FormatR2EGym       Format = "r2egym"
	FormatScaleSWE     Format = "scaleswe"
	FormatSWEBenchPro  Format = "swebenchpro"
	FormatMultiSWE     Format = "multiswebench" // Multi-SWE-bench and Multi-SWE-RL
)

// Formats lists the formats that Open takes.
var Formats = []Format{
	FormatAuto, FormatRelabel, FormatSWEBench, FormatSWEBenchLive, FormatSWEGym, FormatSWERebench, FormatSWERebenchV2,
	FormatSWESmith, FormatR2EGym, FormatScaleSWE, FormatSWEBenchPro, FormatMultiSWE,
}

// Options say how a file is read.
type Options struct {
	Format  Format // "" is FormatAuto
	Split   string // of an archive, only the files of this split; "" means all
	SkipBad bool   // rows with problems are left out and reported
	File    string // name of the input, for errors; "" without one
}

// Set is the tasks of a file, or of the files of an archive, whose rows are read one at a time. It is not safe for
// concurrent use.
type Set struct {
	files   []Member
	archive bool // or a folder: its files have names of their own
	options Options
	bad     map[int]bool // rows that Check found wrong, by their number in all files, from 0
}

// Report is what Check found.
type Report struct {
	Kind  relabel.TaskKind
	IDs   []string // instance ids, in reading order
	Files []string // of an archive, in reading order
	// Unused counts, by field name, the rows with a value in that field that the task does not
	// use. A field of an object in a field is named FIELD.FIELD.
	Unused  map[string]int
	Skipped []Problem // of skipped rows, MaxSkipped at most
	Skips   int       // number of skipped rows
}

// Open lists the files of an input: JSONL, a JSON array or Parquet, the first two also in gzip or zstd, or a tar
// archive of such files. It recognises them by their bytes. Errors are relabel.CodeInvalid.
func Open(in Input, options Options) (*Set, error) {
	if options.Format == "" {
		options.Format = FormatAuto
	}
	if err := checkFormat(options.Format); err != nil {
		return nil, err
	}
	files, archive, err := membersOf(in, options)
	if err != nil {
		return nil, err
	}
	return &Set{files: files, options: options, archive: archive}, nil
}

// OpenFiles is Open for the files of a folder, or several files.
func OpenFiles(files []Member, options Options) (*Set, error) {
	if options.Format == "" {
		options.Format = FormatAuto
	}
	if err := checkFormat(options.Format); err != nil {
		return nil, err
	}
	files, err := chooseSplit(files, options)
	if err != nil {
		return nil, err
	}
	return &Set{files: files, options: options, archive: true}, nil
}

// Check reads all rows. If any row is wrong and SkipBad is not set, it returns a relabel.CodeInvalid error: Field names
// the first wrong row and field ("line 7: FAIL_TO_PASS"), Message lists at most 20 problems.
func (s *Set) Check() (Report, error) {
	c := newChecker(s.options)
	for _, file := range s.files {
		if s.archive {
			c.report.Files = append(c.report.Files, file.Name)
		}
		if err := readRows(file, c.add); err != nil {
			return Report{}, c.failed(err)
		}
		if c.full() {
			break
		}
	}
	if err := c.verdict(); err != nil {
		return Report{}, err
	}
	s.bad = c.bad
	return c.report, nil
}

// Tasks reads the tasks that Check found right, in the same order, without ids. An error ends it.
func (s *Set) Tasks() iter.Seq2[relabel.Task, error] {
	return func(yield func(relabel.Task, error) bool) {
		var wrong error
		err := s.each(func(line *taskLine) bool {
			task := line.task(s.options.Format)
			if len(line.problems) > 0 {
				wrong = fileError(line.problems)
				return false
			}
			return yield(task, nil)
		})
		if err = errors.Join(wrong, err); err != nil {
			yield(relabel.Task{}, err)
		}
	}
}

// Lines reads the rows of Tasks, in the same order, as lines of JSONL without their ends, in the format of their data
// set: those of JSONL as they are. A line is valid until the next. An error ends it.
func (s *Set) Lines() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var wrong error
		err := s.each(func(line *taskLine) bool {
			var text []byte
			if text, wrong = line.json(); wrong != nil {
				return false
			}
			return yield(text, nil)
		})
		if err = errors.Join(wrong, err); err != nil {
			yield(nil, err)
		}
	}
}

// each passes the rows that Check found right to yield, which returns false to end it.
func (s *Set) each(yield func(*taskLine) bool) error {
	number, more := -1, true
	for _, file := range s.files {
		err := readRows(file, func(line *taskLine) bool {
			if number++; s.bad[number] {
				return true
			}
			more = yield(line)
			return more
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// File is what was read from a small file of tasks.
type File struct {
	Tasks  []relabel.Task // in file order, without ids
	Unused map[string]int // see Report
}

// Read reads a whole file into memory. Errors are those of Open and Check.
func Read(in Input, format Format) (File, error) {
	set, err := Open(in, Options{Format: format})
	if err != nil {
		return File{}, err
	}
	report, err := set.Check()
	if err != nil {
		return File{}, err
	}
	file := File{Unused: report.Unused}
	for task, err := range set.Tasks() {
		if err != nil {
			return File{}, err
		}
		file.Tasks = append(file.Tasks, task)
	}
	return file, nil
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
