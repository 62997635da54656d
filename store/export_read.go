package store

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// errStopped ends the transaction when the reader stops.
var errStopped = errors.New("the reader stopped")

// ExportTrajectories yields the trajectories of a part in order, from one snapshot, one at a
// time in memory. The last pair has the error, if any: CodeConflict if a trajectory has changed
// since the export was cut.
func (s *Store) ExportTrajectories(ctx context.Context, sel relabel.ExportSelection, part relabel.ExportPart) iter.Seq2[relabel.ExportTrajectory, error] {
	if sel.Conversations != nil {
		return s.exportConversations(ctx, *sel.Conversations, part)
	}
	return func(yield func(relabel.ExportTrajectory, error) bool) {
		err := s.read(ctx, func(tx pgx.Tx) error {
			// It holds no locks, and the writer may take long for one trajectory.
			if _, err := tx.Exec(ctx, "SET LOCAL "+idleTimeout+" = 0"); err != nil {
				return err
			}
			seen := &exportContext{labels: sel.LabelPolicyID, iterations: map[relabel.ID]relabel.Iteration{}, policies: map[relabel.ID]relabel.Policy{}}
			for _, was := range part.Trajectories {
				e, err := seen.loadAs(ctx, tx, was)
				if err != nil {
					return changedSince(was.ID, err)
				}
				if !yield(e, nil) {
					return errStopped
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(relabel.ExportTrajectory{}, err)
		}
	}
}

// loadAs reads a trajectory as it was when its export was cut: of an open one only the number
// of turns.
func (x *exportContext) loadAs(ctx context.Context, tx pgx.Tx, was relabel.PartTrajectory) (relabel.ExportTrajectory, error) {
	if !was.State.Terminal() {
		return x.loadOpen(ctx, tx, was)
	}
	e, err := x.load(ctx, tx, was.ID)
	if err == nil {
		err = unchanged(was, e)
	}
	verdictAs(&e.Trajectory, was.Verdict)
	e.Flagged, e.Group, e.Benchmark = was.Flagged, was.Group, was.Benchmark
	return e, err
}

// verdictAs restores the verdict that a trajectory had when its export was cut.
func verdictAs(t *relabel.Trajectory, was *relabel.PartVerdict) {
	if was == nil {
		return
	}
	t.Passed, t.Protections, t.Resolved, t.Score, t.Hits = was.Passed, was.Protections, nil, was.Score, was.Hits
	if was.Passed != nil {
		resolved := *was.Passed && t.Submitted != nil && *t.Submitted
		t.Resolved = &resolved
	}
}

// loadOpen reads an open trajectory without anything that is newer than the export.
func (x *exportContext) loadOpen(ctx context.Context, tx pgx.Tx, was relabel.PartTrajectory) (e relabel.ExportTrajectory, err error) {
	if e.Trajectory, err = readOne[relabel.Trajectory](ctx, tx,
		trajectorySelect+" WHERE tr.id = $1", was.ID); err != nil {
		return e, err
	}
	e.Trajectory.State, e.Turns = was.State, make([]relabel.Turn, was.Turns)
	if e.Task, err = readTask(ctx, tx, taskOfTrajectory, e.Trajectory.ID); err != nil {
		return e, err
	}
	e.Iteration, err = x.iteration(ctx, tx, e.Trajectory.IterationID)
	return e, err
}

// errChanged means that a trajectory has changed since its export was cut.
var errChanged = errors.New("its state, its trail, or its number of turns, labels or scores differs")

func unchanged(was relabel.PartTrajectory, e relabel.ExportTrajectory) error {
	labels := 0
	for _, turn := range e.Turns {
		if turn.Label != nil && turn.Label.Status == relabel.Received {
			labels++
		}
	}
	if e.Trajectory.State != was.State || e.Trajectory.Trail != was.Trail || len(e.Turns) != was.Turns || labels != was.Labels || len(e.StudentScores)+len(e.TeacherScores) != was.Scores && e.Student.ID != e.Teacher.ID {
		return errChanged
	}
	return nil
}

// changedSince turns a changed or deleted trajectory into a CodeConflict.
func changedSince(id relabel.ID, err error) error {
	if errors.Is(err, errChanged) || errors.Is(err, pgx.ErrNoRows) {
		return relabel.Errorf(relabel.CodeConflict, "trajectory %s has changed since the export began (a retry, a relabeling, a scoring, or it was deleted): start the export again", id).Because(err)
	}
	return err
}

// selected returns the selection by iteration number, instance id and generation: finished
// trajectories of the iterations that the run's recipe exports, with sel.Unfinished all of them,
// never held-out tasks and never those that measure on a benchmark.
func selected(ctx context.Context, tx pgx.Tx, sel relabel.ExportSelection) ([]sizedTrajectory, error) {
	recipe, err := readValue[relabel.Recipe](ctx, tx, "SELECT recipe FROM runs WHERE id = $1", sel.RunID)
	if err != nil {
		return nil, notFound("run", sel.RunID, err)
	}
	kind := recipe.DefaultKind()
	last, err := readValue[int](ctx, tx, `SELECT number FROM iterations WHERE run_id = $1 AND kind = $4 AND benchmark_id IS NULL
		AND (number = $2 OR $2 = 0 AND (state = 'done' OR $3 AND state = 'running')) ORDER BY number DESC LIMIT 1`, sel.RunID, sel.Iteration, sel.Unfinished, kind)
	switch {
	case errors.Is(err, pgx.ErrNoRows) && sel.Iteration == 0 && sel.Unfinished:
		return nil, relabel.Errorf(relabel.CodeNotFound, "the run has no iteration").On("iteration")
	case errors.Is(err, pgx.ErrNoRows) && sel.Iteration == 0:
		return nil, relabel.Errorf(relabel.CodeNotFound, "the run has no iteration that is done: wait until one is, or export the finished trajectories of a running one (unfinished)").On("iteration")
	case errors.Is(err, pgx.ErrNoRows):
		return nil, relabel.Errorf(relabel.CodeNotFound, "the run has no %s iteration %d for training; samples on held-out tasks or a benchmark are never exported", kind, sel.Iteration).On("iteration")
	case err != nil:
		return nil, err
	}
	if !sel.Unfinished {
		if err := allOver(ctx, tx, sel, kind, last); err != nil {
			return nil, err
		}
	}
	rows, _ := tx.Query(ctx, `SELECT tr.id, tr.trail, tr.turns,
			CASE WHEN $4::uuid IS NULL AND it.kind <> 'sample' THEN tr.labels_received ELSE (SELECT count(DISTINCT a.t) FROM actions a
				WHERE a.trajectory_id = tr.id AND a.attempt = tr.trail AND a.policy_id = coalesce($4, it.student_id) AND a.status = 'received') END,
			coalesce((SELECT sum(octet_length(a.raw)) FROM actions a WHERE a.trajectory_id = tr.id AND a.attempt = tr.trail), 0)
			+ coalesce((SELECT sum(octet_length(o.content)) FROM observations o WHERE o.trajectory_id = tr.id AND o.attempt = tr.trail), 0),
			(SELECT json_agg(json_build_object('t', rv.t, 'flag', rv.flag) ORDER BY rv.t, rv.flag) FROM (SELECT DISTINCT coalesce(t, 0) AS t, flag FROM reviews
				WHERE trajectory_id = tr.id AND (flag = ANY ($5) OR flag <> '' AND $6 = ANY ($5))) rv),
			CASE WHEN $9 THEN (SELECT count(*) FROM scores sc JOIN runs r ON r.id = it.run_id WHERE sc.trajectory_id = tr.id AND sc.attempt = tr.trail
				AND sc.policy_id IN (it.student_id, r.teacher_id) AND sc.logprobs IS NOT NULL) ELSE 0 END,
			tr.state, tr.iteration_id, tr.task_id, tr.submitted, coalesce(tr.end_reason, ''), tr.skip_verify,
			json_build_object('passed', tr.passed, 'protections', tr.protections, 'score', tr.score, 'hits', tr.hits), coalesce(re.name, ''),
			coalesce(tr.failure_mode, ''), coalesce(tr.tool_use_error, false), tr.failure_rules >= $11
		FROM trajectories tr JOIN iterations it ON it.id = tr.iteration_id JOIN tasks ta ON ta.id = tr.task_id
		LEFT JOIN (`+reservedTasks("ta.taskset_id = (SELECT taskset_id FROM runs WHERE id = $1)", "$10::text[]")+`) re ON re.task_id = tr.task_id
		WHERE it.run_id = $1 AND it.kind = $8 AND it.benchmark_id IS NULL AND (it.number = $2 OR $3 AND it.number < $2)
		AND (tr.state IN ('done', 'failed', 'cancelled') OR $7) AND NOT ta.held_out
		ORDER BY it.number, ta.instance_id, tr.generation, tr.id`, sel.RunID, last, sel.Aggregated, sel.LabelPolicyID,
		sel.ExcludeFlags, relabel.AnyFlag, sel.Unfinished, kind, recipe == relabel.OPD, texts(sel.AllowBenchmarks), relabel.FailureRules)
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (tr sizedTrajectory, err error) {
		return tr, row.Scan(&tr.ID, &tr.Trail, &tr.Turns, &tr.Labels, &tr.Bytes, &tr.Flagged, &tr.Scores, &tr.State, &tr.group.iteration, &tr.group.task, &tr.submitted, &tr.end, &tr.skipVerify, &tr.Verdict, &tr.Benchmark,
			&tr.failures.mode, &tr.failures.toolUse, &tr.failures.known)
	})
	addModeFlags(all, sel.ExcludeFlags)
	if sel.MixedRewards {
		setGroups(all, sel.VerdictProtections)
	}
	return all, err
}

// failureFlags are what the rules of failure modes found in a trajectory.
type failureFlags struct {
	mode    relabel.FailureMode
	toolUse bool
	known   bool // by the current rules, for the current verdict
}

// among returns those of the flags that the findings have. If they are not known and the flags have one
// of a mode, it returns NoModeFlag.
func (f failureFlags) among(flags []string) (found []relabel.FlaggedState) {
	for _, flag := range flags {
		_, of := relabel.CutModeFlag(flag)
		switch {
		case of && !f.known:
			return []relabel.FlaggedState{{Flag: relabel.NoModeFlag}}
		case f.mode != "" && flag == f.mode.Flag(), f.toolUse && flag == relabel.ToolUseErrorFlag:
			found = append(found, relabel.FlaggedState{Flag: flag})
		}
	}
	return found
}

// addModeFlags flags trajectories by their failure modes, behind their flags of reviews.
func addModeFlags(all []sizedTrajectory, flags []string) {
	for i := range all {
		all[i].Flagged = append(all[i].Flagged, all[i].failures.among(flags)...)
	}
}

// rewardGroup names the group of a trajectory.
type rewardGroup struct{ iteration, task relabel.ID }

// setGroups sets the groups of trajectories, which are in order. Members have a reward and, if
// protections is not 0, a verdict of that version or newer.
func setGroups(all []sizedTrajectory, protections int) {
	rewards, seen := map[rewardGroup][]float64{}, map[rewardGroup]bool{}
	for i := range all {
		tr := relabel.Trajectory{State: all[i].State, Submitted: all[i].submitted, EndReason: all[i].end, SkipVerify: all[i].skipVerify}
		verdictAs(&tr, all[i].Verdict)
		if protections > 0 && (tr.Protections == nil || *tr.Protections < protections) {
			continue
		}
		if r := tr.Reward(); r != nil {
			rewards[all[i].group] = append(rewards[all[i].group], *r)
		}
	}
	for _, members := range rewards {
		slices.Sort(members)
	}
	for i := range all {
		group := all[i].group
		all[i].Group = &relabel.RewardGroup{First: !seen[group], Rewards: rewards[group]}
		seen[group] = true
	}
}

// allOver refuses running iterations up to last. An export of "the latest" may find a newer
// iteration than at the time of its request.
func allOver(ctx context.Context, tx pgx.Tx, sel relabel.ExportSelection, kind relabel.IterationKind, last int) error {
	running, err := readValue[*int](ctx, tx, `SELECT min(number) FROM iterations WHERE run_id = $1 AND kind = $4 AND benchmark_id IS NULL AND state = 'running'
		AND (number = $2 OR $3 AND number < $2)`, sel.RunID, last, sel.Aggregated, kind)
	if err == nil && running != nil {
		return relabel.Errorf(relabel.CodeConflict, "%s iteration %d is still running: wait until it is done, cancel it, or export its finished trajectories (unfinished)", kind, *running).On("iteration")
	}
	return err
}

// exportContext caches the iterations and policies that trajectories share.
type exportContext struct {
	iterations map[relabel.ID]relabel.Iteration
	labels     *relabel.ID // whose labels leave; nil: the run's teacher's
	teacher    *relabel.ID // nil if the run has none
	recipe     relabel.Recipe
	policies   map[relabel.ID]relabel.Policy
}

func (x *exportContext) load(ctx context.Context, tx pgx.Tx, id relabel.ID) (e relabel.ExportTrajectory, err error) {
	if e.Trajectory, err = readOne[relabel.Trajectory](ctx, tx, trajectorySelect+" WHERE tr.id = $1", id); err != nil {
		return e, err
	}
	if e.Task, err = readTask(ctx, tx, taskOfTrajectory, e.Trajectory.ID); err != nil {
		return e, err
	}
	if e.Iteration, err = x.iteration(ctx, tx, e.Trajectory.IterationID); err != nil {
		return e, err
	}
	if x.teacher != nil {
		if e.Teacher, err = x.policy(ctx, tx, *x.teacher); err != nil {
			return e, err
		}
	}
	if e.Student, err = x.policy(ctx, tx, e.Iteration.StudentID); err != nil {
		return e, err
	}
	asked, err := readPrompts(ctx, tx, id, e.Trajectory.Trail, e.Student.ID)
	if err != nil {
		return e, err
	}
	e.StudentPrompt = func(t int) []int32 { return asked.rebuild(place{t, 0}) }
	if e.Turns, err = readTurns(ctx, tx, id, e.Trajectory.Trail, 1, len(e.Trajectory.Executors)+1); err != nil {
		return e, err
	}
	if e.Iteration.Kind == relabel.Sample {
		for i := range e.Turns {
			own := e.Turns[i].Action
			e.Turns[i].Label = &own
		}
		if x.recipe == relabel.OPD {
			err = loadScores(ctx, tx, &e)
		}
		return e, err
	}
	if x.labels == nil {
		return e, nil
	}
	if e.Teacher, err = x.policy(ctx, tx, *x.labels); err != nil {
		return e, err
	}
	return e, labelWith(ctx, tx, id, e.Trajectory.Trail, *x.labels, e.Turns)
}

// loadScores reads the log-probabilities of the student's actions under student and teacher.
func loadScores(ctx context.Context, tx pgx.Tx, e *relabel.ExportTrajectory) error {
	e.StudentScores, e.TeacherScores = map[int][]float32{}, map[int][]float32{}
	rows, _ := tx.Query(ctx, `SELECT t, policy_id, logprobs FROM scores WHERE trajectory_id = $1 AND attempt = $2
		AND policy_id IN ($3, $4) AND logprobs IS NOT NULL`, e.Trajectory.ID, e.Trajectory.Trail, e.Student.ID, e.Teacher.ID)
	var t int
	var policy relabel.ID
	var logprobs []byte
	_, err := pgx.ForEachRow(rows, []any{&t, &policy, &logprobs}, func() error {
		if policy == e.Student.ID {
			e.StudentScores[t] = floatsOf(logprobs)
		}
		if policy == e.Teacher.ID {
			e.TeacherScores[t] = floatsOf(logprobs)
		}
		return nil
	})
	return err
}

// iteration also sets the run's teacher and recipe.
func (x *exportContext) iteration(ctx context.Context, tx pgx.Tx, id relabel.ID) (relabel.Iteration, error) {
	if it, ok := x.iterations[id]; ok {
		return it, nil
	}
	it, err := readOne[relabel.Iteration](ctx, tx, iterationSelect+" WHERE it.id = $1", id)
	if err != nil {
		return it, err
	}
	x.iterations[id] = it
	return it, tx.QueryRow(ctx, "SELECT teacher_id, recipe FROM runs WHERE id = $1", it.RunID).Scan(&x.teacher, &x.recipe)
}

func (x *exportContext) policy(ctx context.Context, tx pgx.Tx, id relabel.ID) (relabel.Policy, error) {
	if p, ok := x.policies[id]; ok {
		return p, nil
	}
	p, err := readOne[relabel.Policy](ctx, tx, policySelect+" WHERE po.id = $1", id)
	if err == nil {
		x.policies[id] = p
	}
	return p, err
}
