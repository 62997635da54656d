package inject

import (
	"context"
	_ "embed" // the programs
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"relabel"
	"relabel/codeindex"
)

//go:embed trace.py
var traceProgram []byte

//go:embed hook.js
var hookProgram []byte

const (
	ranFile     = folder + "/executed" // what the coverage run writes
	maxCoverage = 256 << 20            // bytes of it
)

// environment makes the tests of each language tell what they execute: Python by a sitecustomize that traces
// lines, Go by its own coverage profile, and Node.js by statements that tell their numbers.
const environment = `export RELABEL_COVERAGE=%[1]s/executed RELABEL_COVERAGE_ROOT="$PWD"
export PYTHONPATH=%[1]s/trace${PYTHONPATH:+:$PYTHONPATH}
export GOFLAGS="${GOFLAGS:+$GOFLAGS }-coverprofile=%[1]s/profile -coverpkg=./..."
export NODE_OPTIONS="${NODE_OPTIONS:+$NODE_OPTIONS }--require %[1]s/hook.js"
`

// executedSteps runs the tests in a container and returns the steps that they execute, by file, sorted.
func (s *Source) executedSteps(ctx context.Context, room Container, task relabel.Task, files []file) (map[string][]int, error) {
	for name, content := range map[string][]byte{"trace/sitecustomize.py": traceProgram, "hook.js": hookProgram, "executed": nil} {
		if err := room.WriteFile(ctx, folder+"/"+name, content); err != nil {
			return nil, err
		}
	}
	numbered, err := s.number(ctx, room, task, files)
	if err != nil {
		return nil, err
	}
	ran, err := room.Run(ctx, fmt.Sprintf(environment, folder)+task.TestCmd, s.timeout())
	if err != nil {
		return nil, err
	}
	if ran.TimedOut {
		return nil, relabel.Errorf(relabel.CodeInvalid, "the tests do not end in %d s while the executed lines are recorded: raise test_seconds of the recipe",
			s.options.Recipe.TestSeconds)
	}
	lines, err := readLines(ctx, room, ranFile)
	if err != nil {
		return nil, err
	}
	profile, err := readLines(ctx, room, folder+"/profile")
	if err != nil {
		return nil, err
	}
	blocks, err := s.goBlocks(ctx, profile)
	if err != nil {
		return nil, err
	}
	marks := marksOf(lines)
	executed := map[string][]int{}
	for _, f := range files {
		for i, step := range f.parts.Steps {
			var was bool
			switch f.language {
			case codeindex.Python:
				was = marks[fmt.Sprintf("%d %s", step.Line, f.path)]
			case codeindex.Go:
				was = within(blocks[f.path], f.source, step)
			default:
				was = marks[fmt.Sprint(numbered[f.path]+i)] && numbered[f.path] > 0
			}
			if was {
				executed[f.path] = append(executed[f.path], i)
			}
		}
	}
	return executed, nil
}

// marksOf returns lines as a set.
func marksOf(lines []string) map[string]bool {
	marks := map[string]bool{}
	for _, line := range lines {
		marks[line] = true
	}
	return marks
}

// readLines reads a file; one that does not exist has no lines.
func readLines(ctx context.Context, room Container, name string) ([]string, error) {
	text, err := room.ReadFile(ctx, name, maxCoverage)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool { return line == "" }), err
}
