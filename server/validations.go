package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"relabel"
	"relabel/api"
)

func (s *site) addValidations() {
	add(s, operation(http.MethodPost, "/v1/tasksets/{id}/validations", "tasksets", "create-validation", "Store a validation",
		"Stores what `relabel tasks validate` found about a task: its tests ran several times with the gold patch and as often without a patch. The newest validation of a task counts."), s.createValidation)
	add(s, operation(http.MethodGet, "/v1/tasksets/{id}/validations", "tasksets", "list-soundness", "List tasks with their validations",
		"The tasks of a taskset by instance id, each with its newest validation."), s.listSoundness)
	add(s, operation(http.MethodGet, "/v1/tasksets/{id}/soundness", "tasksets", "count-soundness", "Count sound tasks",
		"How many tasks of a taskset are sound, flaky, broken, and not validated, with the reasons."), s.countSoundness)
	add(s, operation(http.MethodGet, "/v1/validations/{id}", "tasksets", "show-validation", "Show a validation", "One validation with its runs."), s.showValidation)
	add(s, operation(http.MethodGet, "/v1/validations/{id}/log", "tasksets", "show-validation-log", "Show the log of a run",
		"What the test command printed in one run of a validation."), s.showValidationLog)
}

func (s *site) createValidation(ctx context.Context, in *struct {
	IDPath
	Body api.NewValidation
}) (*of[relabel.Validation], error) {
	b := in.Body
	task, err := s.Store.FindTask(ctx, b.TaskID)
	if err == nil && task.TasksetID != in.ID {
		err = relabel.Errorf(relabel.CodeNotFound, "the taskset has no task %s", b.TaskID)
	}
	if err != nil {
		return nil, asField(err, "task_id")
	}
	v := relabel.Validation{ID: relabel.NewID(), TaskID: b.TaskID, Times: b.Times, VerifySeconds: b.VerifySeconds, State: b.State, Reason: b.Reason, Problem: b.Problem, Flaky: b.Flaky}
	if err := checkState(v); err != nil {
		return nil, err
	}
	logs := make([][]byte, len(b.Runs))
	for i, r := range b.Runs {
		field := fmt.Sprintf("runs[%d]", i)
		if r.ValidationRun.LogBytes, err = unpackedSize(r.LogGzip); err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "%v", err).On(field + ".log")
		}
		if err := checkRun(v, r.ValidationRun, field); err != nil {
			return nil, err
		}
		v.Runs, logs[i] = append(v.Runs, r.ValidationRun), r.LogGzip
	}
	if err := s.Store.CreateValidation(ctx, v, logs); err != nil {
		return nil, err
	}
	return one(s.Store.FindValidation(ctx, v.ID))
}

// checkState refuses a state that contradicts its reason.
func checkState(v relabel.Validation) error {
	switch {
	case (v.State == relabel.TaskSound) != (v.Reason == "") || (v.Reason == "") != (v.Problem == ""):
		return relabel.Errorf(relabel.CodeInvalid, "a sound task has neither a reason nor a problem, and any other has both").On("reason")
	case (v.State == relabel.TaskFlaky) != (v.Reason == relabel.ProblemFlaky), v.State == relabel.TaskFlaky && len(v.Flaky) == 0:
		return relabel.Errorf(relabel.CodeInvalid, "a flaky task has the reason %s and names its flaky tests", relabel.ProblemFlaky).On("flaky")
	case (v.State == relabel.TaskInfra) != (v.Reason == relabel.ProblemInfra):
		return relabel.Errorf(relabel.CodeInvalid, "the state infra and the reason infrastructure belong together").On("reason")
	}
	return nil
}

// checkRun refuses a run after those of v that is not the next of its patch.
func checkRun(v relabel.Validation, r relabel.ValidationRun, field string) error {
	switch {
	case r.Patch != relabel.GoldPatch && r.Patch != relabel.EmptyPatch:
		return relabel.Errorf(relabel.CodeInvalid, "must be gold or empty").On(field + ".patch")
	case r.Number != len(v.Of(r.Patch))+1 || r.Number > v.Times:
		return relabel.Errorf(relabel.CodeInvalid, "runs of a patch are numbered from 1 to at most times, in order").On(field + ".number")
	case len(r.Tests) > relabel.MaxRunTests:
		return relabel.Errorf(relabel.CodeInvalid, "names %d tests; at most %d", len(r.Tests), relabel.MaxRunTests).On(field + ".tests")
	case r.Millis < 0 || r.NotPassed < 0:
		return relabel.Errorf(relabel.CodeInvalid, "must not be negative").On(field + ".millis")
	}
	return nil
}

// unpackedSize reads a log in gzip to its end and returns its size in bytes; 0 without one.
func unpackedSize(packed []byte) (int, error) {
	if len(packed) == 0 {
		return 0, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return 0, fmt.Errorf("is not gzip: %w", err)
	}
	n, err := io.Copy(io.Discard, io.LimitReader(r, relabel.MaxValidationLog+1))
	switch {
	case err != nil:
		return 0, fmt.Errorf("is not gzip: %w", err)
	case n > relabel.MaxValidationLog:
		return 0, fmt.Errorf("is over %d bytes when unpacked", relabel.MaxValidationLog)
	}
	return int(n), nil
}

func (s *site) listSoundness(ctx context.Context, in *struct {
	IDPath
	api.SoundnessQuery
	api.PageQuery
}) (*of[api.Page[relabel.TaskSoundness]], error) {
	if _, err := s.Store.FindTasksetAt(ctx, in.ID, in.Revision); err != nil {
		return nil, err
	}
	return pageOf(s.Store.ListSoundness(ctx, in.ID, relabel.SoundnessFilter{Revision: in.Revision, State: in.State, Excluded: in.Excluded}, page(in.PageQuery)))
}

func (s *site) countSoundness(ctx context.Context, in *struct {
	IDPath
	api.RevisionQuery
}) (*of[relabel.SoundnessCounts], error) {
	return one(s.Store.CountSoundness(ctx, in.ID, in.Revision))
}

func (s *site) showValidation(ctx context.Context, in *IDPath) (*of[relabel.Validation], error) {
	return one(s.Store.FindValidation(ctx, in.ID))
}

func (s *site) showValidationLog(ctx context.Context, in *struct {
	IDPath
	api.LogQuery
}) (*of[api.ValidationLog], error) {
	if _, err := s.Store.FindValidation(ctx, in.ID); err != nil {
		return nil, err
	}
	packed, err := s.Store.FindValidationLog(ctx, in.ID, in.Patch, in.Number)
	if err != nil {
		return nil, err
	}
	text, err := relabel.UnpackLog(packed)
	return one(api.ValidationLog{Log: strings.ToValidUTF8(string(text), "\uFFFD")}, err)
}
