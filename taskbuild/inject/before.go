package inject

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"relabel"
	"relabel/codeindex"
	"relabel/taskbuild"
)

// passing is what a run of the tests without a bug showed.
type passing struct {
	Passed    []string         `json:"passed"` // tests, sorted
	Log       []byte           `json:"log"`
	TestFiles []string         `json:"test_files"`
	Executed  map[string][]int `json:"executed"` // steps by file
	Read      map[string]read  `json:"read"`     // by file

	task    relabel.Task // with the image; zero until one is needed
	refusal *taskbuild.Refusal
}

// read is what the container's Python, or a parser here, found in a file.
type read struct {
	Parts       codeindex.Parts        `json:"parts"`
	Definitions []codeindex.Definition `json:"definitions"`
	Problem     string                 `json:"problem"`
}

func (p *passing) executed(path string, step int) bool {
	_, found := slices.BinarySearch(p.Executed[path], step)
	return found
}

// candidate is the repository as it is.
func (s *Source) candidate(testFiles []string) taskbuild.Candidate {
	return taskbuild.Candidate{
		ID: s.instanceID(Mutation{}), Repo: s.options.Repo, Repository: s.scratch.dir, Base: s.base,
		Origin: taskbuild.OriginInjected, Change: "the repository as it is", TestFiles: testFiles,
	}
}

// runAsItIs parses the files, runs the tests in the repository as it is, and finds the steps that they
// execute. It fills in the files.
func (s *Source) runAsItIs(ctx context.Context, files []file) (*passing, error) {
	tests, err := s.testFiles(ctx)
	if err != nil {
		return nil, err
	}
	if len(tests) == 0 {
		return nil, relabel.Errorf(relabel.CodeInvalid, "%s has no tests: no file matches test_files of the recipe %q", s.options.Repository, s.options.Recipe.Name)
	}
	key, err := s.recipeKey()
	if err != nil {
		return nil, err
	}
	p := &passing{TestFiles: tests}
	if !s.notes.find(key, p) {
		if err := s.measure(ctx, p, files); err != nil {
			return nil, err
		}
		if err := s.notes.add(key, p); err != nil {
			return nil, err
		}
	}
	for i := range files {
		r := p.Read[files[i].path]
		files[i].parts, files[i].definitions, files[i].problem = r.Parts, r.Definitions, r.Problem
	}
	return p, nil
}

// recipeKey identifies what a run of the tests depends on.
func (s *Source) recipeKey() (string, error) {
	recipe, err := json.Marshal(s.options.Recipe)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append([]byte(s.base+"\x00"), recipe...))
	return hex.EncodeToString(sum[:16]), nil
}

// measure runs the tests twice: once as every run, and once with a record of the executed steps.
func (s *Source) measure(ctx context.Context, p *passing, files []file) error {
	if err := s.ready(ctx, p); err != nil {
		return err
	}
	run, err := s.tester.Test(ctx, p.task, "", s.timeout())
	if err != nil {
		return err
	}
	if problem := problemOf(run); problem != "" {
		return relabel.Errorf(relabel.CodeInvalid, "the tests of %s do not run as they are: %s; the log ends with\n%s", s.options.Repository, problem, tail(run.Log))
	}
	p.Passed, p.Log = passed(run), run.Log
	room, err := s.rooms.Open(ctx, p.task)
	if err != nil {
		return err
	}
	err = s.parse(ctx, room, files)
	if err == nil {
		p.Executed, err = s.executedSteps(ctx, room, p.task, files)
	}
	p.Read = map[string]read{}
	for _, f := range files {
		p.Read[f.path] = read{f.parts, f.definitions, f.problem}
	}
	return errors.Join(err, room.Close(ctx))
}

// ready makes the image of the repository as it is, if that was not done before.
func (s *Source) ready(ctx context.Context, p *passing) (err error) {
	if p.task.Image != "" {
		return nil
	}
	p.task, p.refusal, err = s.workshop.Prepare(ctx, s.candidate(p.TestFiles))
	if err == nil && p.refusal != nil {
		err = relabel.Errorf(relabel.CodeInvalid, "the image of %s cannot be made: %s: %s", s.options.Repository, p.refusal.Reason, p.refusal.Detail)
	}
	return err
}

// problemOf says why a run of the tests without a bug cannot be compared with one, "" if it can.
func problemOf(run taskbuild.TestRun) string {
	switch {
	case run.TimedOut:
		return "they do not end in time"
	case run.Problem != "":
		return run.Problem
	case len(run.Tests) == 0:
		return "their log names no test"
	case len(passed(run)) == 0:
		return "none passes"
	}
	return ""
}

// passed returns the tests that passed, sorted.
func passed(run taskbuild.TestRun) []string {
	var names []string
	for name, status := range run.Tests {
		if status == relabel.TestPassed {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// tail returns the end of a log.
func tail(log []byte) string {
	const most = 1500
	if len(log) > most {
		return "…" + string(log[len(log)-most:])
	}
	return string(log)
}
