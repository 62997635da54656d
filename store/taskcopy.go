package store

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// contentFields are the columns of tasks that are equal if their content is, taskFields all that copyTasks stores.
var (
	contentFields = strings.Fields(`kind repo base_commit image workdir problem_statement hints_text patch test_patch test_cmd eval_script log_parser
		fail_to_pass pass_to_pass gold_files gold_functions expected start_patch hidden licence terminal`)
	taskFields = append(slices.Clone(contentFields), "id", "taskset_id", "instance_id", "held_out", "added_in", "excluded")
)

// taskContent is the content of tasks of an alias, to be compared. Columns of json have no equality.
func taskContent(alias string) string {
	var columns []string
	for _, field := range contentFields {
		column := alias + "." + field
		if slices.Contains([]string{"fail_to_pass", "pass_to_pass", "gold_files", "gold_functions", "expected", "hidden", "terminal"}, field) {
			column += "::text"
		}
		columns = append(columns, column)
	}
	return "(" + strings.Join(columns, ", ") + ")"
}

// copyTasks stores tasks that a revision of a taskset adds in a table, one at a time. It sets zero ids and empty kinds.
// An error of tasks ends it and is returned.
func copyTasks(ctx context.Context, tx pgx.Tx, table string, set relabel.ID, revision int, tasks iter.Seq2[relabel.Task, error]) error {
	for t, err := range tasks { // a taskset has tasks of one kind
		if err != nil {
			return err
		}
		if t.Terminal == nil {
			break
		}
		if err := insertArchives(ctx, tx, t); err != nil {
			return err
		}
	}
	next, stop := iter.Pull2(tasks)
	defer stop()
	var failed error
	_, err := tx.CopyFrom(ctx, pgx.Identifier{table}, taskFields, pgx.CopyFromFunc(func() ([]any, error) {
		t, err, more := next()
		if !more || err != nil {
			failed = err
			return nil, err
		}
		return []any{cmp.Or(t.Kind, relabel.Repair), t.Repo, t.BaseCommit, t.Image, t.Workdir, []byte(t.ProblemStatement), []byte(t.HintsText), []byte(t.Patch),
			[]byte(t.TestPatch), t.TestCmd, []byte(t.EvalScript), t.LogParser, texts(t.FailToPass), texts(t.PassToPass), noneAsNull(t.GoldFiles),
			noneAsNull(t.GoldFunctions), emptyMapAsNull(t.Expected), []byte(t.StartPatch), noneAsNull(t.Hidden), t.Licence, t.Terminal, ensureID(t.ID), set, t.InstanceID,
			t.HeldOut, revision, emptyAsNull(t.Excluded)}, nil
	}))
	if failed != nil {
		return failed
	}
	return err
}

// emptyMapAsNull returns a value for a column that is null instead of an empty object.
func emptyMapAsNull(m map[string]relabel.TestStatus) any {
	if len(m) == 0 {
		return nil
	}
	return m
}

// AppendTasks adds tasks to a taskset as its next revision, or nothing if tasks yields an error, which it returns. It
// counts tasks that the set has already with equal content as unchanged; if all are, there is no new revision.
// CodeConflict for a task of the same instance id with other content, with the content that a revision changed, or that is
// to be held out and was not.
// CodeNotFound if there is no such taskset.
func (s *Store) AppendTasks(ctx context.Context, taskset relabel.ID, digest string, tasks iter.Seq2[relabel.Task, error]) (added, unchanged int, err error) {
	// After an unclear commit, a retry finds its own tasks unchanged.
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, mayExist bool) error {
		before := added
		added, unchanged, err = appendTasks(ctx, tx, taskset, digest, tasks)
		if mayExist && added == 0 {
			added, unchanged = before, unchanged-before
		}
		return err
	})
	if errors.Is(err, errNothingAdded) {
		err = nil
	}
	return added, unchanged, err
}

// errNothingAdded undoes a revision that adds no task.
var errNothingAdded = errors.New("no task is new")

func appendTasks(ctx context.Context, tx pgx.Tx, taskset relabel.ID, digest string, tasks iter.Seq2[relabel.Task, error]) (added, unchanged int, err error) {
	revision, err := beginRevision(ctx, tx, taskset)
	if err != nil {
		return 0, 0, err
	}
	if _, err := tx.Exec(ctx, "CREATE TEMPORARY TABLE arriving (LIKE tasks INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING COMPRESSION) ON COMMIT DROP"); err != nil {
		return 0, 0, err
	}
	if err := copyTasks(ctx, tx, "arriving", taskset, revision, tasks); err != nil {
		return 0, 0, err
	}
	if err := refuseChanged(ctx, tx, taskset); err != nil {
		return 0, 0, err
	}
	columns := strings.Join(taskFields, ", ")
	tag, err := tx.Exec(ctx, "INSERT INTO tasks ("+columns+") SELECT "+columns+` FROM arriving a
		WHERE NOT EXISTS (SELECT FROM tasks ta WHERE ta.taskset_id = $1 AND ta.instance_id = a.instance_id AND ta.replaced_in IS NULL)`, taskset)
	if err != nil {
		return 0, 0, err
	}
	added = int(tag.RowsAffected())
	total, err := readValue[int](ctx, tx, "SELECT count(*) FROM arriving")
	if err == nil && added > 0 {
		err = recordRevision(ctx, tx, taskset, revision, relabel.TasksAppended, digest)
	}
	if err == nil && added == 0 {
		return 0, total, errNothingAdded
	}
	return added, total - added, err
}

// appendRefusals are why arriving tasks are refused, in the order in which they are reported.
var appendRefusals = []struct{ field, message string }{
	{"instance_id", "the task set has these tasks with other content: %s. Import them under another name"},
	{"instance_id", "a revision of the task set changed these tasks, whose earlier content this is: %s. Leave them out, or import them under another name"},
	{"held_out", "the task set has these tasks, and they are not held out: %s. Only new tasks can be: hold out others, or import them under another name"},
}

// refuseChanged refuses arriving tasks that would change tasks of the taskset.
func refuseChanged(ctx context.Context, tx pgx.Tx, taskset relabel.ID) error {
	rows, _ := tx.Query(ctx, `SELECT CASE WHEN `+taskContent("ta")+" IS NOT DISTINCT FROM "+taskContent("a")+` THEN 2
			WHEN EXISTS (SELECT FROM tasks te WHERE te.taskset_id = $1 AND te.instance_id = a.instance_id AND te.replaced_in IS NOT NULL
				AND `+taskContent("te")+" IS NOT DISTINCT FROM "+taskContent("a")+`) THEN 1
			ELSE 0 END AS why, a.instance_id
		FROM arriving a JOIN tasks ta ON ta.instance_id = a.instance_id
		WHERE ta.taskset_id = $1 AND ta.replaced_in IS NULL AND (`+taskContent("ta")+" IS DISTINCT FROM "+taskContent("a")+` OR a.held_out AND NOT ta.held_out)
		ORDER BY 1, 2 LIMIT 21`, taskset)
	var why int
	var id string
	refused := map[int][]string{}
	_, err := pgx.ForEachRow(rows, []any{&why, &id}, func() error {
		refused[why] = append(refused[why], id)
		return nil
	})
	if err != nil {
		return err
	}
	for why, refusal := range appendRefusals {
		changed := refused[why]
		if len(changed) == 0 {
			continue
		}
		named := strings.Join(changed[:min(len(changed), 20)], ", ")
		if len(changed) > 20 {
			named += " and more"
		}
		return relabel.Errorf(relabel.CodeConflict, refusal.message, named).On(refusal.field)
	}
	return nil
}
