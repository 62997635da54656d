package store_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// A crowd large enough that the planner chooses indexes: 8,800 trajectories of two turns.
const crowdOfExplain = 8000

var (
	fromHeap   = regexp.MustCompile(`on trajectories tr.*\(actual rows=(\d+) loops=(\d+)\)`)
	turnedAway = regexp.MustCompile(`Rows Removed by (?:Filter|Index Recheck): (\d+)`)
)

// rowsRead is how many rows of trajectories a plan reads, those that it turns away
// included.
func rowsRead(plan string) (n int) {
	lines := strings.Split(plan, "\n")
	for i, line := range lines {
		m := fromHeap.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		rows, _ := strconv.Atoi(m[1])
		loops, _ := strconv.Atoi(m[2])
		for _, below := range lines[i+1 : min(i+5, len(lines))] {
			if strings.Contains(below, "->") {
				break
			}
			if away := turnedAway.FindStringSubmatch(below); away != nil {
				k, _ := strconv.Atoi(away[1])
				rows += k
			}
		}
		n += rows * loops
	}
	return n
}

// review flags 500 trajectories of a crowd, and has 40 labels missing in one corner.
func review(t testing.TB, s *store.Store) {
	exec(t, s, "UPDATE trajectories SET labels_missing = labels_missing + 1, labels_received = labels_received - 1 WHERE labels_received > 0 AND id IN (SELECT id FROM trajectories WHERE state = 'done' ORDER BY created_at LIMIT 40)")
	exec(t, s, "INSERT INTO reviews SELECT gen_random_uuid(), id, NULL, 'f' || abs(hashtext(id::text)) % 50, '', '' FROM trajectories ORDER BY id LIMIT 500")
	exec(t, s, "VACUUM ANALYZE")
}

// listFilters are the filters that lists have, by name, for a crowd.
func listFilters(c storetest.Crowd) map[string]relabel.TrajectoryFilter {
	three, no, yes := 3, false, true
	low, high := 0.2, 0.4
	return map[string]relabel.TrajectoryFilter{
		"all":            {},
		"iteration":      {IterationID: &c.Middle},
		"number":         {IterationNumber: 5},
		"taskset":        {TasksetID: &c.Taskset.ID},
		"instance":       {InstanceID: "sympy__17"},
		"state":          {State: relabel.Failed},
		"end":            {EndReason: relabel.EndNoCall},
		"failure":        {Failure: relabel.FailSecret},
		"verdict":        {Verdict: relabel.VerdictPassed},
		"verdict reason": {VerdictReason: relabel.VerdictTimedOut},
		"not submitted":  {Submitted: &no},
		"labels missing": {LabelsMissing: true},
		"turns":          {MinTurns: &three, MaxTurns: &three},
		"agreement":      {MinAgreement: &low, MaxAgreement: &high},
		"score":          {MinScore: &low, MaxScore: &high},
		"hit":            {Hit: &yes},
		"no hit":         {Hit: &no},
		"flag":           {Flag: "f7"},
		"flagged":        {Flag: relabel.AnyFlag},
		"text":           {Text: "SYMPY__17"},
		"part":           {InstancePart: "SYMPY__17"},
		"reviewed":       {Reviewed: &yes},
		"not reviewed":   {Reviewed: &no},
	}
}

// TestEveryFilterAndSortReadsABoundedNumberOfRows asks for each filter by each sort, of a
// run and of all runs. What an index has in order reads little more than a page of each
// iteration: each filter in the order of making, each sort of what is not filtered. A
// filter by a figure, and the rows that have none, pass over others: each once at most.
func TestEveryFilterAndSortReadsABoundedNumberOfRows(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := storetest.SeedCrowd(t, s, crowdOfExplain, 2)
	review(t, s)
	filters := listFilters(c)
	open := value[int](t, s, "SELECT count(*) FROM trajectories WHERE ended_at IS NULL") // asked for beside those that have ended
	wide := map[string]bool{"all": true, "taskset": true}
	for name, f := range filters {
		for _, sort := range relabel.TrajectorySorts {
			for _, run := range []*relabel.ID{nil, &c.Run.ID} {
				f.RunID = run
				plans, err := s.Explain(ctx, f, sort)
				must(t, err)
				what := fmt.Sprintf("%s by %s, of one run: %v", name, sort, run != nil)
				for i, plan := range plans {
					most := crowdOfExplain*11/10 + open + 100
					if i == 0 && (wide[name] || sort == relabel.Newest || sort == relabel.Oldest) && name != "iteration" && name != "number" {
						most = crowdOfExplain / 4
					}
					if n := rowsRead(plan); n > most {
						t.Errorf("%s reads %d rows:\n%s", what, n, plan)
					}
				}
			}
		}
	}
}
