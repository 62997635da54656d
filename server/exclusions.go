package server

import (
	"context"
	"fmt"

	"relabel"
	"relabel/api"
)

func (s *site) addExclusions() {
	add(s, action("/v1/tasksets/{id}/exclude", "tasksets", "exclude-tasks", "Exclude tasks",
		"Makes a new revision in which no run draws these tasks. Runs and benchmarks that exist keep their revision."), s.excludeTasks)
	add(s, action("/v1/tasksets/{id}/include", "tasksets", "include-tasks", "End the exclusion of tasks",
		"Makes a new revision in which runs draw these tasks again."), s.includeTasks)
	add(s, action("/v1/tasksets/{id}/drop-flaky", "tasksets", "drop-flaky-tests", "Drop flaky tests",
		"Makes a new revision in which the FAIL_TO_PASS and PASS_TO_PASS lists of flaky tasks do not have the tests that flicker, so that the tasks are sound."), s.dropFlaky)
}

func (s *site) excludeTasks(ctx context.Context, in *struct {
	IDPath
	Body api.NewExclusion
}) (*of[relabel.Taskset], error) {
	reasons := map[string]string{}
	var names []string
	for i, e := range in.Body.Tasks {
		if err := relabel.CheckExclusion(e.Reason); err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "%v", err).On(fmt.Sprintf("tasks[%d].reason", i))
		}
		if _, twice := reasons[e.InstanceID]; twice {
			return nil, relabel.Errorf(relabel.CodeInvalid, "%.100q is there twice", e.InstanceID).On(fmt.Sprintf("tasks[%d].instance_id", i))
		}
		reasons[e.InstanceID] = e.Reason
		names = append(names, e.InstanceID)
	}
	return s.revise(ctx, in.ID, relabel.TasksExcluded, names, "tasks", func(t relabel.Task) (relabel.Task, error) {
		if t.Excluded == reasons[t.InstanceID] {
			return t, fmt.Errorf("is excluded for this reason already")
		}
		t.Excluded = reasons[t.InstanceID]
		return t, nil
	})
}

func (s *site) includeTasks(ctx context.Context, in *struct {
	IDPath
	Body api.NewInclusion
}) (*of[relabel.Taskset], error) {
	return s.revise(ctx, in.ID, relabel.TasksIncluded, in.Body.Instances, "instances", func(t relabel.Task) (relabel.Task, error) {
		if t.Excluded == "" {
			return t, fmt.Errorf("is not excluded")
		}
		t.Excluded = ""
		return t, nil
	})
}

// mostDropped bounds the flaky tasks of one request.
const mostDropped = 1000

func (s *site) dropFlaky(ctx context.Context, in *struct {
	IDPath
	Body api.DropFlaky
}) (*of[relabel.Taskset], error) {
	flaky := map[string][]relabel.FlakyTest{}
	var names []string
	for after := ""; ; {
		page, next, err := s.Store.ListSoundness(ctx, in.ID, relabel.SoundnessFilter{State: relabel.TaskFlaky}, relabel.Page{After: after, Limit: 100})
		if err != nil {
			return nil, err
		}
		for _, t := range page {
			flaky[t.InstanceID] = t.Validation.Flaky
			names = append(names, t.InstanceID)
		}
		if after = next; next == "" || len(in.Body.Instances) == 0 && len(names) >= mostDropped {
			break
		}
	}
	if len(in.Body.Instances) > 0 {
		names = in.Body.Instances
	}
	if len(names) == 0 {
		return nil, relabel.Errorf(relabel.CodeInvalid, "no task is flaky").On("instances")
	}
	return s.revise(ctx, in.ID, relabel.FlakyDropped, names[:min(len(names), mostDropped)], "instances", func(t relabel.Task) (relabel.Task, error) {
		if flaky[t.InstanceID] == nil {
			return t, fmt.Errorf("is not flaky by its newest validation")
		}
		return t.WithoutTests(flaky[t.InstanceID]), nil
	})
}

// revise makes a revision of a taskset in which some tasks are changed. An error of change names what is wrong with
// a task.
func (s *site) revise(ctx context.Context, taskset relabel.ID, kind relabel.TasksetChange, names []string, field string, change func(relabel.Task) (relabel.Task, error)) (*of[relabel.Taskset], error) {
	if _, err := s.Store.FindTaskset(ctx, taskset); err != nil {
		return nil, err
	}
	leave, err := s.bodies.beginDraw(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	all, err := s.Store.ListTaskNames(ctx, taskset, 0)
	if err != nil {
		return nil, err
	}
	ids := make(map[string]relabel.ID, len(all))
	for _, t := range all {
		ids[t.InstanceID] = t.ID
	}
	changed := make([]relabel.Task, len(names))
	for i, name := range names {
		at := fmt.Sprintf("%s[%d]", field, i)
		id, known := ids[name]
		if !known {
			return nil, relabel.Errorf(relabel.CodeInvalid, "%.100q is not in the taskset", name).On(at)
		}
		task, err := s.Store.FindTask(ctx, id)
		if err != nil {
			return nil, err
		}
		if changed[i], err = change(task); err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "%.100q %v", name, err).On(at)
		}
	}
	return one(s.Store.ReviseTasks(ctx, taskset, kind, changed))
}
