package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const validationSelect = `SELECT va.id, va.task_id, ta.instance_id, va.times, va.verify_seconds, va.state, va.reason, va.problem, va.flaky, va.runs, va.runs_of, va.created_at
	FROM validations va JOIN tasks ta ON ta.id = va.task_id`

// newestValidation is the newest validation va of a task ta, with nulls if it has none.
const newestValidation = " LEFT JOIN LATERAL (SELECT * FROM validations WHERE task_id = ta.id ORDER BY created_at DESC, id DESC LIMIT 1) va ON true"

// CreateValidation stores a validation. logs are its runs' logs in gzip, in their order; nil for a run without one.
// Rows that took the place of the task meanwhile with equal content, as after an exclusion, get a copy. CodeNotFound if there
// is no such task.
func (s *Store) CreateValidation(ctx context.Context, v relabel.Validation, logs [][]byte) error {
	v.ID = ensureID(v.ID)
	return s.retryTx(ctx, unlessCreated("validations", v.ID), func(tx pgx.Tx, _ bool) error {
		// A revision that replaces the task waits, and then copies this validation; or it is complete, and its row is seen.
		if _, err := readValue[relabel.ID](ctx, tx, "SELECT id FROM tasks WHERE id = $1 FOR SHARE", v.TaskID); err != nil {
			return notFound("task", v.TaskID, err)
		}
		var flaky any
		if len(v.Flaky) > 0 {
			flaky = v.Flaky
		}
		_, err := tx.Exec(ctx, `INSERT INTO validations (id, task_id, times, verify_seconds, state, reason, problem, flaky, runs) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			v.ID, v.TaskID, v.Times, v.VerifySeconds, v.State, v.Reason, validUTF8(v.Problem), flaky, runsOf(v))
		if err != nil {
			return err
		}
		for i, log := range logs {
			if len(log) == 0 {
				continue
			}
			if _, err := tx.Exec(ctx, "INSERT INTO validation_logs (validation_id, patch, number, log) VALUES ($1, $2, $3, $4)", v.ID, v.Runs[i].Patch, v.Runs[i].Number, log); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `INSERT INTO validations (id, task_id, times, verify_seconds, state, reason, problem, flaky, runs, runs_of)
			SELECT gen_random_uuid(), later.id, va.times, va.verify_seconds, va.state, va.reason, va.problem, va.flaky, va.runs, va.id
			FROM validations va JOIN tasks ta ON ta.id = va.task_id
			JOIN tasks later ON later.taskset_id = ta.taskset_id AND later.instance_id = ta.instance_id AND later.added_in > ta.added_in
			WHERE va.id = $1 AND `+taskContent("ta")+" IS NOT DISTINCT FROM "+taskContent("later"), v.ID)
		return err
	})
}

// runsOf are the runs of a validation for a column, with texts that it can hold.
func runsOf(v relabel.Validation) []relabel.ValidationRun {
	runs := make([]relabel.ValidationRun, len(v.Runs))
	for i, r := range v.Runs {
		r.Infra = validUTF8(r.Infra)
		runs[i] = r
	}
	return runs
}

// carryValidations gives tasks that take the place of others copies of their newest validations. Those of tasks all of
// whose flaky tests were dropped say that they are sound.
func carryValidations(ctx context.Context, tx pgx.Tx, change relabel.TasksetChange, earlier, later []relabel.ID) error {
	_, err := tx.Exec(ctx, `INSERT INTO validations (id, task_id, times, verify_seconds, state, reason, problem, flaky, runs, runs_of)
		SELECT gen_random_uuid(), n.later, va.times, va.verify_seconds, CASE WHEN d.dropped THEN 'sound' ELSE va.state END,
			CASE WHEN d.dropped THEN '' ELSE va.reason END, CASE WHEN d.dropped THEN '' ELSE va.problem END, CASE WHEN NOT d.dropped THEN va.flaky END,
			va.runs, coalesce(va.runs_of, va.id)
		FROM unnest($1::uuid[], $2::uuid[]) AS n (earlier, later) JOIN tasks ta ON ta.id = n.earlier JOIN tasks lt ON lt.id = n.later`+newestValidation+`,
			LATERAL (SELECT $3 AND va.state = 'flaky' AND NOT EXISTS (SELECT FROM json_array_elements(va.flaky) f WHERE f->>'test' IN (
				SELECT json_array_elements_text(lt.fail_to_pass) UNION ALL SELECT json_array_elements_text(lt.pass_to_pass))) AS dropped) d
		WHERE va.id IS NOT NULL`, earlier, later, change == relabel.FlakyDropped)
	return err
}

// FindValidation returns a validation; CodeNotFound if there is none.
func (s *Store) FindValidation(ctx context.Context, id relabel.ID) (relabel.Validation, error) {
	return find[relabel.Validation](ctx, s, "validation", id, validationSelect+" WHERE va.id = $1", id)
}

// FindValidationLog returns the log of a run in gzip; CodeNotFound if there is none.
func (s *Store) FindValidationLog(ctx context.Context, id relabel.ID, patch relabel.ValidatedPatch, number int) ([]byte, error) {
	log, err := readValue[[]byte](ctx, s.pool, `SELECT vl.log FROM validations va JOIN validation_logs vl ON vl.validation_id = coalesce(va.runs_of, va.id)
		WHERE va.id = $1 AND vl.patch = $2 AND vl.number = $3`, id, patch, number)
	return log, notFound("log of the validation", id, err)
}

// ListSoundness lists the tasks of a taskset with their newest validations in the byte order of their instance ids,
// none if there is no such taskset. CodeInvalid for an invalid page.
func (s *Store) ListSoundness(ctx context.Context, taskset relabel.ID, f relabel.SoundnessFilter, p relabel.Page) ([]relabel.TaskSoundness, string, error) {
	after, limit, err := namePage(p)
	if err != nil {
		return nil, "", err
	}
	tasks, more, err := collectPage(ctx, s, scanSoundness, limit, `SELECT ta.id, ta.instance_id, ta.held_out, coalesce(ta.excluded, ''), coalesce(va.state, 'unvalidated'),
			va.id, va.times, va.verify_seconds, va.reason, va.problem, va.flaky, va.runs, va.runs_of, va.created_at
		FROM tasks ta`+newestValidation+" WHERE "+atRevision("$1", "$2")+` AND ta.instance_id > $3 AND ($4 = '' OR coalesce(va.state, 'unvalidated') = $4)
			AND (NOT $5 OR ta.excluded IS NOT NULL) ORDER BY ta.instance_id LIMIT $6`, []any{taskset, f.Revision, after, string(f.State), f.Excluded, limit + 1})
	if err != nil {
		return nil, "", classify(err)
	}
	next := ""
	if more {
		next = nameCursor(tasks[len(tasks)-1].InstanceID)
	}
	return tasks, next, nil
}

func scanSoundness(row pgx.CollectableRow) (t relabel.TaskSoundness, err error) {
	var v relabel.Validation
	var id *relabel.ID
	var times, verifySeconds *int
	var reason, problem *string
	var at *time.Time
	err = row.Scan(&t.TaskID, &t.InstanceID, &t.HeldOut, &t.Excluded, &t.State, &id, &times, &verifySeconds, &reason, &problem, &v.Flaky, &v.Runs, &v.RunsOf, &at)
	if err != nil || id == nil {
		return t, err
	}
	v.ID, v.TaskID, v.InstanceID, v.State, v.CreatedAt = *id, t.TaskID, t.InstanceID, t.State, *at
	v.Times, v.VerifySeconds, v.Reason, v.Problem = *times, *verifySeconds, relabel.ProblemReason(*reason), *problem
	t.Validation, t.RunSeconds = &v, relabel.Spread(millisOf(v.Runs))
	return t, nil
}

func millisOf(runs []relabel.ValidationRun) []int64 {
	millis := make([]int64, len(runs))
	for i, r := range runs {
		millis[i] = r.Millis
	}
	return millis
}

// CountSoundness counts the tasks of a taskset at a revision, 0 for the newest; CodeNotFound if there is none.
func (s *Store) CountSoundness(ctx context.Context, taskset relabel.ID, revision int) (relabel.SoundnessCounts, error) {
	set, err := s.FindTasksetAt(ctx, taskset, revision)
	if err != nil {
		return relabel.SoundnessCounts{}, err
	}
	n := relabel.SoundnessCounts{TasksetID: set.ID, Revision: set.Revision, Tasks: set.Tasks, Excluded: set.Excluded, Reasons: map[relabel.ProblemReason]int{}}
	counts := map[relabel.Soundness]*int{relabel.TaskSound: &n.Sound, relabel.TaskFlaky: &n.Flaky, relabel.TaskBroken: &n.Broken,
		relabel.TaskInfra: &n.Infra, relabel.Unvalidated: &n.Unvalidated}
	var p50, p95 *float64
	var state relabel.Soundness
	var reason relabel.ProblemReason
	var count int
	b := &pgx.Batch{}
	queueEach(b, []any{&state, &reason, &count}, func() {
		*counts[state] += count
		if reason != "" {
			n.Reasons[reason] += count
		}
	}, "SELECT coalesce(va.state, 'unvalidated'), coalesce(va.reason, ''), count(*) FROM tasks ta"+newestValidation+" WHERE "+atRevision("$1", "$2")+" GROUP BY 1, 2", taskset, set.Revision)
	queueEach(b, []any{&p50, &p95}, func() {
		if p50 != nil {
			n.RunSeconds = &relabel.SecondsSpread{P50: *p50 / 1000, P95: *p95 / 1000}
		}
	}, `SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY r.millis), percentile_disc(0.95) WITHIN GROUP (ORDER BY r.millis)
		FROM tasks ta`+newestValidation+", LATERAL (SELECT (x->>'millis')::float8 AS millis FROM json_array_elements(va.runs) x) r WHERE "+atRevision("$1", "$2"), taskset, set.Revision)
	return n, classify(s.pool.SendBatch(ctx, b).Close())
}

// ListExcludedTasks lists the excluded tasks of a taskset at a revision, 0 for the newest, by instance id, at most limit.
func (s *Store) ListExcludedTasks(ctx context.Context, taskset relabel.ID, revision, limit int) ([]relabel.ExcludedTask, error) {
	return listAll[relabel.ExcludedTask](ctx, s, "SELECT ta.instance_id, ta.excluded AS reason FROM tasks ta WHERE "+atRevision("$1", "$2")+
		" AND ta.excluded IS NOT NULL ORDER BY ta.instance_id LIMIT $3", taskset, revision, limit)
}
