// Package canary says what the canaries of a run are, and how a run contradicts them. Packages
// golang, node and python write them for their runners.
//
// A canary is a test of a random name in a file of its own, beside the task's tests and
// in the same run. Some canaries must fail and some must pass; which ones is drawn for
// each run. A submission that makes the runner report success whatever the tests do
// changes how they end, and the run is not believed (see Planting.Misses).
package canary

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"relabel"
	"relabel/envs/verify/results"
	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
)

// Maker writes canaries for one test runner.
type Maker interface {
	// Plant returns canaries for one run. ok is false where the command cannot be made to
	// run them; then the run has none.
	Plant(g Garden) (p Planting, ok bool)
}

// Garden is what a maker of canaries knows about a run. The tests of the task are in
// the working tree; no code of the submission has run.
type Garden struct {
	Task    relabel.Task                     // whose tests are run
	Command string                           // the test command
	Has     func(path string) bool           // whether the repository has this file or folder
	Read    func(path string) ([]byte, bool) // a file's content; paths are relative to the repository
	Random  *rand.Rand                       // seeded with bytes that nobody can guess
	Base    tree.PathSet                     // the files of the repository before the submission
	Left    map[string]bool                  // keys of canaries that the task cannot take (see Test.key)
	Late    bool                             // an evaluation script writes the test files before the command runs
}

// MaxCalled is how many tests of a task canaries call.
const MaxCalled = 2

// MaxNeighbour is the longest file that a maker of canaries reads, in bytes.
const MaxNeighbour = 4 << 20

// MaxNeighbours is how many test files of a task, or of a Go package, get canaries.
const MaxNeighbours = 16

// MaxClaims is how many claims are made with what a test file of Node.js, or the tests of a Go
// package, use.
const MaxClaims = 120

// maxSearched is how many files are read to find the tests of a task whose test patch names
// none.
const maxSearched = 100

// Holding returns the files of the base, sorted, that hold at least one of the texts. It stops
// once each was found.
func (g Garden) Holding(isTest func(file string) bool, texts []string) []string {
	var candidates, found []string
	for file := range g.Base.Files {
		if isTest(file) {
			candidates = append(candidates, file)
		}
	}
	slices.Sort(candidates)
	missing := slices.Clone(texts)
	for _, file := range candidates[:min(len(candidates), maxSearched)] {
		content, _ := g.Read(file)
		before := len(missing)
		missing = slices.DeleteFunc(missing, func(text string) bool { return bytes.Contains(content, []byte(text)) })
		if len(missing) < before {
			found = append(found, file)
		}
		if len(missing) == 0 {
			break
		}
	}
	return found
}

// Below is a file of the task's tests with code below its tests, or a file with the code alone,
// where an evaluation script is still to write the tests.
func (g Garden) Below(names *Namer, file string, content []byte, code string) File {
	if g.Late {
		return File{Path: "/tmp/" + names.Snake(), Content: code, Shared: true, Below: file}
	}
	return File{Path: file, Content: string(content) + code, Shared: true}
}

// Planting is the canaries of one run.
type Planting struct {
	Files    []File // what is written into the repository
	Command  string // the test command, extended so that it runs the canaries too
	Canaries []Test // at least one that must fail
	Failure  int    // the exit code of a run in which a test failed; 0 where the command hides it
	Stops    bool   // settings of the runner may end a run at its first failure
}

// File is a file that is written into the repository.
type File struct {
	Path    string // relative to the repository
	Content string // all of it
	Shared  bool   // it is a file of the task's tests, with canaries below them
	Claims  bool   // it is left out with those: see BelowKey
	// Below is the file of the task's tests that the command appends this one to, whose path is
	// absolute then.
	Below string
}

// Test is one canary and how it must end.
type Test struct {
	// Name is what the log parser calls it, or the end of that after one of "/.:( " or a
	// backslash.
	Name   string
	Status relabel.TestStatus // how it must end
	// Proof must be in the log or in the report. It is computed when the test runs and
	// stands nowhere in the planted files. "" where a test that passes shows nothing.
	Proof string
	// Key names the canary in all runs of a task, as its name does not: canaries with keys that
	// the gold patch does not satisfy are left out, and the others stay. "" where it cannot be
	// left out alone.
	Key string
	// Calls is the test of the task that it calls, by its name in the log or the end of that;
	// "" where it calls none.
	Calls string
}

// BelowKey is the key of all canaries that are in the task's own test files, and, for Go, of
// those that make claims.
const BelowKey = "canaries in the test files"

// ReportKey is the key of the report of Jest and Vitest: where the runs of a task's gold patch
// write none, or one that differs from their logs, it is left out (see Test.key).
const ReportKey = "report"

// ExitKey is the key of the demand on the exit code.
const ExitKey = "exit code"

// Miss is a canary that did not end as it must, by its key, and what was seen instead.
type Miss struct{ Key, Why string }

// Plant makes the canaries of a run; ok is false where the run cannot have any.
func Plant(maker Maker, g Garden) (p Planting, ok bool) {
	p, ok = maker.Plant(g)
	if !ok || !p.Remains(nil) {
		return Planting{}, false
	}
	if g.Left[ExitKey] {
		p.Failure = 0
	}
	for _, f := range p.Files {
		if f.Below != "" {
			p.Command = fmt.Sprintf("cat %s >> %s; rm -f %s; %s", testcmd.Quote(f.Path), testcmd.Quote(path.Join(g.Task.Workdir, f.Below)), testcmd.Quote(f.Path), p.Command)
		}
	}
	return p, true
}

// Misses lists the canaries that did not end as they must. A run that has any is not
// believed.
func (p Planting) Misses(log []byte, o results.Outcomes, r *results.Report, exit int) []Miss {
	var misses []Miss
	for _, c := range p.Canaries {
		if why := c.contradicted(log, o, r); why != "" {
			misses = append(misses, Miss{c.Key, why})
		}
	}
	if p.Failure != 0 && exit != p.Failure {
		misses = append(misses, Miss{ExitKey, fmt.Sprintf("the exit code is %d where tests failed, and must be %d", exit, p.Failure)})
	}
	return misses
}

// contradicted says why a run does not show the canary as it must end, or "".
func (c Test) contradicted(log []byte, o results.Outcomes, r *results.Report) string {
	if got := o.Ending(c.Name); got != c.Status {
		return fmt.Sprintf("the canary %s must be %s, and the log has it as %s", c.Name, c.Status, got)
	}
	if r != nil && !r.Agrees(c.Name, c.Status) {
		return fmt.Sprintf("the canary %s must be %s, and the report says something else", c.Name, c.Status)
	}
	if c.Proof != "" && !bytes.Contains(log, []byte(c.Proof)) && (r == nil || !bytes.Contains(r.Text, []byte(c.Proof))) {
		return fmt.Sprintf("the canary %s does not show the value that it computes", c.Name)
	}
	return ""
}

// Remains reports whether a canary that must fail remains where those with the keys are left
// out.
func (p Planting) Remains(left map[string]bool) bool {
	return slices.ContainsFunc(p.Canaries, func(c Test) bool { return !c.Status.Passed() && !left[c.Key] })
}

// Broken reports whether a canary could not even run, which can be its own fault, or one that
// missed could not run a test once more that passed: few tests cannot run twice in a process,
// and some of these end it.
func (p Planting) Broken(o results.Outcomes, missed map[string]bool) bool {
	for _, c := range p.Canaries {
		if c.Calls != "" && missed[c.Key] && o.Ending(c.Calls).Passed() {
			return true
		}
	}
	for _, f := range p.Files {
		if f.Shared {
			continue
		}
		base := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
		for id, status := range o {
			if status == relabel.TestError && strings.Contains(id, base) {
				return true
			}
		}
	}
	return false
}

// CutShort reports whether a canary that failed may have ended the run, as settings of Jest and
// Vitest have it: another one was not reached, nor was a test of the task.
func (p Planting) CutShort(o results.Outcomes, tests map[string]relabel.TestStatus) bool {
	failed, unreached, untested := false, false, false
	for _, c := range p.Canaries {
		status := o.Ending(c.Name)
		failed, unreached = failed || status == relabel.TestFailed, unreached || status == relabel.TestAbsent
	}
	for _, status := range tests {
		untested = untested || status == relabel.TestAbsent
	}
	return p.Stops && failed && unreached && untested
}
