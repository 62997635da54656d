package schedule

import (
	"cmp"

	"relabel"
	"relabel/api"
)

// Plan turns a request for iteration number of a run into the iteration with its trajectories drawn:
// βi or ρi, the tasks, and b1…bT of each rollout. tasks are all of the run's task set, or of
// ask.OnBenchmark. The draws depend only on the run's seed and the arguments; the ids are fresh. Errors
// are CodeInvalid and name the field of the request.
func Plan(run relabel.Run, number int, ask relabel.NewIteration, tasks []relabel.Task) (relabel.PlannedIteration, error) {
	run = Defaults(run)
	if ask.OnBenchmark != nil {
		run.Limits = ask.OnBenchmark.Limits
	}
	if err := ValidateRun(run); err != nil {
		return relabel.PlannedIteration{}, err
	}
	it, err := iteration(run, number, ask)
	if err != nil {
		return relabel.PlannedIteration{}, err
	}
	chosen, err := choose(run, it, ask, tasks)
	if err != nil {
		return relabel.PlannedIteration{}, err
	}
	it.Walk, it.ReservedTasks = chosen.walk, chosen.reserved.tasks
	if it.Generations > MaxTrajectories/len(chosen.tasks) {
		return relabel.PlannedIteration{}, relabel.Errorf(relabel.CodeInvalid,
			"%d tasks in %d generations are more than the %d trajectories that an iteration may have",
			len(chosen.tasks), it.Generations, MaxTrajectories).On("generations")
	}
	plan := relabel.PlannedIteration{Iteration: it, Measures: ask.Measures(), ReservedBy: chosen.reserved.by, Trajectories: make([]relabel.Trajectory, 0, len(chosen.tasks)*it.Generations)}
	for _, task := range chosen.tasks {
		for g := range it.Generations {
			plan.Trajectories = append(plan.Trajectories, trajectory(run, it, task, g))
		}
	}
	return plan, drawVerified(run.Seed, plan)
}

// drawVerified marks the trajectories that are not verified: all but the number that the
// iteration's policy says, drawn without replacement and by the run's seed.
func drawVerified(seed int64, plan relabel.PlannedIteration) error {
	n, err := plan.Iteration.Verify.Count(len(plan.Trajectories))
	if err != nil {
		return err
	}
	verified := map[relabel.ID]bool{}
	for _, tr := range lowest(plan.Trajectories, n, func(tr relabel.Trajectory) [32]byte {
		return digest(purposeOf(tr.Kind, "relabel/verify"), seed, tr.InstanceID, int64(tr.Iteration), int64(tr.Generation))
	}) {
		verified[tr.ID] = true
	}
	for i := range plan.Trajectories {
		plan.Trajectories[i].SkipVerify = !verified[plan.Trajectories[i].ID]
	}
	return nil
}

// trajectory draws one rollout.
func trajectory(run relabel.Run, it relabel.Iteration, task relabel.Task, generation int) relabel.Trajectory {
	at := Place{Seed: run.Seed, Kind: it.Kind, Iteration: it.Number, Instance: task.InstanceID, Generation: generation}
	executors, kappa := Executors(it, run.Limits.MaxTurns, at)
	return relabel.Trajectory{
		ID: relabel.NewID(), RunID: run.ID, IterationID: it.ID,
		TaskID: task.ID, InstanceID: task.InstanceID,
		Iteration: it.Number, Kind: it.Kind, Generation: generation,
		State: relabel.Queued, Executors: executors, Kappa: kappa,
	}
}

// iteration resolves the request except for its tasks.
func iteration(run relabel.Run, number int, ask relabel.NewIteration) (relabel.Iteration, error) {
	if err := api.Validate(ask, api.NewIteration{}, ""); err != nil {
		return relabel.Iteration{}, err
	}
	it := relabel.Iteration{
		ID: relabel.NewID(), RunID: run.ID, Number: number, Kind: ask.Kind,
		StudentID: ask.StudentID, Generations: ask.Generations, State: relabel.IterationRunning,
	}
	if !ask.Measures() {
		it.AllowBenchmarks = union(run.AllowBenchmarks, ask.AllowBenchmarks)
	}
	if ask.OnBenchmark != nil {
		it.BenchmarkID = &ask.OnBenchmark.ID
	}
	if ask.Again != nil {
		it.AgainID, it.Generations = &ask.Again.IterationID, cmp.Or(it.Generations, ask.Again.Generations)
	}
	it.Generations = cmp.Or(it.Generations, 1)
	it.Verify = cmp.Or(ask.Verify, run.Verify, relabel.VerifyAll)
	if it.Kind == relabel.Evaluate {
		it.Verify = relabel.VerifyAll
	}
	it.LabelRule = relabel.LabelAll
	if it.Kind.Labelled() {
		it.LabelRule = cmp.Or(ask.LabelRule, run.LabelRule, relabel.LabelAll)
	}
	switch {
	case ask.LabelRule != "" && !it.Kind.Labelled():
		return it, relabel.Errorf(relabel.CodeInvalid, "is only valid for a collect iteration: the others ask for no labels").On("label_rule")
	case number < 1:
		return it, relabel.Errorf(relabel.CodeInvalid, "is %d; iterations count from 1", number).On("number")
	case ask.Kind == "":
		return it, relabel.Errorf(relabel.CodeInvalid, "is missing").On("kind")
	case ask.Kind.Labelled() && run.Recipe.OnPolicy():
		return it, relabel.Errorf(relabel.CodeInvalid, "is %s; the recipe %s trains on the student's own actions without labels: use sample or evaluate", ask.Kind, run.Recipe).On("kind")
	case ask.StudentID == relabel.ID{}:
		return it, relabel.Errorf(relabel.CodeInvalid, "is missing; an iteration names its student").On("student_id")
	case ask.Beta != nil && (!it.Kind.Labelled() || run.Recipe != relabel.DAgger):
		return it, relabel.Errorf(relabel.CodeInvalid, "is only valid for a collect iteration of a dagger run").On("beta")
	case ask.Rho != nil && (!it.Kind.Labelled() || run.Recipe != relabel.AggreVaTe):
		return it, relabel.Errorf(relabel.CodeInvalid, "is only valid for a collect iteration of an aggrevate run").On("rho")
	}
	if ask.Kind == relabel.Evaluate && cmp.Or(ask.Verify, relabel.VerifyAll) != relabel.VerifyAll {
		return it, relabel.Errorf(relabel.CodeInvalid, "is %s; an evaluation verifies all trajectories: omit it", ask.Verify).On("verify")
	}
	if err := checkScored(run.TaskKind, it.Verify); err != nil {
		return it, err
	}
	if err := checkHasChoice(run.Recipe, ask.LabelRule); err != nil {
		return it, err
	}
	if err := checkLabelRule(run.Recipe, it.LabelRule); err != nil {
		return it, err
	}
	if err := checkDraw(run, ask); err != nil {
		return it, err
	}
	return it, mixing(&it, run, ask)
}

// checkDraw refuses a request that selects tasks in two ways or, in an evaluation, in none: a draw
// from the run's tasks would evaluate on training tasks.
func checkDraw(run relabel.Run, ask relabel.NewIteration) error {
	bad := func(field, format string, args ...any) error {
		return relabel.Errorf(relabel.CodeInvalid, format, args...).On(field)
	}
	switch {
	case ask.OnBenchmark != nil && !ask.Measures():
		return bad("benchmark", "only evaluations and samples roll out a benchmark")
	case ask.OnBenchmark != nil && (ask.HeldOut || ask.Tasks > 0 || len(ask.Instances) > 0):
		return bad("benchmark", "has a fixed list of tasks: leave held_out, tasks and instances out")
	case len(ask.AllowBenchmarks) > 0 && ask.Measures():
		return bad("allow_benchmarks", "only applies to training tasks: this iteration may roll out any benchmark and held-out task")
	case ask.OnBenchmark != nil:
		return nil
	case ask.Tasks > 0 && len(ask.Instances) > 0:
		return bad("tasks", "is for a draw; instances are named already")
	case ask.HeldOut && len(ask.Instances) > 0:
		return bad("held_out", "means all held-out tasks; instances are named already")
	case ask.HeldOut && !ask.Measures():
		return bad("held_out", "held-out tasks are never rolled out for training")
	case ask.Again != nil && (ask.HeldOut || ask.Tasks > 0 || len(ask.Instances) > 0):
		return bad("again", "repeats a draw: leave held_out, tasks and instances out")
	case ask.Again != nil && ask.Again.TasksetID != run.TasksetID:
		return bad("again", "iteration %s is of another task set than this run", ask.Again.IterationID)
	case ask.Kind == relabel.Evaluate && !ask.HeldOut && len(ask.Instances) == 0 && ask.Again == nil:
		return bad("held_out", "an evaluation would roll out training tasks: name a benchmark, set held_out, name instances, or repeat another iteration's draw (again)")
	}
	return nil
}

// mixing sets βi or ρi of a collect iteration: those of the request, or else of the run's schedule.
func mixing(it *relabel.Iteration, run relabel.Run, ask relabel.NewIteration) error {
	if !it.Kind.Labelled() {
		return nil
	}
	if run.Recipe == relabel.AggreVaTe {
		rho := *cmp.Or(ask.Rho, run.Rho)
		it.Rho = &rho
		if ask.Rho == nil {
			return nil
		}
		if err := ValidateRho(rho); err != nil {
			return err
		}
		return CheckParameters(relabel.Run{Rho: &rho})
	}
	beta := 1.0 // sft: the teacher's own states
	switch {
	case ask.Beta != nil:
		beta = *ask.Beta
	case run.Recipe == relabel.DAgger:
		var err error
		if beta, err = Beta(*run.Beta, it.Number); err != nil {
			return err
		}
	}
	it.Beta = &beta
	return nil
}
