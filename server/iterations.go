package server

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"relabel"
	"relabel/api"
	"relabel/labelrule"
)

func (s *site) addIterations() {
	add(s, operation(http.MethodPost, "/v1/runs/{id}/iterations", "runs", "start-iteration", "Start an iteration",
		"Starts the run's next round with this round's student: draws tasks and executors with the run's seed, and queues a trajectory for each task and generation."), s.startIteration)
	add(s, operation(http.MethodGet, "/v1/runs/{id}/iterations", "runs", "list-iterations", "List a run's iterations", "The run's iterations in the order they were started, with their progress."), s.listIterations)
	add(s, operation(http.MethodGet, "/v1/iterations/{id}", "runs", "show-iteration", "Show an iteration", "One iteration, with its progress."), s.showIteration)
	add(s, operation(http.MethodGet, "/v1/iterations/{id}/draw", "runs", "show-draw", "Show what an iteration rolls out",
		"The drawn or given instances and the rollouts of each. POST /v1/runs/{id}/iterations with again repeats the draw."), s.showDraw)
}

// orEmpty is a list that is never null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (s *site) startIteration(ctx context.Context, in *struct {
	IDPath
	Body api.NewIteration
}) (*of[api.IterationView], error) {
	run, err := s.Store.FindRun(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if run.Scaffold == relabel.ScaffoldImported {
		return nil, relabel.Errorf(relabel.CodeConflict, "the run's trajectories were imported: it rolls nothing out; relabel its iteration, or create another run")
	}
	student, err := s.findPolicy(ctx, in.Body.Student)
	if err != nil {
		return nil, asField(err, "student")
	}
	ask := askOf(in.Body, run, student.ID)
	if err := checkStudent(run, student, ask.Kind); err != nil {
		return nil, err
	}
	if err := s.resolveDraw(ctx, run, in.Body, &ask); err != nil {
		return nil, err
	}
	ask = ask.WithDefaults(run)
	leave, err := s.bodies.beginDraw(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	tasks, err := s.tasksToDraw(ctx, run, &ask)
	if err != nil {
		return nil, err
	}
	number, err := s.nextNumber(ctx, run.ID, ask.Kind)
	if err != nil {
		return nil, err
	}
	if run.Draw == relabel.DrawPermutation { // after the number: an iteration that is created meanwhile has taken it
		if ask.Walked, err = s.Store.ListWalked(ctx, run.ID, ask.Kind); err != nil {
			return nil, err
		}
	}
	plan, err := s.Plan(run, number, ask, tasks)
	if err != nil {
		return nil, err
	}
	if err := checkUncertainty(plan.Iteration, student); err != nil {
		return nil, err
	}
	if plan.Weights, err = s.checkWeights(ctx, weightQuestion{run: run, iteration: plan.Iteration, student: student, measures: plan.Measures,
		idle: !plan.UsesStudent(), allowed: in.Body.AllowWeights}); err != nil {
		return nil, err
	}
	if err := s.Store.CreateIteration(ctx, plan); err != nil {
		return nil, err
	}
	view, err := s.viewIteration(ctx, plan.Iteration.ID)
	if err == nil {
		view.Body.ReservedBy = plan.ReservedBy
	}
	return view, err
}

// askOf is a request with the run's kind of iterations, if it has none.
func askOf(b api.NewIteration, run relabel.Run, student relabel.ID) relabel.NewIteration {
	return relabel.NewIteration{Kind: cmp.Or(b.Kind, run.Recipe.DefaultKind()), StudentID: student, Beta: b.Beta, Rho: b.Rho, Tasks: b.Tasks, Instances: b.Instances, HeldOut: b.HeldOut, Generations: b.Generations, LabelRule: b.LabelRule, Verify: b.Verify, AllowBenchmarks: b.AllowBenchmarks}
}

// checkStudent refuses a student that does not sample as the run's preset does. The student of an sft
// run acts only in evaluations, which are greedy.
func checkStudent(run relabel.Run, student relabel.Policy, kind relabel.IterationKind) error {
	if run.Preset == "" || run.Recipe == relabel.SFT || kind == relabel.Evaluate {
		return nil
	}
	p, err := relabel.FindPreset(run.Preset)
	if err != nil {
		return err
	}
	return p.CheckSampling(student, "student")
}

// checkUncertainty refuses a label rule by uncertainty if requests to the student's server do not ask for
// log-probabilities.
func checkUncertainty(it relabel.Iteration, student relabel.Policy) error {
	rule, err := labelrule.Parse(it.LabelRule, "label_rule")
	if err != nil || !rule.NeedsLogprobs() {
		return err
	}
	if asked := student.Sampling.Pinned(student.Server).Logprobs; asked == nil || !*asked {
		return relabel.Errorf(relabel.CodeInvalid, "%s needs log-probabilities of the student's tokens, which are not requested from %s (server %s): choose another rule, or add a version of the policy whose sampling has logprobs",
			rule, student.Name, student.Server).On("label_rule")
	}
	return nil
}

// resolveDraw finds the iteration to repeat and the benchmark of a request. An evaluation or a sample
// that repeats one with a benchmark has this benchmark.
func (s *site) resolveDraw(ctx context.Context, run relabel.Run, b api.NewIteration, ask *relabel.NewIteration) error {
	word := b.Benchmark
	if b.Again != nil {
		draw, err := s.Store.FindDraw(ctx, *b.Again)
		if err != nil {
			return asField(err, "again")
		}
		ask.Again = &draw
		if word != "" {
			return relabel.Errorf(relabel.CodeInvalid, "repeats a draw: leave benchmark out").On("again")
		}
		if draw.BenchmarkID != nil && !ask.Kind.Labelled() {
			word = draw.BenchmarkID.String()
		}
	}
	if word != "" {
		benchmark, err := s.findBenchmark(ctx, word)
		if err != nil {
			return asField(err, "benchmark")
		}
		if err := s.checkKind(ctx, run, benchmark); err != nil {
			return err
		}
		ask.OnBenchmark = &benchmark
	}
	return s.checkAllowed(ctx, b.AllowBenchmarks)
}

// checkKind refuses a benchmark whose tasks are of another kind than the run's.
func (s *site) checkKind(ctx context.Context, run relabel.Run, benchmark relabel.Benchmark) error {
	set, err := s.Store.FindTaskset(ctx, benchmark.TasksetID)
	if err != nil || set.Kind == run.TaskKind {
		return err
	}
	return relabel.Errorf(relabel.CodeInvalid, "has %s; the run has %s", set.Kind.Words(), run.TaskKind.Words()).On("benchmark")
}

// tasksToDraw returns the tasks of the benchmark or of the run's task set, and notes which of
// them benchmarks reserve.
func (s *site) tasksToDraw(ctx context.Context, run relabel.Run, ask *relabel.NewIteration) (tasks []relabel.Task, err error) {
	if ask.OnBenchmark != nil {
		return s.Store.ListBenchmarkTasks(ctx, ask.OnBenchmark.ID)
	}
	if !ask.Measures() {
		ask.Reserved, err = s.Store.ListReserved(ctx, run.TasksetID, slices.Concat(run.AllowBenchmarks, ask.AllowBenchmarks))
		if err != nil {
			return nil, err
		}
	}
	return s.Store.ListTaskNames(ctx, run.TasksetID, run.TasksetRevision)
}

// nextNumber is i of the run's next iteration of this kind.
func (s *site) nextNumber(ctx context.Context, run relabel.ID, kind relabel.IterationKind) (int, error) {
	its, err := s.Store.ListIterations(ctx, run)
	number := 1
	for _, it := range its {
		if it.Kind == kind {
			number = max(number, it.Number+1)
		}
	}
	return number, err
}

func (s *site) viewIteration(ctx context.Context, id relabel.ID) (*of[api.IterationView], error) {
	it, progress, err := s.Store.FindIteration(ctx, id)
	if err != nil {
		return nil, err
	}
	if progress.Trajectories == nil {
		progress.Trajectories = map[relabel.TrajectoryState]int{}
	}
	view := api.IterationView{Iteration: it, Progress: progress, Outages: []relabel.Outage{}}
	if view.PassAtK, err = s.Store.ListPassAtK(ctx, it); err != nil {
		return nil, err
	}
	if view.Weights, err = s.newestWeights(ctx, id); err != nil {
		return nil, err
	}
	student, err := s.Store.FindPolicy(ctx, it.StudentID)
	if err != nil {
		return nil, err
	}
	view.Student = fmt.Sprintf("%s@%d", student.Name, student.Version)
	if it.BenchmarkID != nil {
		b, err := s.Store.FindBenchmark(ctx, *it.BenchmarkID)
		if err != nil {
			return nil, err
		}
		view.Benchmark = b.Name
	}
	if it.State == relabel.IterationRunning {
		run, err := s.Store.FindRun(ctx, it.RunID)
		if err != nil {
			return nil, err
		}
		view.RunPaused = run.Paused
		if progress.Trajectories[relabel.Queued] > 0 {
			workers, err := s.Store.ListWorkers(ctx)
			if err != nil {
				return nil, err
			}
			view.WaitsForWorker = relabel.LackedWorker(run.TaskKind, workers)
		}
		outages, err := s.Store.ListOutages(ctx, &it.RunID)
		if err != nil {
			return nil, err
		}
		for _, o := range outages {
			if o.IterationID == it.ID {
				view.Outages = append(view.Outages, o)
			}
		}
	}
	return one(view, nil)
}

// listIterations returns all iterations if they fit on a page; a run has tens of them.
func (s *site) listIterations(ctx context.Context, in *struct {
	IDPath
	api.PageQuery
}) (*of[api.Page[api.IterationView]], error) {
	if _, err := s.Store.FindRun(ctx, in.ID); err != nil {
		return nil, err
	}
	its, err := s.Store.ListIterations(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	its, next, err := cut(its, in.PageQuery, func(it relabel.Iteration) string { return it.ID.String() })
	if err != nil {
		return nil, err
	}
	views := make([]api.IterationView, 0, len(its))
	for _, it := range its {
		view, err := s.viewIteration(ctx, it.ID)
		if err != nil {
			return nil, err
		}
		views = append(views, view.Body)
	}
	return pageOf(views, next, nil)
}

// cut takes a page out of a list that is whole; the key is the last item's.
func cut[T any](all []T, q api.PageQuery, key func(T) string) (page []T, next string, err error) {
	if q.After != "" {
		i := 0
		for i < len(all) && key(all[i]) != q.After {
			i++
		}
		if i == len(all) {
			return nil, "", relabel.Errorf(relabel.CodeInvalid, "not a key of this list").On("query.after")
		}
		all = all[i+1:]
	}
	if len(all) > q.Limit {
		all = all[:q.Limit]
		next = key(all[len(all)-1])
	}
	return all, next, nil
}

// showIteration also counts reserved tasks, which lists and events do not: that takes long.
func (s *site) showIteration(ctx context.Context, in *IDPath) (*of[api.IterationView], error) {
	view, err := s.viewIteration(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	view.Body.ReservedSince, err = s.Store.CountReservedSince(ctx, view.Body.Iteration)
	return view, err
}

func (s *site) showDraw(ctx context.Context, in *IDPath) (*of[relabel.Draw], error) {
	return one(s.Store.FindDraw(ctx, in.ID))
}
