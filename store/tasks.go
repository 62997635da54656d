package store

import (
	"cmp"
	"context"
	"iter"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// tasksetSelect is tasksets ts at their newest revision.
const tasksetSelect = tasksetColumns + " AND tv.revision = ts.revision"

const tasksetColumns = `SELECT ts.id, ts.name, ts.digest, ts.kind, tv.revision, tv.tasks, tv.held_out, tv.excluded, ts.created_at
	FROM tasksets ts JOIN taskset_revisions tv ON tv.taskset_id = ts.id`

const taskColumns = `ta.id, ta.taskset_id, ta.kind, ta.instance_id, ta.repo, ta.base_commit, ta.image, ta.workdir,
	ta.problem_statement AS problem, ta.hints_text AS hints, ta.patch AS gold, ta.test_patch AS tests,
	ta.test_cmd, ta.eval_script AS script, ta.log_parser, ta.fail_to_pass, ta.pass_to_pass,
	ta.gold_files, ta.gold_functions, ta.terminal, ta.held_out, ta.expected, ta.start_patch AS start, ta.hidden, ta.licence, ta.added_in, ta.replaced_in,
	coalesce(ta.excluded, '') AS excluded`

const taskSelect = "SELECT " + taskColumns + " FROM tasks ta"

// taskOfTrajectory is the task of trajectory $1 with the functions that its run gives as hints.
const taskOfTrajectory = "SELECT " + taskColumns + `, th.functions AS located FROM trajectories tr JOIN tasks ta ON ta.id = tr.task_id
	LEFT JOIN task_hints th ON th.run_id = tr.run_id AND th.task_id = tr.task_id WHERE tr.id = $1`

// taskRow reads long texts as bytes.
type taskRow struct {
	relabel.Task
	Problem, Hints, Gold, Tests, Script, Start []byte
}

func scanTask(row pgx.CollectableRow) (relabel.Task, error) {
	r, err := pgx.RowToStructByNameLax[taskRow](row)
	r.ProblemStatement, r.HintsText = string(r.Problem), string(r.Hints)
	r.Patch, r.TestPatch, r.EvalScript = string(r.Gold), string(r.Tests), string(r.Script)
	r.StartPatch = string(r.Start)
	return r.Task, err
}

func readTask(ctx context.Context, q querier, query string, args ...any) (relabel.Task, error) {
	rows, _ := q.Query(ctx, query, args...)
	return pgx.CollectExactlyOneRow(rows, scanTask)
}

// CreateTaskset stores a taskset with its tasks, or nothing. It sets zero ids and empty kinds (repair), and
// counts from the tasks. CodeConflict if the name is taken.
func (s *Store) CreateTaskset(ctx context.Context, set relabel.Taskset, tasks iter.Seq2[relabel.Task, error]) error {
	set.ID = ensureID(set.ID)
	return s.retryTx(ctx, unlessCreated("tasksets", set.ID), func(tx pgx.Tx, _ bool) error {
		return createTaskset(ctx, tx, set, tasks)
	})
}

func createTaskset(ctx context.Context, tx pgx.Tx, set relabel.Taskset, tasks iter.Seq2[relabel.Task, error]) error {
	_, err := tx.Exec(ctx, "INSERT INTO tasksets (id, name, digest, kind) VALUES ($1, $2, $3, $4)", set.ID, set.Name, set.Digest, cmp.Or(set.Kind, relabel.Repair))
	if err != nil {
		return taken(err, "tasksets_name", "taskset", set.Name, "use that one, add to it (--append), or import this file under another name")
	}
	if err := copyTasks(ctx, tx, "tasks", set.ID, 1, tasks); err != nil {
		return err
	}
	return recordRevision(ctx, tx, set.ID, 1, relabel.TasksImported, set.Digest)
}

// emptyAsNull returns a text for a column that is null instead of empty.
func emptyAsNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// ensureID returns id, or a new one if it is zero.
func ensureID(id relabel.ID) relabel.ID {
	if id == (relabel.ID{}) {
		return relabel.NewID()
	}
	return id
}

// FindTaskset returns a taskset; CodeNotFound if there is none.
func (s *Store) FindTaskset(ctx context.Context, id relabel.ID) (relabel.Taskset, error) {
	return find[relabel.Taskset](ctx, s, "taskset", id, tasksetSelect+" WHERE ts.id = $1", id)
}

// ListTasksets lists tasksets, newest first. CodeInvalid for an invalid page.
func (s *Store) ListTasksets(ctx context.Context, p relabel.Page) ([]relabel.Taskset, string, error) {
	l := list[relabel.Taskset]{query: tasksetSelect, key: "ts",
		keyOf: func(t relabel.Taskset) cursor { return cursor{t.CreatedAt, t.ID} }}
	return l.page(ctx, s, p)
}

// FindTask returns a task; CodeNotFound if there is none.
func (s *Store) FindTask(ctx context.Context, id relabel.ID) (relabel.Task, error) {
	task, err := readTask(ctx, s.pool, taskSelect+" WHERE ta.id = $1", id)
	return task, notFound("task", id, err)
}

// FindTaskOf returns the task of a trajectory with the functions that its run gives as hints; CodeNotFound if
// there is no such trajectory.
func (s *Store) FindTaskOf(ctx context.Context, trajectory relabel.ID) (relabel.Task, error) {
	task, err := readTask(ctx, s.pool, taskOfTrajectory, trajectory)
	return task, notFound("trajectory", trajectory, err)
}

// ListTasks lists a taskset's tasks at a revision, 0 for the newest, in the byte order of their instance ids,
// none if there is no such taskset. CodeInvalid for an invalid page.
func (s *Store) ListTasks(ctx context.Context, taskset relabel.ID, revision int, p relabel.Page) ([]relabel.Task, string, error) {
	after, limit, err := namePage(p)
	if err != nil {
		return nil, "", err
	}
	tasks, more, err := collectPage(ctx, s, scanTask, limit, taskSelect+" WHERE "+atRevision("$1", "$2")+" AND ta.instance_id > $3 ORDER BY ta.instance_id LIMIT $4",
		[]any{taskset, revision, after, limit + 1})
	if err != nil {
		return nil, "", classify(err)
	}
	next := ""
	if more {
		next = nameCursor(tasks[len(tasks)-1].InstanceID)
	}
	return tasks, next, nil
}

// ListTaskNames lists all tasks of a taskset at a revision, 0 for the newest, with only their ids, instance
// ids, held-out marks and why they are excluded, in the byte order of instance ids; none if there is no
// such taskset.
func (s *Store) ListTaskNames(ctx context.Context, taskset relabel.ID, revision int) ([]relabel.Task, error) {
	rows, _ := s.pool.Query(ctx, "SELECT ta.id, ta.instance_id, ta.held_out, coalesce(ta.excluded, '') FROM tasks ta WHERE "+
		atRevision("$1", "$2")+" ORDER BY ta.instance_id", taskset, revision)
	var all []relabel.Task
	task := relabel.Task{TasksetID: taskset}
	_, err := pgx.ForEachRow(rows, []any{&task.ID, &task.InstanceID, &task.HeldOut, &task.Excluded}, func() error {
		all = append(all, task)
		return nil
	})
	return all, classify(err)
}

// FindTasksetByName returns the taskset of this name; CodeNotFound if there is none.
func (s *Store) FindTasksetByName(ctx context.Context, name string) (relabel.Taskset, error) {
	return find[relabel.Taskset](ctx, s, "taskset", name, tasksetSelect+" WHERE ts.name = $1", validUTF8(name))
}

// FindTaskByInstance returns a taskset's task at its newest revision; CodeNotFound if there is none.
func (s *Store) FindTaskByInstance(ctx context.Context, taskset relabel.ID, instance string) (relabel.Task, error) {
	task, err := readTask(ctx, s.pool, taskSelect+" WHERE ta.taskset_id = $1 AND ta.instance_id = $2 AND ta.replaced_in IS NULL", taskset, validUTF8(instance))
	return task, notFound("task", instance, err)
}

// taskHeads are the tasks of taskset $1 that match the filter, with the counts of their
// trajectories. The start of the problem is cut by bytes and repaired when it is read.
var taskHeads = `SELECT ta.id, ta.instance_id, ta.repo, ta.held_out, ta.excluded, ta.begins, c.* FROM (
		SELECT id, instance_id, repo, held_out, coalesce(excluded, '') AS excluded, substring(problem_statement FROM 1 FOR 1200) AS begins FROM tasks ta
		WHERE ` + atRevision("$1", "$6") + ` AND (position(lower($2) IN lower(instance_id)) > 0 OR position(lower($2) IN lower(repo)) > 0) AND ($3::boolean IS NULL OR held_out = $3)
			AND instance_id > $4 ORDER BY instance_id LIMIT $5) ta
	LEFT JOIN LATERAL (SELECT ` + cellCounts + ` FROM trajectories tr WHERE tr.task_id = ta.id) c ON true ORDER BY ta.instance_id`

// ListTaskHeads lists a taskset's tasks in the byte order of their instance ids, none if there
// is no such taskset. CodeInvalid for an invalid page.
func (s *Store) ListTaskHeads(ctx context.Context, taskset relabel.ID, f relabel.TaskFilter, p relabel.Page) ([]relabel.TaskHead, string, error) {
	after, limit, err := namePage(p)
	if err != nil {
		return nil, "", err
	}
	rows, _ := s.pool.Query(ctx, taskHeads, taskset, validUTF8(f.Part), f.HeldOut, after, limit+1, f.Revision)
	heads, err := pgx.CollectRows(rows, scanTaskHead)
	if err != nil {
		return nil, "", classify(err)
	}
	next := ""
	if len(heads) > limit {
		heads = heads[:limit]
		next = nameCursor(heads[limit-1].InstanceID)
	}
	return heads, next, nil
}

func scanTaskHead(row pgx.CollectableRow) (h relabel.TaskHead, err error) {
	var begins []byte
	err = row.Scan(append([]any{&h.ID, &h.InstanceID, &h.Repo, &h.HeldOut, &h.Excluded, &begins}, cellFields(&h.Outcomes)...)...)
	text := []rune(validUTF8(string(begins)))
	h.Begins = string(text[:min(len(text), 300)])
	return h, err
}
