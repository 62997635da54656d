package verify

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"relabel"
)

// A canary is a test of a random name in a file of its own, beside the task's tests and
// in the same run. Some canaries must fail and some must pass; which ones is drawn for
// each run. A submission that makes the runner report success whatever the tests do
// changes how they end, and the run is not believed (see planting.misses).

// canaryMaker writes canaries for one test runner.
type canaryMaker interface {
	// plant returns canaries for one run. ok is false where the command cannot be made to
	// run them; then the run has none.
	plant(g garden) (p planting, ok bool)
}

// canaryMakers are the makers by the short name of the log parser (see Parsers).
var canaryMakers = map[string]canaryMaker{}

// garden is what a maker of canaries knows about a run. The tests of the task stand in
// the working tree; no code of the submission has run.
type garden struct {
	task    relabel.Task
	command string                           // the test command
	has     func(path string) bool           // whether the repository has this file or folder
	read    func(path string) ([]byte, bool) // a file's content; paths are relative to the repository
	random  *rand.Rand                       // seeded with bytes that nobody can guess
	base    pathSet                          // the files of the repository before the submission
	left    map[string]bool                  // keys of canaries that the task cannot take (see canaryTest.key)
	late    bool                             // an evaluation script writes the test files before the command runs
}

// maxSearched is how many files are read to find the tests of a task whose test patch names
// none.
const maxSearched = 100

// holding returns the files of the base, sorted, that hold at least one of the texts. It stops
// once each was found.
func (g garden) holding(isTest func(file string) bool, texts []string) []string {
	var candidates, found []string
	for file := range g.base.files {
		if isTest(file) {
			candidates = append(candidates, file)
		}
	}
	slices.Sort(candidates)
	missing := slices.Clone(texts)
	for _, file := range candidates[:min(len(candidates), maxSearched)] {
		content, _ := g.read(file)
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

// below is a file of the task's tests with code below its tests, or a file with the code alone,
// where an evaluation script is still to write the tests.
func (g garden) below(names *namer, file string, content []byte, code string) plantedFile {
	if g.late {
		return plantedFile{path: "/tmp/" + names.snake(), content: code, shared: true, below: file}
	}
	return plantedFile{path: file, content: string(content) + code, shared: true}
}

// planting is the canaries of one run.
type planting struct {
	files    []plantedFile
	command  string       // the test command, extended so that it runs the canaries too
	canaries []canaryTest // at least one that must fail
	failure  int          // the exit code of a run in which a test failed; 0 where the command hides it
	stops    bool         // settings of the runner may end a run at its first failure
}

// plantedFile is a file that is written into the repository.
type plantedFile struct {
	path    string // relative to the repository
	content string
	shared  bool // it is a file of the task's tests, with canaries below them
	claims  bool // it is left out with those: see belowKey
	// below is the file of the task's tests that the command appends this one to, whose path is
	// absolute then.
	below string
}

// canaryTest is one canary and how it must end.
type canaryTest struct {
	// name is what the log parser calls it, or the end of that after one of "/.:( " or a
	// backslash.
	name   string
	status relabel.TestStatus
	// proof must stand in the log or in the report. It is computed when the test runs and
	// stands nowhere in the planted files. "" where a test that passes shows nothing.
	proof string
	// key names the canary in all runs of a task, as its name does not: canaries with keys that
	// the gold patch does not satisfy are left out, and the others stay. "" where it cannot be
	// left out alone.
	key string
	// calls is the test of the task that it calls, by its name in the log or the end of that;
	// "" where it calls none.
	calls string
}

// exitKey is the key of the demand on the exit code.
const exitKey = "exit code"

// miss is a canary that did not end as it must, by its key, and what was seen instead.
type miss struct{ key, why string }

// canariesFor makes the canaries of a run, where the parser's runner has a maker.
func canariesFor(parserName string, g garden) (planting, bool) {
	maker, ok := canaryMakers[strings.TrimPrefix(parserName, "parse_log_")]
	if !ok {
		return planting{}, false
	}
	p, ok := maker.plant(g)
	if !ok || !p.remains(nil) {
		return planting{}, false
	}
	if g.left[exitKey] {
		p.failure = 0
	}
	for _, f := range p.files {
		if f.below != "" {
			p.command = fmt.Sprintf("cat %s >> %s; rm -f %s; %s", shellWord(f.path), shellWord(path.Join(g.task.Workdir, f.below)), shellWord(f.path), p.command)
		}
	}
	return p, true
}

// misses lists the canaries that did not end as they must. A run that has any is not
// believed.
func (p planting) misses(log []byte, o outcomes, r *report, exit int) []miss {
	var misses []miss
	for _, c := range p.canaries {
		if why := c.contradicted(log, o, r); why != "" {
			misses = append(misses, miss{c.key, why})
		}
	}
	if p.failure != 0 && exit != p.failure {
		misses = append(misses, miss{exitKey, fmt.Sprintf("the exit code is %d where tests failed, and must be %d", exit, p.failure)})
	}
	return misses
}

// contradicted says why a run does not show the canary as it must end, or "".
func (c canaryTest) contradicted(log []byte, o outcomes, r *report) string {
	if got := o.ending(c.name); got != c.status {
		return fmt.Sprintf("the canary %s must be %s, and the log has it as %s", c.name, c.status, got)
	}
	if r != nil && !r.agrees(c) {
		return fmt.Sprintf("the canary %s must be %s, and the report says something else", c.name, c.status)
	}
	if c.proof != "" && !bytes.Contains(log, []byte(c.proof)) && (r == nil || !bytes.Contains(r.text, []byte(c.proof))) {
		return fmt.Sprintf("the canary %s does not show the value that it computes", c.name)
	}
	return ""
}

// remains reports whether a canary that must fail remains where those with the keys are left
// out.
func (p planting) remains(left map[string]bool) bool {
	return slices.ContainsFunc(p.canaries, func(c canaryTest) bool { return !c.status.Passed() && !left[c.key] })
}

// broken reports whether a canary could not even run, which can be its own fault, or one that
// missed could not run a test once more that passed: few tests cannot run twice in a process,
// and some of these end it.
func (p planting) broken(o outcomes, missed map[string]bool) bool {
	for _, c := range p.canaries {
		if c.calls != "" && missed[c.key] && o.ending(c.calls).Passed() {
			return true
		}
	}
	for _, f := range p.files {
		if f.shared {
			continue
		}
		base := f.path[strings.LastIndexByte(f.path, '/')+1:]
		for id, status := range o {
			if status == relabel.TestError && strings.Contains(id, base) {
				return true
			}
		}
	}
	return false
}

// cutShort reports whether a canary that failed may have ended the run, as settings of Jest and
// Vitest have it: another one was not reached, nor was a test of the task.
func (p planting) cutShort(o outcomes, tests map[string]relabel.TestStatus) bool {
	failed, unreached, untested := false, false, false
	for _, c := range p.canaries {
		status := o.ending(c.name)
		failed, unreached = failed || status == relabel.TestFailed, unreached || status == relabel.TestAbsent
	}
	for _, status := range tests {
		untested = untested || status == relabel.TestAbsent
	}
	return p.stops && failed && unreached && untested
}

// ending returns the status of the test whose id is name or ends with it. Of several the
// worst counts.
func (o outcomes) ending(name string) relabel.TestStatus {
	worst := relabel.TestAbsent
	for id, status := range o {
		before, ok := strings.CutSuffix(id, name)
		if !ok || (before != "" && !strings.ContainsAny(before[len(before)-1:], `/.:( \`)) {
			continue
		}
		if severity[status] > severity[worst] {
			worst = status
		}
	}
	return worst
}
