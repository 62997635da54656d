package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/overlap"
)

const (
	maxOverlaps = 10_000  // listed in a report
	maxFound    = 500_000 // in memory
	// comparingWait bounds how long a comparison waits for another one: each holds patches in memory.
	comparingWait = time.Minute
)

// FindOverlaps compares the tasks of a task set; see relabel.ExclusionStore.
func (s *Store) FindOverlaps(ctx context.Context, q relabel.OverlapQuery) (relabel.OverlapReport, error) {
	report := relabel.OverlapReport{Threshold: q.Threshold, With: []string{}, Overlaps: []relabel.Overlap{}, Affected: map[relabel.OverlapKind]int{}}
	select {
	case s.comparing <- struct{}{}:
		defer func() { <-s.comparing }()
	case <-ctx.Done():
		return report, ctx.Err()
	case <-time.After(comparingWait):
		return report, relabel.Errorf(relabel.CodeBusy, "other tasks are being compared; try again later")
	}
	c := &comparison{query: q, found: map[[3]string]relabel.Overlap{}}
	err := s.read(ctx, func(tx pgx.Tx) (err error) {
		c.tx = tx
		report.Tasks, err = readValue[int](ctx, tx, "SELECT count(*) FROM tasks ta WHERE "+atRevision("$1", "$2"), q.TasksetID, q.Revision)
		if err != nil {
			return err
		}
		report.With, err = c.all(ctx, report.Tasks)
		return err
	})
	if err != nil {
		return report, err
	}
	affected := map[relabel.OverlapKind]map[string]bool{}
	for _, o := range c.found {
		if affected[o.Kind] == nil {
			affected[o.Kind] = map[string]bool{}
		}
		affected[o.Kind][o.InstanceID] = true
		report.Overlaps = append(report.Overlaps, o)
	}
	for kind, tasks := range affected {
		report.Affected[kind] = len(tasks)
	}
	slices.SortFunc(report.Overlaps, func(a, b relabel.Overlap) int {
		return cmp.Or(cmp.Compare(strength(a.Kind), strength(b.Kind)), cmp.Compare(b.Share, a.Share), cmp.Compare(a.InstanceID, b.InstanceID),
			cmp.Compare(a.With, b.With), cmp.Compare(a.Other, b.Other))
	})
	report.Total = len(report.Overlaps)
	report.Overlaps = report.Overlaps[:min(report.Total, maxOverlaps)]
	return report, nil
}

// strength orders kinds of overlaps, the strongest first.
func strength(kind relabel.OverlapKind) int {
	return slices.Index([]relabel.OverlapKind{relabel.SameInstance, relabel.SameCommit, relabel.SameRepository, relabel.SimilarPatch}, kind)
}

// comparison collects the overlaps of a query, one for each task and each other task or entry.
type comparison struct {
	query relabel.OverlapQuery
	tx    pgx.Tx
	found map[[3]string]relabel.Overlap // by instance, name and the other's
}

// all compares with all that the query names, and returns the names. tasks is the size of the task set.
func (c *comparison) all(ctx context.Context, tasks int) (names []string, err error) {
	for _, set := range c.query.Tasksets {
		names = append(names, set.Name)
		own := set.ID == c.query.TasksetID
		others := others{name: set.Name, own: own, size: set.Tasks, from: "tasks has", where: "has.taskset_id = $3 AND has.replaced_in IS NULL", id: set.ID}
		if err := c.withTasks(ctx, others, tasks); err != nil {
			return nil, err
		}
	}
	for _, b := range c.query.Benchmarks {
		names = append(names, b.Name)
		others := others{name: b.Name, size: b.Tasks, from: "benchmark_tasks bt JOIN tasks has ON has.id = bt.task_id", where: "bt.benchmark_id = $3", id: b.ID}
		if err := c.withTasks(ctx, others, tasks); err != nil {
			return nil, err
		}
	}
	for _, e := range c.query.Exclusions {
		names = append(names, e.Name)
		if err := c.withEntries(ctx, e.Name, "SELECT entry, instance_key, repo_key FROM exclusion_entries WHERE exclusion_id = $3", e.ID); err != nil {
			return nil, err
		}
	}
	if len(c.query.Entries) > 0 {
		names = append(names, givenEntries)
		err = c.withEntries(ctx, givenEntries, keysOfEntries, c.query.Entries)
	}
	return names, err
}

// givenEntries is the name of entries that a query gives itself.
const givenEntries = "entries"

// keysOfEntries are entries with their keys, as columns of exclusion_entries compute them.
const keysOfEntries = `SELECT entry, lower(btrim(entry)) AS instance_key, regexp_replace(regexp_replace(lower(entry COLLATE "C"),
	'^\s*([a-z][a-z0-9+.-]*://[^/]*/|[^/:]*:|[^/:]*\.[^/:]*/+(?=[^/]+/+[^/]))?/*', ''), '(\.git|/|\s)+$', '') AS repo_key FROM unnest($3::text[]) entry`

// others are the tasks that a task set is compared with.
type others struct {
	name        string
	own         bool // they are the task set itself
	size        int
	from, where string // tasks has, with id as $3
	id          relabel.ID
}

// withTasks compares by instance ids and commits, and by patches. The tasks of one set have different instance ids, and
// may have one commit by design: they are compared by patches only.
func (c *comparison) withTasks(ctx context.Context, o others, tasks int) error {
	if !o.own {
		for kind, same := range map[relabel.OverlapKind]string{relabel.SameInstance: sameInstance, relabel.SameCommit: sameCommit} {
			query := "SELECT ta.instance_id, has.instance_id FROM " + o.from + " JOIN tasks ta ON " + same + " WHERE " + o.where + " AND " + atRevision("$1", "$2")
			if err := c.add(ctx, o.name, kind, query, o.id); err != nil {
				return err
			}
		}
	}
	return c.withPatches(ctx, o, tasks)
}

// withEntries compares with the entries of an exclusion list.
func (c *comparison) withEntries(ctx context.Context, name, entries string, arg any) error {
	for kind, same := range map[relabel.OverlapKind]string{relabel.SameInstance: "ta.instance_key = en.instance_key", relabel.SameRepository: "ta.repo_key = en.repo_key AND en.repo_key <> ''"} {
		query := "SELECT ta.instance_id, en.entry FROM (" + entries + ") en JOIN tasks ta ON " + same + " WHERE " + atRevision("$1", "$2")
		if err := c.add(ctx, name, kind, query, arg); err != nil {
			return err
		}
	}
	return nil
}

// add adds the pairs of a query, unless a stronger kind has them.
func (c *comparison) add(ctx context.Context, name string, kind relabel.OverlapKind, query string, arg any) error {
	rows, _ := c.tx.Query(ctx, query, c.query.TasksetID, c.query.Revision, arg)
	var instance, other string
	_, err := pgx.ForEachRow(rows, []any{&instance, &other}, func() error {
		key := [3]string{instance, name, other}
		if have, is := c.found[key]; is && strength(have.Kind) <= strength(kind) {
			return nil
		}
		return c.put(key, relabel.Overlap{InstanceID: instance, Kind: kind, With: name, Other: other})
	})
	return err
}

// put stores an overlap. It fails if there are too many.
func (c *comparison) put(key [3]string, o relabel.Overlap) error {
	c.found[key] = o
	if len(c.found) > maxFound {
		return relabel.Errorf(relabel.CodeInvalid, "%s: more than %d overlaps with all that is compared; give a larger threshold, or less to compare with", o.With, maxFound).On("query.threshold")
	}
	return nil
}

// withPatches compares patches: those of the smaller side are in memory, the others are read one by one.
func (c *comparison) withPatches(ctx context.Context, o others, tasks int) error {
	if min(tasks, o.size) > relabel.MostComparedTasks {
		return relabel.Errorf(relabel.CodeInvalid, "%s: the patches of %d and %d tasks are too many to compare; one side may have at most %d", o.name, tasks, o.size, relabel.MostComparedTasks).On("query.other")
	}
	// Both queries have the same three arguments.
	set := "SELECT ta.instance_id, ta.patch FROM tasks ta WHERE " + atRevision("$1", "$2") + " AND $3::uuid IS NOT NULL AND octet_length(ta.patch) > 0"
	with := "SELECT has.instance_id, has.patch FROM " + o.from + " WHERE " + o.where + " AND $1::uuid IS NOT NULL AND $2::integer >= 0 AND octet_length(has.patch) > 0"
	indexed, streamed := with, set
	if tasks < o.size {
		indexed, streamed = set, with
	}
	var index overlap.Index
	var names []string
	err := c.patches(ctx, indexed, o.id, func(name string, grams overlap.Grams) error {
		index.Add(grams)
		names = append(names, name)
		return nil
	})
	if err != nil {
		return err
	}
	return c.patches(ctx, streamed, o.id, func(name string, grams overlap.Grams) error {
		for _, m := range index.Find(grams, c.query.Threshold) {
			instance, other := name, names[m.Number]
			if tasks < o.size {
				instance, other = other, instance
			}
			if o.own && instance >= other {
				continue
			}
			if err := c.addPatch([3]string{instance, o.name, other}, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// addPatch adds what two patches share, to a pair that has something else in common too.
func (c *comparison) addPatch(key [3]string, m overlap.Match) error {
	pair, is := c.found[key]
	if !is {
		pair = relabel.Overlap{InstanceID: key[0], Kind: relabel.SimilarPatch, With: key[1], Other: key[2]}
	}
	pair.Share, pair.Common = m.Share, m.Common
	return c.put(key, pair)
}

// patches calls each with the grams of each patch that a query reads.
func (c *comparison) patches(ctx context.Context, query string, id relabel.ID, each func(name string, grams overlap.Grams) error) error {
	rows, _ := c.tx.Query(ctx, query, c.query.TasksetID, c.query.Revision, id)
	var name string
	var patch []byte
	_, err := pgx.ForEachRow(rows, []any{&name, &patch}, func() error {
		return each(name, overlap.Of(string(patch)))
	})
	return err
}
