package shard

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"relabel"
)

// fixedStore holds one run's trajectories and one export in memory. It has no mixes.
type fixedStore struct {
	Store
	run  relabel.Run
	list []relabel.ExportTrajectory
	fail error // yielded after the list

	benchmarks []relabel.ProvenanceBenchmark
	weights    map[int][]relabel.WeightCheck // by iteration

	mu      sync.Mutex
	export  relabel.Export
	cut     [][]relabel.ExportTrajectory // by part
	parts   []relabel.FinishedPart
	done    []bool
	reasons []string // of FailExport
	saved   func()   // called after each SaveExportFile; nil: nothing is
}

func (s *fixedStore) FindExport(_ context.Context, id relabel.ID) (relabel.Export, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != s.export.ID {
		return relabel.Export{}, relabel.Errorf(relabel.CodeNotFound, "no such export")
	}
	e := s.export
	e.Parts = len(s.cut)
	return e, nil
}

func (s *fixedStore) FindRun(context.Context, relabel.ID) (relabel.Run, error) { return s.run, nil }

func (s *fixedStore) FindTaskset(context.Context, relabel.ID) (relabel.Taskset, error) {
	return relabel.Taskset{Name: "issues", Digest: "d0"}, nil
}

func (s *fixedStore) ExportImages(context.Context, []string) (map[string]string, error) {
	return map[string]string{"acme/two:latest": "sha256:cd"}, nil
}

func (s *fixedStore) ExportBenchmarks(context.Context, []relabel.ID) ([]relabel.ProvenanceBenchmark, error) {
	return s.benchmarks, nil
}

func (s *fixedStore) ExportWeightChecks(context.Context, relabel.ID, relabel.IterationKind, time.Time) (map[int][]relabel.WeightCheck, error) {
	return s.weights, nil
}

// CutExport makes parts of partBytes trajectories each: tests say how many.
func (s *fixedStore) CutExport(_ context.Context, _ relabel.ID, partBytes int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.export.State == relabel.ExportRunning && len(s.cut) > 0 {
		return nil
	}
	if ended(s.export) {
		return relabel.Errorf(relabel.CodeConflict, "the export is %s", s.export.State)
	}
	s.export.State = relabel.ExportRunning
	s.cut = slices.Collect(slices.Chunk(s.list, int(min(partBytes, 1000))))
	if s.cut == nil {
		s.cut = [][]relabel.ExportTrajectory{nil}
	}
	s.parts, s.done = make([]relabel.FinishedPart, len(s.cut)), make([]bool, len(s.cut))
	return nil
}

func (s *fixedStore) FindExportPart(_ context.Context, id relabel.ID, number int) (relabel.ExportPart, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	part := relabel.ExportPart{ExportID: id, Number: number, Done: s.done[number], Files: slices.Clone(s.parts[number].Files)}
	for _, tr := range s.cut[number] {
		part.Trajectories = append(part.Trajectories, relabel.PartTrajectory{ID: tr.Trajectory.ID})
	}
	return part, nil
}

func (s *fixedStore) ExportTrajectories(ctx context.Context, _ relabel.ExportSelection, part relabel.ExportPart) iter.Seq2[relabel.ExportTrajectory, error] {
	return func(yield func(relabel.ExportTrajectory, error) bool) {
		for _, tr := range s.cut[part.Number] {
			is := func(p relabel.PartTrajectory) bool { return p.ID == tr.Trajectory.ID }
			if len(part.Trajectories) > 0 && !slices.ContainsFunc(part.Trajectories, is) {
				continue
			}
			if !yield(tr, ctx.Err()) {
				return
			}
		}
		if s.fail != nil {
			yield(relabel.ExportTrajectory{}, s.fail)
		}
	}
}

func (s *fixedStore) SaveExportFile(_ context.Context, _ relabel.ID, part int, f relabel.ExportFile) error {
	s.mu.Lock()
	defer func() {
		s.mu.Unlock()
		if s.saved != nil {
			s.saved()
		}
	}()
	files := slices.DeleteFunc(slices.Clone(s.parts[part].Files), func(g relabel.ExportFile) bool { return g.Path == f.Path })
	files = append(files, f)
	slices.SortFunc(files, func(a, b relabel.ExportFile) int { return strings.Compare(a.Path, b.Path) }) // as the store gives them
	s.parts[part].Files = files
	return nil
}

func (s *fixedStore) FinishExportPart(_ context.Context, _ relabel.ID, part int, summary json.RawMessage, excluded []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.export.State != relabel.ExportRunning {
		return relabel.Errorf(relabel.CodeConflict, "the export is %s", s.export.State)
	}
	s.done[part], s.parts[part].Summary, s.parts[part].Excluded = true, summary, excluded
	return nil
}

func (s *fixedStore) ExportParts(context.Context, relabel.ID) iter.Seq2[relabel.FinishedPart, error] {
	return func(yield func(relabel.FinishedPart, error) bool) {
		s.mu.Lock()
		parts := slices.Clone(s.parts)
		s.mu.Unlock()
		for _, p := range parts {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func (s *fixedStore) FinishExport(_ context.Context, e relabel.Export) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.export = e
	s.export.State = relabel.ExportDone
	for _, p := range s.parts {
		s.export.Files = append(s.export.Files, p.Files...)
	}
	return nil
}

func (s *fixedStore) FailExport(_ context.Context, _ relabel.ID, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.export.State = relabel.ExportFailed
	s.reasons = append(s.reasons, reason)
	return nil
}

func (s *fixedStore) ExportWaits(_ context.Context, _ relabel.ID, reason string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := s.export.Waiting != reason
	s.export.Waiting = reason
	return news, nil
}

// fixedID is an id that is the same in every process.
func fixedID(format string, args ...any) relabel.ID {
	return uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, format, args...))
}

func at[T any](v T) *T { return &v }

func had(m relabel.Message) relabel.Action {
	m.Role = relabel.RoleAssistant
	return relabel.Action{Status: relabel.Received, Parse: relabel.ParsedOK, FinishReason: "tool_calls", Message: m}
}

func call(name, arguments string) relabel.Message {
	return relabel.Message{Content: "I call " + name, ToolCalls: []relabel.ToolCall{{ID: "endpoint-id", Name: name, Arguments: arguments}}}
}

// odd is text that careless code loses: NUL, escapes, a lone surrogate (WTF-8), emoji,
// separators, markup and special-token text.
const odd = "nul \x00 esc \x1b[31m lone \xed\xa0\x80 and \xed\xb2\x80 🗝 é \u2028 \ufeff </script> <|im_end|> \\u0041 \"q\" \r\n\ttab"

// oddArguments is valid JSON that must keep its spaces, order, duplicates and numbers.
const oddArguments = "{\"command\":  \"ls\",\n \"n\": 1.0, \"e\": 1e5, \"n\": 10000000000000000000001, \"s\": \"\\u00e9\\ud800\\n\"}"

// someTrajectory is a rollout of n turns, teacher and student in turns.
func someTrajectory(iteration, number, n int) relabel.ExportTrajectory {
	it := relabel.Iteration{ID: fixedID("iteration %d", iteration), Number: iteration, Kind: relabel.Collect, Beta: at(1.2 - 0.2*float64(iteration))}
	tr := relabel.ExportTrajectory{
		Trajectory: relabel.Trajectory{ID: fixedID("trajectory %d %d", iteration, number), Iteration: iteration, Kind: relabel.Collect, State: relabel.Done, Submitted: at(true), Resolved: at(number%2 == 0)},
		Iteration:  it,
		Teacher:    relabel.Policy{ID: fixedID("teacher"), Name: "big", Version: 1, Model: "teacher-model"},
		Student:    relabel.Policy{ID: fixedID("student %d", iteration), Name: "small", Version: iteration, Model: "student-model"},
		Task:       relabel.Task{InstanceID: fmt.Sprintf("task-%d", number), Workdir: "/testbed", ProblemStatement: "It fails.\n" + odd, HintsText: "Look at x."},
	}
	for t := 1; t <= n; t++ {
		label := had(call("execute_bash", fmt.Sprintf(`{"command": "grep -n %d.%d.%d"}`, iteration, number, t)))
		turn := relabel.Turn{T: t, Executor: relabel.Teacher, Action: label, Label: &label,
			Observations: []relabel.Observation{{CallID: relabel.CallID(t, 0), Tool: "execute_bash", Content: fmt.Sprintf("line %d\n", t)}}}
		if t%2 == 0 {
			turn.Executor = relabel.Student
			turn.Action = had(relabel.Message{Content: "hm"})
			turn.Action.Parse = relabel.NoCall
			turn.Observations = []relabel.Observation{{Content: "Use a tool."}}
		}
		tr.Turns = append(tr.Turns, turn)
	}
	tr.Trajectory.Turns = n
	return tr
}

func newFixedStore(list ...relabel.ExportTrajectory) *fixedStore {
	run := relabel.Run{ID: fixedID("run"), Name: "test", Recipe: relabel.DAgger, Prompts: relabel.Prompts{
		System: "You repair code.", First: "{problem_statement} in {workdir}{hints?}\nHints: {hints_text}{/hints?}",
		Tools: []relabel.Tool{{Name: "execute_bash", Description: "Run <it>.", Parameters: `{"type":"object","properties":{"z":{},"a":{}}}`}},
	}}
	s := &fixedStore{run: run, list: list}
	s.newExport("first", relabel.ExportSelection{Aggregated: true})
	return s
}

// newExport replaces the store's export by a queued one.
func (s *fixedStore) newExport(name string, sel relabel.ExportSelection) {
	sel.RunID = s.run.ID
	s.export = relabel.Export{ID: fixedID("export %s", name), Selection: sel, State: relabel.ExportQueued, FolderID: "here",
		Form: relabel.ExportForm{Views: []relabel.View{relabel.ViewMessages}}}
	s.cut, s.parts, s.done = nil, nil, nil
}
