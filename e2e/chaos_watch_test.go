package e2e

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/parquet-go/parquet-go"

	"relabel"
	"relabel/mixer/schedule"
)

// watcher reads committed rows all the time and remembers them.
type watcher struct {
	cancel context.CancelFunc
	over   sync.WaitGroup
	looks  int
	places map[relabel.ID]drawn
	turns  map[seenTurn]time.Time
	labels map[labelPlace]seenLabel
}

// drawn is a trajectory with its place in the draw.
type drawn struct {
	id    relabel.ID
	place schedule.Place
}

// seenTurn is a committed turn, with its action and observations as one digest.
type seenTurn struct {
	trajectory drawn
	t          int
	digest     string
}

// labelPlace is a turn of a rollout whose label was seen.
type labelPlace struct {
	trajectory drawn
	t          int
}

// seenLabel is a stored label, with the time by which it was stored.
type seenLabel struct {
	digest string
	since  time.Time
}

// committedTurn is a turn in the database.
type committedTurn struct {
	TrajectoryID relabel.ID
	Number       int
	InstanceID   string
	Generation   int
	Outcome      string
	Current      bool
	T            int
	Digest       string
	Label        *string
}

const committedSelect = `SELECT tu.trajectory_id, it.number, ta.instance_id, tr.generation, coalesce(at.outcome, '') AS outcome, tr.trail = tu.attempt AS current, tu.t,
	md5(a.raw || coalesce((SELECT string_agg(o.content || decode(coalesce(o.exit_code, -1)::text, 'escape'), '|' ORDER BY o.k) FROM observations o
		WHERE (o.trajectory_id, o.attempt, o.t) = (tu.trajectory_id, tu.attempt, tu.t)), '')) AS digest, md5(l.raw) AS label
	FROM turns tu JOIN trajectories tr ON tr.id = tu.trajectory_id JOIN tasks ta ON ta.id = tr.task_id JOIN iterations it ON it.id = tr.iteration_id
	JOIN attempts at ON (at.trajectory_id, at.number) = (tu.trajectory_id, tu.attempt)
	JOIN actions a ON (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.executor_policy_id, tu.executor_sample)
	JOIN actions l ON (l.trajectory_id, l.attempt, l.t, l.policy_id, l.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.label_policy_id, tu.label_sample)
	WHERE tr.run_id = $1`

// watch begins to watch the run.
func watch(t *testing.T, c *chaos) *watcher {
	w := &watcher{turns: map[seenTurn]time.Time{}, labels: map[labelPlace]seenLabel{}, places: map[relabel.ID]drawn{}}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	t.Cleanup(w.stop)
	url := c.database
	w.over.Go(func() {
		for ctx.Err() == nil {
			conn, err := pgx.Connect(ctx, url)
			for err == nil { // until the line is lost
				if err = w.look(ctx, conn, c.run); err == nil {
					time.Sleep(100 * time.Millisecond)
				}
			}
			if conn != nil {
				_ = conn.Close(ctx)
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	return w
}

func (w *watcher) stop() { w.cancel(); w.over.Wait() }

// look reads what is committed now.
func (w *watcher) look(ctx context.Context, conn *pgx.Conn, run relabel.Run) error {
	rows, _ := conn.Query(ctx, committedSelect, run.ID)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[committedTurn])
	if err != nil {
		return err
	}
	now := time.Now()
	w.looks++
	for _, r := range all {
		d := drawn{r.TrajectoryID, schedule.Place{Seed: run.Seed, Iteration: r.Number, Instance: r.InstanceID, Generation: r.Generation}}
		w.places[d.id] = d
		turn := seenTurn{d, r.T, r.Digest}
		if _, known := w.turns[turn]; !known {
			w.turns[turn] = now
		}
		at := labelPlace{d, r.T}
		if _, known := w.labels[at]; !known && r.Label != nil {
			w.labels[at] = seenLabel{*r.Label, now}
		}
	}
	return nil
}

// check demands that whatever was ever seen is there, in the attempt that counts or in
// one that is kept because a replay of it came to another state.
func (w *watcher) check(t *testing.T, c *chaos) {
	t.Helper()
	rows, _ := c.connect(t).Query(bounded(t), committedSelect, c.run.ID)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[committedTurn])
	noError(t, err)
	there, labels := map[seenTurn]bool{}, map[labelPlace][]string{}
	diverged := map[drawn]bool{}
	for _, r := range all {
		d := w.places[r.TrajectoryID]
		there[seenTurn{d, r.T, r.Digest}] = true
		if r.Label != nil {
			labels[labelPlace{d, r.T}] = append(labels[labelPlace{d, r.T}], *r.Label)
		}
		if r.Outcome == "diverged" {
			diverged[d] = true
		}
	}
	for turn := range w.turns {
		if !there[turn] {
			t.Errorf("turn %d of %+v was committed and is not there any more", turn.t, turn.trajectory.place)
		}
	}
	for at, label := range w.labels {
		if !slices.Contains(labels[at], label.digest) {
			t.Errorf("the label of turn %d of %+v was stored and is not there any more", at.t, at.trajectory.place)
		}
	}
	if len(w.turns) == 0 {
		t.Error("no turn was ever seen")
	}
	t.Logf("%d looks: %d committed turns and %d labels seen, all of them there; %d replays diverged, of %d takeovers", w.looks, len(w.turns), len(w.labels),
		len(diverged), len(c.texts("SELECT 'x' FROM attempts a JOIN trajectories tr ON tr.id = a.trajectory_id WHERE a.number > 1 AND tr.run_id = $1", c.run.ID)))
	for _, why := range c.texts("SELECT reason FROM attempts WHERE outcome = 'diverged'") {
		t.Logf("diverged: %s", why)
	}
}

// exportedRow is a row of the messages view.
type exportedRow struct {
	RowID    string `parquet:"row_id"`
	Messages string `parquet:"messages_json"`
	Tools    string `parquet:"tools_json"`
	Label    string `parquet:"label_json"`
}

// idText is what differs between the data sets of two runs beside the time.
var idText = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// rows exports a run and returns its rows in the order of their places, named by them.
func (c *chaos) rows(run relabel.Run) map[string]exportedRow {
	c.t.Helper()
	var e relabel.Export
	noError(c.t, c.api.post(c.t.Context(), "/v1/exports", map[string]any{"run": run.ID, "aggregated": true}, &e))
	eventually(c.t, "the export ends", func() bool {
		noError(c.t, c.api.get(c.t.Context(), "/v1/exports/"+e.ID.String(), &e))
		return e.State == relabel.ExportDone || e.State == relabel.ExportFailed
	})
	if e.State != relabel.ExportDone {
		c.t.Fatalf("the export failed: %s", e.Failure)
	}
	places := map[string]string{}
	for _, line := range c.texts(`SELECT tr.id || ' ' || it.number || ' ' || ta.instance_id || ' ' || tr.generation FROM trajectories tr
		JOIN iterations it ON it.id = tr.iteration_id JOIN tasks ta ON ta.id = tr.task_id WHERE tr.run_id = $1`, run.ID) {
		id, place, _ := strings.Cut(line, " ")
		places[id] = place
	}
	out := map[string]exportedRow{}
	files, err := filepath.Glob(filepath.Join(e.Directory, "messages", "*.parquet"))
	noError(c.t, err)
	for _, file := range files {
		info, err := os.Stat(file)
		noError(c.t, err)
		rows, err := parquet.ReadFile[exportedRow](file)
		if err != nil {
			c.t.Fatalf("%s of %d bytes: %v", file, info.Size(), err)
		}
		for _, r := range rows {
			id, turn, _ := strings.Cut(r.RowID, "/")
			name := places[id] + " turn " + turn
			if _, twice := out[name]; twice || places[id] == "" {
				c.t.Errorf("row %q (%s) is there twice, or of no trajectory", r.RowID, name)
			}
			r.RowID = name
			r.Messages = clock.ReplaceAllString(idText.ReplaceAllString(r.Messages, "id"), "once")
			r.Label = clock.ReplaceAllString(r.Label, "once")
			out[name] = r
		}
	}
	return out
}

// compare demands that the disturbed run and the other gave the same data set.
func (c *chaos) compare(undisturbed relabel.Run) {
	c.t.Helper()
	got, want := c.rows(c.run), c.rows(undisturbed)
	differ := 0
	for name, w := range want {
		g, ok := got[name]
		if !ok || g != w {
			if differ++; differ <= 3 {
				c.t.Errorf("%s is there: %v;\n%.600s\n%.600s\nwant\n%.600s\n%.600s", name, ok, pastCommon(g.Messages, w.Messages), g.Label, pastCommon(w.Messages, g.Messages), w.Label)
			}
		}
	}
	if differ > 0 || len(got) != len(want) || len(got) == 0 {
		c.t.Errorf("%d of %d rows differ; the disturbed run has %d", differ, len(want), len(got))
	}
	ends := `SELECT it.number || ' ' || ta.instance_id || ' ' || tr.generation || ' ' || tr.turns || ' ' || concat_ws(' ', tr.end_reason, tr.submitted, tr.resolved, md5(p.patch))
		FROM trajectories tr LEFT JOIN patches p ON p.trajectory_id = tr.id JOIN iterations it ON it.id = tr.iteration_id JOIN tasks ta ON ta.id = tr.task_id WHERE tr.run_id = $1 ORDER BY 1`
	one, two := c.texts(ends, c.run.ID), c.texts(ends, undisturbed.ID)
	if !slices.Equal(one, two) {
		for i := range min(len(one), len(two)) {
			if one[i] != two[i] {
				c.t.Errorf("%s, undisturbed %s", one[i], two[i])
			}
		}
	}
	c.t.Log(strconv.Itoa(len(got)) + " rows of " + strconv.Itoa(len(one)) + " trajectories are the same in both data sets")
}
