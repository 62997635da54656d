package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// Prompts of one policy in one attempt are mostly one growing text. An action's prompt ids are
// therefore stored as the length of the prefix that they share with another action's prompt and
// sampled ids, its base, and the rest: a trajectory stores O(T) ids instead of O(T²). The base
// existed when the row was written, whatever its turn, since labels settle in any order. So no
// chain of bases is a circle.

// place identifies an action of one policy in an attempt.
type place struct{ t, sample int }

func (p place) before(q place) bool { return p.t < q.t || p.t == q.t && p.sample < q.sample }

// promptRow is an action's prompt as it is stored.
type promptRow struct {
	base    *place  // nil if rest is all of it
	shared  int     // ids that are the base's, 0 without one
	rest    []int32 // nil if the server gave no prompt ids
	sampled []int32 // the action's own ids, which a later prompt may go on with
}

// values are the columns prompt_base_t, prompt_base_sample, prompt_shared, prompt_rest.
func (r promptRow) values() []any {
	if r.base == nil {
		return []any{nil, nil, nil, r.rest}
	}
	return []any{r.base.t, r.base.sample, r.shared, r.rest}
}

// prompts are the prompts of one policy in one attempt.
type prompts map[place]promptRow

// readPrompts reads a policy's prompts of an attempt, at about the cost of the longest one.
func readPrompts(ctx context.Context, q querier, trajectory relabel.ID, attempt int, policy relabel.ID) (prompts, error) {
	rows, _ := q.Query(ctx, `SELECT t, sample, prompt_base_t, prompt_base_sample, coalesce(prompt_shared, 0), prompt_rest, token_ids
		FROM actions WHERE trajectory_id = $1 AND attempt = $2 AND policy_id = $3 AND prompt_rest IS NOT NULL`, trajectory, attempt, policy)
	all := prompts{}
	_, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (none struct{}, err error) {
		var at place
		var baseT, baseSample *int
		var r promptRow
		if err := row.Scan(&at.t, &at.sample, &baseT, &baseSample, &r.shared, &r.rest, &r.sampled); err != nil {
			return none, err
		}
		if baseT != nil {
			r.base = &place{*baseT, *baseSample}
		}
		all[at] = r
		return none, nil
	})
	return all, err
}

// rebuild returns the prompt ids of the action at a place, nil if it has none.
func (p prompts) rebuild(at place) []int32 {
	row, there := p[at]
	if !there {
		return nil
	}
	ids := make([]int32, row.shared+len(row.rest))
	copy(ids[row.shared:], row.rest)
	for n := row.shared; n > 0; n = min(n, row.shared) { // the first n ids are still to come
		row = p[*row.base]
		own := ids[min(n, row.shared):n]
		copy(own[copy(own, row.rest):], row.sampled)
	}
	return ids
}

// fit returns how ids are stored at a place: relative to the neighbour with the longer shared
// prefix.
func (p prompts) fit(at place, ids []int32) promptRow {
	row := promptRow{rest: ids}
	for _, base := range p.neighbours(at) {
		if n := shared(ids, append(p.rebuild(base), p[base].sampled...)); n > row.shared {
			row = promptRow{base: &base, shared: n, rest: ids[n:]}
		}
	}
	return row
}

// neighbours are the nearest places before and after, if any.
func (p prompts) neighbours(at place) []place {
	var before, after *place
	for q := range p {
		if q.before(at) && (before == nil || before.before(q)) {
			before = &q
		}
		if at.before(q) && (after == nil || q.before(*after)) {
			after = &q
		}
	}
	var found []place
	for _, q := range []*place{before, after} {
		if q != nil {
			found = append(found, *q)
		}
	}
	return found
}

// shared is the length of the common prefix.
func shared(a, b []int32) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// fitPrompt returns how an action's prompt is stored. The caller holds the trajectory's lock,
// so that no better base appears meanwhile.
func fitPrompt(ctx context.Context, tx pgx.Tx, f relabel.Fence, at place, a relabel.Action) (promptRow, error) {
	if a.PromptTokenIDs == nil {
		return promptRow{}, nil
	}
	others, err := readPrompts(ctx, tx, f.TrajectoryID, f.Attempt, a.PolicyID)
	return others.fit(at, a.PromptTokenIDs), err
}
