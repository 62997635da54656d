package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"relabel"
	"relabel/api"
)

func (s *site) addRuns() {
	add(s, operation(http.MethodPost, "/v1/runs", "runs", "create-run", "Create a run",
		"Defines an experiment: tasks, teacher, recipe, schedule, limits and seed. Rollouts start with its first iteration."), s.createRun)
	add(s, operation(http.MethodGet, "/v1/runs", "runs", "list-runs", "List runs", "All runs, newest first."), s.listRuns)
	add(s, operation(http.MethodGet, "/v1/runs/{id}", "runs", "show-run", "Show a run", "One run, with the prompts that open every trajectory and its usage."), s.showRun)
}

func (s *site) createRun(ctx context.Context, in *of[api.NewRun]) (*of[relabel.Run], error) {
	b := in.Body
	r := relabel.Run{ID: relabel.NewID(), Name: b.Name, Recipe: b.Recipe,
		Instances: b.Instances, Beta: b.Beta, Rho: b.Rho, Labels: b.Labels, LabelRule: cmp.Or(b.LabelRule, relabel.LabelAll), Verify: cmp.Or(b.Verify, relabel.VerifyAll),
		Seed: b.Seed,
		Draw: b.Draw, TasksPerRound: b.TasksPerRound, Generations: b.Generations, Rounds: b.Rounds, AllowBenchmarks: b.AllowBenchmarks}
	if err := errors.Join(checkNewName(b.Name), s.checkNotices(b.Budget, b.Webhook)); err != nil {
		return nil, err
	}
	r.Budget = b.Budget
	if b.Webhook != nil && b.Webhook.URL != "" {
		r.Webhook = b.Webhook
	}
	set, err := s.findTaskset(ctx, b.Taskset)
	if err != nil {
		return nil, asField(err, "taskset")
	}
	preset, err := findPreset(b.Preset)
	if err != nil {
		return nil, err
	}
	if set, err = s.Store.FindTasksetAt(ctx, set.ID, b.TasksetRevision); err != nil {
		return nil, asField(err, "taskset_revision")
	}
	r.TasksetID, r.TasksetRevision, r.TaskKind, r.Limits = set.ID, set.Revision, set.Kind, b.Limits.Over(preset.Limits(set.Kind))
	if r.Scaffold, r.Prompts, err = s.prompts(b, set.Kind); err != nil {
		return nil, err
	}
	if err := s.checkAllowed(ctx, b.AllowBenchmarks); err != nil {
		return nil, err
	}
	if r, err = s.fromPreset(ctx, r, preset); err != nil {
		return nil, err
	}
	if r.TeacherID, err = s.teacherOf(ctx, b.Teacher, r); err != nil {
		return nil, asField(err, "teacher")
	}
	if err := s.checkInstances(ctx, r); err != nil {
		return nil, err
	}
	if r, err = s.PrepareRun(r); err != nil {
		return nil, err
	}
	if r.HintsFrom, err = s.hintsOf(ctx, b, r); err != nil {
		return nil, err
	}
	if err := s.Store.CreateRun(ctx, r); err != nil {
		return nil, err
	}
	return one(s.Store.FindRun(ctx, r.ID))
}

// findPreset finds a preset by its name; "" is the zero preset.
func findPreset(name string) (relabel.Preset, error) {
	if name == "" {
		return relabel.Preset{}, nil
	}
	return relabel.FindPreset(name)
}

// fromPreset fills a run with the values of a preset; without one, its recipe is dagger by default.
func (s *site) fromPreset(ctx context.Context, r relabel.Run, p relabel.Preset) (relabel.Run, error) {
	if p.Name == "" {
		r.Recipe = cmp.Or(r.Recipe, relabel.DAgger)
		return r, nil
	}
	tasks, err := s.Store.CountTasks(ctx, r, r.AllowBenchmarks)
	if err != nil {
		return r, err
	}
	return p.Fill(r, tasks.Open)
}

// teacherOf finds the teacher of a new run, which only grpo can do without. It refuses one that does
// not sample as the run's preset does, unless no action of it is sampled.
func (s *site) teacherOf(ctx context.Context, name string, r relabel.Run) (id relabel.ID, err error) {
	switch {
	case name == "" && r.Recipe == relabel.GRPO:
		return id, nil
	case name == "":
		return id, relabel.Errorf(relabel.CodeInvalid, "is missing; only a grpo run can do without a teacher").On("teacher")
	}
	teacher, err := s.findPolicy(ctx, name)
	if err != nil || r.Preset == "" || r.Recipe.OnPolicy() {
		return teacher.ID, err
	}
	p, err := relabel.FindPreset(r.Preset)
	if err != nil {
		return id, err
	}
	return teacher.ID, p.CheckSampling(teacher, "teacher")
}

// prompts returns the scaffold of a new run with tasks of a kind, and its texts with the run's own in their
// place.
func (s *site) prompts(b api.NewRun, kind relabel.TaskKind) (scaffold string, p relabel.Prompts, err error) {
	scaffold, p, err = s.ChooseScaffold(b.Scaffold, kind)
	if err != nil || b.Prompts == nil {
		return scaffold, p, err
	}
	own := b.Prompts
	if own.System != "" {
		p.System = own.System
	}
	if own.First != "" {
		p.First = own.First
	}
	if len(own.Tools) == 0 {
		return scaffold, p, nil
	}
	p.Tools = nil
	for i, t := range own.Tools {
		var schema map[string]json.RawMessage
		if json.Unmarshal([]byte(t.Parameters), &schema) != nil || schema == nil {
			return scaffold, p, relabel.Errorf(relabel.CodeInvalid, "not a JSON object").On(fmt.Sprintf("prompts.tools[%d].parameters", i))
		}
		p.Tools = append(p.Tools, t)
	}
	return scaffold, p, nil
}

// checkInstances refuses instances that the taskset lacks, holds out or excludes, or benchmarks reserve.
func (s *site) checkInstances(ctx context.Context, r relabel.Run) error {
	if len(r.Instances) == 0 {
		return nil
	}
	leave, err := s.bodies.beginDraw(ctx)
	if err != nil {
		return err
	}
	defer leave()
	tasks, err := s.Store.ListTaskNames(ctx, r.TasksetID, r.TasksetRevision)
	if err != nil {
		return err
	}
	reserved, err := s.Store.ListReserved(ctx, r.TasksetID, r.AllowBenchmarks)
	if err != nil {
		return err
	}
	byInstance := make(map[string]relabel.Task, len(tasks))
	for _, t := range tasks {
		byInstance[t.InstanceID] = t
	}
	for i, id := range r.Instances {
		field := fmt.Sprintf("instances[%d]", i)
		switch task, known := byInstance[id]; {
		case !known:
			return relabel.Errorf(relabel.CodeInvalid, "%.100q is not in the taskset", id).On(field)
		case task.HeldOut:
			return relabel.Errorf(relabel.CodeInvalid, "%.100q is held out", id).On(field)
		case task.Excluded != "":
			return relabel.Errorf(relabel.CodeInvalid, "%.100q is excluded: %s", id, task.Excluded).On(field)
		case reserved[task.ID] != "":
			return relabel.Errorf(relabel.CodeInvalid, "%.100q is reserved by %s, a benchmark or exclusion list; allow_benchmarks (--allow-benchmark) with %[2]s allows it", id, reserved[task.ID]).On(field)
		}
	}
	return nil
}

func (s *site) listRuns(ctx context.Context, in *api.PageQuery) (*of[api.Page[relabel.Run]], error) {
	return pageOf(s.Store.ListRuns(ctx, page(*in)))
}

func (s *site) showRun(ctx context.Context, in *IDPath) (*of[api.RunView], error) {
	run, err := s.Store.FindRun(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	spent, err := s.Store.FindSpent(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	outages, err := s.Store.ListOutages(ctx, &in.ID)
	if err != nil {
		return nil, err
	}
	set, err := s.Store.FindTasksetAt(ctx, run.TasksetID, run.TasksetRevision)
	if err != nil {
		return nil, err
	}
	excluded, err := s.Store.ListExcludedTasks(ctx, set.ID, set.Revision, relabel.MostExcludedNamed)
	if err != nil {
		return nil, err
	}
	rows, err := s.presetRows(ctx, run)
	return one(api.RunView{Run: run, Spent: spent, Tasks: set, Excluded: excluded, Outages: orEmpty(outages), PresetRows: rows}, err)
}

// presetRows compares a run with the paper; none without a preset.
func (s *site) presetRows(ctx context.Context, run relabel.Run) ([]relabel.PresetRow, error) {
	if run.Preset == "" {
		return nil, nil
	}
	tasks, err := s.Store.CountTasks(ctx, run, run.AllowBenchmarks)
	return run.PresetRows(tasks.Open), err
}
