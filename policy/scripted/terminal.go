package scripted

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"path"
	"strings"

	"relabel"
)

// solver has the commands of a task in a terminal: they put the files of its solution in place and run it.
type solver struct {
	statement string
	commands  []string
}

// Where the solution is put, as its script may expect.
const solutionDir = "/solution"

// maxWritten bounds a file that is written by a command, in bytes: base64 makes it a third longer.
const maxWritten = 90 << 10

// newSolver returns the solver of a task; nil if it has no solution, or one with too large a file.
func newSolver(t relabel.Task) *solver {
	if t.Terminal == nil || len(t.Terminal.Solution.Content) == 0 {
		return nil
	}
	packed, err := gzip.NewReader(bytes.NewReader(t.Terminal.Solution.Content))
	if err != nil {
		return nil
	}
	s := &solver{statement: strings.TrimSpace(t.ProblemStatement), commands: []string{"pwd; ls -la"}}
	for files := tar.NewReader(packed); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || header.Size > maxWritten {
			return nil
		}
		content, err := io.ReadAll(files)
		if err != nil {
			return nil
		}
		name := path.Join(solutionDir, header.Name)
		s.commands = append(s.commands, "mkdir -p "+quote(path.Dir(name))+" && echo "+base64.StdEncoding.EncodeToString(content)+" | base64 -d > "+quote(name))
	}
	s.commands = append(s.commands, "bash "+solutionDir+"/solve.sh; code=$?; rm -rf "+solutionDir+"; exit $code")
	return s
}

// solve is the teacher's action: the first command that did not run after those before it, and then finish.
func (s *solver) solve(h history, d *dice) action {
	done := 0
	for _, step := range h.steps {
		if done < len(s.commands) && step.name == toolBash && step.args.Command == s.commands[done] {
			done++
		}
	}
	switch done {
	case len(s.commands):
		return say(d, thoughts["done"], finish("The instruction is carried out."))
	case 0:
		return say(d, thoughts["look"], bash(s.commands[0]))
	case len(s.commands) - 1:
		return say(d, thoughts["run"], bash(s.commands[done]))
	}
	return say(d, thoughts["write"], bash(s.commands[done]))
}

// stray is a student's mistake in a terminal.
func (s *solver) stray(h history, d *dice) action {
	switch d.IntN(5) {
	case 0:
		return callUnknownTool(nil, h, d)
	case 1:
		return talk(nil, h, d)
	case 2:
		if len(h.last) > 0 {
			return say(d, thoughts["repeat"], h.last...)
		}
	case 3:
		return say(d, thoughts["wander"], call{toolBash, `{"command": "ls`})
	}
	return say(d, thoughts["wander"], bash(d.pick([]string{"ls -la /", "env | sort | head", "ls -la ~", "ps aux | head"})))
}

// solver finds the solver of the task whose statement is part of the opening; the longest of several.
func (c Config) solver(opening string) (found *solver) {
	for _, s := range c.Solvers {
		if strings.Contains(opening, s.statement) && (found == nil || len(s.statement) > len(found.statement)) {
			found = s
		}
	}
	return found
}

// NewSolvers makes what the models know of tasks in a terminal. It skips other tasks, and those without a solution.
func NewSolvers(tasks []relabel.Task) (all []*solver) {
	for _, t := range tasks {
		if s := newSolver(t); s != nil && s.statement != "" {
			all = append(all, s)
		}
	}
	return all
}
