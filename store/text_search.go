package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"relabel"
	"relabel/chat"
)

const (
	searchesAtOnce = 3                // of one process: each keeps a processor and a connection busy
	searchTime     = 3 * time.Second  // then the page ends
	searchBytes    = int64(256 << 20) // if it is not said
	firstMatches   = 3                // of a trajectory, that are shown
	searchedPage   = 100              // trajectories that are listed in one go
	searchedTurns  = 500              // turns whose texts are asked for in one go, or those of one trajectory
)

// SearchTexts finds a text in trajectories: in actions, labels, answers of other teachers and
// observations of the current turns, failures, submissions, test output and problem statements.
// It reads the trajectories that match the filter in the order of the list, until one exceeds a
// bound. CodeBusy if too many searches run.
//
// It reads texts in the order of display, one at a time in memory. The database does not filter
// them: lower-casing alone would take as long as the whole search, and twice as long for long
// texts.
func (s *Store) SearchTexts(ctx context.Context, f relabel.TrajectoryFilter, sort relabel.TrajectorySort, ask relabel.TextSearch) (relabel.TextPage, error) {
	var page relabel.TextPage
	if ask.Text == "" || len(ask.Text) > relabel.MostSearchedFor {
		return page, relabel.Errorf(relabel.CodeInvalid, "the search text must have 1 to %d bytes", relabel.MostSearchedFor).On("text")
	}
	if sort == "" {
		sort = relabel.Newest
	}
	limit, err := limitOf(relabel.Page{Limit: ask.Limit})
	if err != nil {
		return page, err
	}
	w, err := newPager(sort, relabel.Page{After: ask.After, Limit: searchedPage})
	if err != nil {
		return page, err
	}
	select {
	case s.searches <- struct{}{}:
		defer func() { <-s.searches }()
	default:
		return page, relabel.Errorf(relabel.CodeBusy, "%d searches are already running; retry in a few seconds", searchesAtOnce)
	}
	h := &textSearch{store: s, pages: w, page: &page, limit: limit, bytes: ask.Bytes, until: time.Now().Add(searchTime),
		finder: chat.NewFinder(ask.Text, firstMatches, 1)}
	if h.bytes == 0 {
		h.bytes = searchBytes
	}
	err = h.run(ctx, f)
	return page, classify(err)
}

type textSearch struct {
	store  *Store
	pages  *pager
	page   *relabel.TextPage
	finder *chat.Finder
	limit  int
	bytes  int64
	until  time.Time
	t      int // the turn at hand
}

func (h *textSearch) over() bool {
	return len(h.page.Items) >= h.limit || h.page.Bytes >= h.bytes || time.Now().After(h.until)
}

func (h *textSearch) run(ctx context.Context, f relabel.TrajectoryFilter) error {
	err := h.store.read(ctx, func(tx pgx.Tx) (err error) {
		if h.pages.filter, err = seek(ctx, tx, f); err != nil {
			return err
		}
		var counted relabel.TrajectoryPage
		if err := countTrajectories(ctx, tx, h.pages.filter, &counted); err != nil {
			return err
		}
		h.page.Total, h.page.Exact, h.page.Of = counted.Total, counted.Exact, counted.Of
		return h.pages.read(ctx, tx)
	})
	for err == nil {
		list := h.pages.page()
		looked, err := h.through(ctx, list.Items)
		if err != nil {
			return err
		}
		if looked < len(list.Items) {
			h.page.Next = h.pages.cursorOf(looked - 1)
			return nil
		}
		if h.page.Next = list.Next; list.Next == "" || h.over() {
			return nil
		}
		if err := h.pages.next(ctx, h.store); err != nil {
			return err
		}
	}
	return err
}

// through searches listed trajectories in groups until a bound is reached, and returns how many
// it searched: at least one, if there are any.
func (h *textSearch) through(ctx context.Context, list []relabel.Trajectory) (looked int, err error) {
	for looked < len(list) {
		to, turns := looked, 0
		for to < len(list) && (to == looked || turns+list[to].Turns <= searchedTurns) {
			turns += list[to].Turns
			to++
		}
		n, err := h.group(ctx, list[looked:to])
		if looked += n; err != nil || h.over() {
			return looked, err
		}
	}
	return looked, nil
}

// parts of a trajectory, in the order in which they are read.
const (
	partAction = iota
	partLabel
	partReason // why the label is missing
	partOther
	partObservation
	partTask
	partFailure
	partPatch
	partOutput
)

// textsSelect reads the texts of trajectories in order: first those of turns, then the others,
// with a null t. Lists of trajectories are short.
const textsSelect = `SELECT o.place, coalesce(x.t, 0), x.part, coalesce(x.executor, ''), x.text
	FROM unnest($1::uuid[]) WITH ORDINALITY AS o(id, place) JOIN trajectories tr ON tr.id = o.id CROSS JOIN LATERAL (
		SELECT a.t, CASE WHEN a.sample = $2 THEN 3 WHEN (a.policy_id, a.sample) = (tu.executor_policy_id, tu.executor_sample) THEN 0 WHEN a.raw IS NULL THEN 2 ELSE 1 END AS part,
				tu.executor, CASE WHEN a.sample = $2 THEN a.raw ELSE coalesce(a.raw, convert_to(a.reason, 'UTF8')) END AS text, a.policy_id, 0 AS k
			FROM actions a JOIN LATERAL (SELECT * FROM turns WHERE (trajectory_id, attempt, t) = (a.trajectory_id, a.attempt, a.t) LIMIT 1) tu ON true
			WHERE a.trajectory_id = tr.id AND a.attempt = tr.trail
		UNION ALL SELECT ob.t, 4, NULL, ob.content, NULL, ob.k FROM observations ob WHERE ob.trajectory_id = tr.id AND ob.attempt = tr.trail
		UNION ALL SELECT NULL, 5, NULL, ta.problem_statement, NULL, 0 FROM tasks ta WHERE ta.id = tr.task_id
		UNION ALL SELECT NULL, 6, NULL, convert_to(tr.failure_detail, 'UTF8'), NULL, 0
		UNION ALL SELECT NULL, 7, NULL, p.patch, NULL, 0 FROM patches p WHERE p.trajectory_id = tr.id
		UNION ALL SELECT NULL, 8, NULL, v.output, NULL, 0 FROM (SELECT output FROM verdicts WHERE trajectory_id = tr.id ORDER BY infra = '' DESC, number DESC LIMIT 1) v
	) x ORDER BY o.place, x.t, x.part, x.policy_id, x.k`

func (h *textSearch) group(ctx context.Context, list []relabel.Trajectory) (looked int, err error) {
	ids := make([]relabel.ID, len(list))
	for i, tr := range list {
		ids[i] = tr.ID
	}
	rows, _ := h.store.pool.Query(ctx, textsSelect, ids, relabelSample)
	var place, t, part int
	var executor relabel.Role
	var text pgtype.DriverBytes
	over := false
	end := func() {
		h.end(list[looked])
		looked++
		over = h.over()
	}
	_, err = pgx.ForEachRow(rows, []any{&place, &t, &part, &executor, &text}, func() error {
		for !over && looked < place-1 {
			end()
		}
		if !over { // else no one needs the rest of the rows
			h.look(t, part, executor, text)
		}
		return nil
	})
	for err == nil && !over && looked < len(list) {
		end()
	}
	return looked, err
}

// textPlaces name the parts that are texts.
var textPlaces = map[int]struct{ part, place string }{
	partReason: {"label", "label, why it is missing"}, partObservation: {"observation", "observation"},
	partTask: {"", "the task"}, partFailure: {"", "failure"}, partPatch: {"", "patch"}, partOutput: {"", "test output"},
}

func (h *textSearch) look(t, part int, executor relabel.Role, text []byte) {
	h.page.Bytes += int64(len(text))
	if t == 0 || t != h.t {
		h.t = t
		h.finder.Begin(t, executor)
	}
	if of, is := textPlaces[part]; is {
		h.finder.InBytes(of.part, of.place, text)
	} else if len(text) > 0 && h.finder.MayBeIn(text) {
		h.finder.Action(actionParts[part], decoded(relabel.Action{Raw: text}))
	}
}

// actionParts name the parts that are messages.
var actionParts = map[int]string{partAction: "action", partLabel: "label", partOther: "other"}

// end stores the matches of a completely searched trajectory.
func (h *textSearch) end(tr relabel.Trajectory) {
	h.page.Searched++
	if h.finder.Matches > 0 {
		h.page.Items = append(h.page.Items, relabel.TextFound{Trajectory: tr, Matches: h.finder.Matches, Places: h.finder.Places, First: h.finder.Kept})
	}
	h.finder.Forget()
	h.t = 0
}
