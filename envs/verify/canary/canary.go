// Package canary defines the canaries of a run and finds contradictions between them and the run.
// Packages golang, node and python write them for their runners.
//
// A canary is a test with a random name beside the task's tests, in the same run. Some canaries
// must fail and some must pass, drawn for each run. A submission that makes the runner report
// success for every test changes the results of canaries (see Planting.Misses).
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
	"relabel/testlog"
)

// Maker writes canaries for one test runner.
type Maker interface {
	// Plant returns canaries for one run. ok is false if the command cannot run them.
	Plant(g Garden) (p Planting, ok bool)
}

// Garden describes a run to a maker of canaries. The working tree contains the task's tests. No
// code of the submission has run.
type Garden struct {
	Task    relabel.Task
	Command string                           // the test command
	Has     func(path string) bool           // reports whether the repository has a file or folder
	Read    func(path string) ([]byte, bool) // returns a file; paths are relative to the repository
	Random  *rand.Rand                       // with a seed that cannot be guessed
	Base    tree.PathSet                     // the repository without the submission
	Left    map[string]bool                  // keys of excluded canaries (see Test.Key)
	Late    bool                             // an evaluation script writes the test files later
}

// Limits of canaries.
const (
	MaxCalled     = 2       // tests of a task that canaries call
	MaxNeighbour  = 4 << 20 // bytes of a file that a maker reads
	MaxNeighbours = 16      // test files of a task, or of a Go package, that get canaries
	MaxClaims     = 120     // claims for a test file of Node.js or for a Go package
	maxSearched   = 100     // files that are searched for the tests of a task
)

// Holding returns the files of the base, sorted, that contain at least one of the texts. It stops
// when it has found all texts.
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

// PatchedTests returns the test files that the test patch leaves, in its order.
func (g Garden) PatchedTests(isTest func(file string) bool) []string {
	var files []string
	for _, f := range tree.PatchFiles(g.Task.TestPatch) {
		if !f.Deleted && isTest(f.Path) {
			files = append(files, f.Path)
		}
	}
	return files
}

// Below returns a file of the task's tests with code at its end. If an evaluation script writes the
// tests later, the file contains only the code.
func (g Garden) Below(names *Namer, file string, content []byte, code string) File {
	if g.Late {
		return File{Path: "/tmp/" + names.Snake(), Content: code, Shared: true, Below: file}
	}
	return File{Path: file, Content: string(content) + code, Shared: true}
}

// Planting is the canaries of one run.
type Planting struct {
	Files    []File // to write into the repository
	Command  string // the test command, extended so that it runs the canaries too
	Canaries []Test // at least one must fail
	Failure  int    // the exit code of a run with a failed test; 0 if the command hides it
	Stops    bool   // the runner's settings may end a run at the first failure
}

// File is a file to write into the repository.
type File struct {
	Path    string // relative to the repository; absolute if Below is set
	Content string
	Shared  bool   // a file of the task's tests with canaries at its end
	Claims  bool   // excluded together with Shared files: see BelowKey
	Below   string // the file of the task's tests to which the command appends this one
}

// Test is a canary and its expected result.
type Test struct {
	Name   string // the name in the log, or its end after one of "/.:( " or a backslash
	Status relabel.TestStatus
	// Proof must be in the log or in the report. The test computes it; the planted files do not
	// contain it. "" if the canary shows nothing.
	Proof string
	// Key names the canary in all runs of a task. Canaries that the gold patch contradicts are
	// excluded by key. "" if it cannot be excluded alone.
	Key string
	// Calls is the test of the task that it calls: its name in the log, or the end of it.
	Calls string
}

// NewTest returns a canary with a key. If it must fail, it shows proof, unless that is 0.
func NewTest(name, key string, fails bool, proof int) Test {
	t := Test{Name: name, Key: key, Status: relabel.TestPassed}
	if fails {
		t.Status = relabel.TestFailed
		if proof != 0 {
			t.Proof = fmt.Sprint(proof)
		}
	}
	return t
}

// Keys that exclude more than one canary.
const (
	BelowKey  = "canaries in the test files" // these and, for Go, those that make claims
	ReportKey = "report"                     // the check of the log against the report of Jest or Vitest
	ExitKey   = "exit code"                  // the check of the exit code
)

// Miss is a contradiction: the key of a canary, and what was seen instead of its expected result.
type Miss struct{ Key, Why string }

// Plant makes the canaries of a run. ok is false if the run cannot have any.
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
			from, to := testcmd.Quote(f.Path), testcmd.Quote(path.Join(g.Task.Workdir, f.Below))
			p.Command = fmt.Sprintf("cat %s >> %s; rm -f %s; %s", from, to, from, p.Command)
		}
	}
	return p, true
}

// Misses lists the contradictions between a run and its canaries. A run with one is not trusted.
func (p Planting) Misses(log []byte, o testlog.Outcomes, r *results.Report, exit int) []Miss {
	var misses []Miss
	for _, c := range p.Canaries {
		if why := c.contradicted(log, o, r); why != "" {
			misses = append(misses, Miss{c.Key, why})
		}
	}
	if p.Failure != 0 && exit != p.Failure {
		misses = append(misses, Miss{ExitKey, fmt.Sprintf("the exit code of a run with failed tests is %d and must be %d", exit, p.Failure)})
	}
	return misses
}

// contradicted tells how a run contradicts the canary; "" if it does not.
func (c Test) contradicted(log []byte, o testlog.Outcomes, r *results.Report) string {
	if got := o.Ending(c.Name); got != c.Status {
		return fmt.Sprintf("the canary %s must be %s, but is %s in the log", c.Name, c.Status, got)
	}
	if r != nil && !r.Agrees(c.Name, c.Status) {
		return fmt.Sprintf("the canary %s must be %s, but is not in the report", c.Name, c.Status)
	}
	if c.Proof != "" && !bytes.Contains(log, []byte(c.Proof)) && (r == nil || !bytes.Contains(r.Text, []byte(c.Proof))) {
		return fmt.Sprintf("the canary %s does not show the value that it computes", c.Name)
	}
	return ""
}

// Remains reports whether a canary that must fail remains without those that have the keys.
func (p Planting) Remains(left map[string]bool) bool {
	return slices.ContainsFunc(p.Canaries, func(c Test) bool { return !c.Status.Passed() && !left[c.Key] })
}

// Broken reports whether a canary may have failed by its own fault: it could not run, or it missed
// and calls a test that passed. Few tests cannot run twice in a process.
func (p Planting) Broken(o testlog.Outcomes, missed map[string]bool) bool {
	for _, c := range p.Canaries {
		if c.Calls != "" && missed[c.Key] && o.Ending(c.Calls).Passed() {
			return true
		}
	}
	for _, f := range p.Files {
		if f.Shared {
			continue
		}
		for id, status := range o {
			if status == relabel.TestError && strings.Contains(id, path.Base(f.Path)) {
				return true
			}
		}
	}
	return false
}

// CutShort reports whether settings of Jest or Vitest may have ended the run at a canary that
// failed: another canary and a test of the task did not run.
func (p Planting) CutShort(o testlog.Outcomes, tests map[string]relabel.TestStatus) bool {
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
