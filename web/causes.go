package web

import (
	"fmt"
	"net/url"

	"relabel"
)

// cause is a reason why trajectories are not resolved, with the list filter that selects exactly
// these.
type cause struct {
	Class, Sign, Word string
	filter            url.Values
	count             func(relabel.Figures) int
}

// causesOf groups the causes by kind.
var causesOf = []struct {
	title  string
	causes []cause
}{
	{"Not resolved, by verdict", verdictCauses()},
	{"Not resolved, by end of the rollout", endCauses()},
	{"Infrastructure errors, not caused by the agent", failureCauses()},
	{"Labels", []cause{{"infra", "!", "a label is missing", url.Values{"labels": {"missing"}}, func(f relabel.Figures) int { return f.LackLabels }}}},
}

func verdictCauses() (all []cause) {
	for _, r := range verdictReasons {
		all = append(all, cause{"bad", "✗", verdictWord(r), url.Values{"resolved": {"false"}, "verdict_reason": {string(r)}}, func(f relabel.Figures) int { return f.Unresolved[r] }})
	}
	return all
}

func endCauses() []cause {
	finished := func(word, submitted string, count func(relabel.Figures) int) cause {
		return cause{"quiet", "–", word, url.Values{"resolved": {"false"}, "end_reason": {string(relabel.EndFinish)}, "submitted": {submitted}}, count}
	}
	all := []cause{
		finished("finished, with a valid submission", "true", func(f relabel.Figures) int { return f.UnresolvedSubmitted }),
		finished("finished, without one", "false", func(f relabel.Figures) int { return f.UnresolvedEnds[relabel.EndFinish] - f.UnresolvedSubmitted }),
	}
	for _, r := range []relabel.EndReason{relabel.EndMaxTurns, relabel.EndContext, relabel.EndWallClock, relabel.EndNoCall, relabel.EndDisk, relabel.EndSandboxBroken} {
		c := cause{"quiet", "–", endWord(r), url.Values{"resolved": {"false"}, "end_reason": {string(r)}}, func(f relabel.Figures) int { return f.UnresolvedEnds[r] }}
		if r == relabel.EndWallClock {
			c.Class, c.Sign = "limit", "◷"
		}
		all = append(all, c)
	}
	return all
}

func failureCauses() (all []cause) {
	for _, r := range []relabel.FailureReason{relabel.FailEnvironment, relabel.FailImageMissing, relabel.FailEndpoint, relabel.FailVerifier, relabel.FailSecret, relabel.FailInternal} {
		all = append(all, cause{"infra", "⚠", failureWords[r], url.Values{"state": {"failed"}, "failure": {string(r)}}, func(f relabel.Figures) int { return f.Failures[r] }})
	}
	return all
}

// causeTable counts failed trajectories by cause and iteration.
type causeTable struct {
	Columns []causeColumn
	Groups  []causeGroup
}

type causeColumn struct{ Name, Link string }

type causeGroup struct {
	Title string
	Rows  []causeRow
}

type causeRow struct {
	cause
	Cells []causeCell
}

// causeCell is a count with a link to the list.
type causeCell struct {
	Count int
	Link  string
}

func causesIn(run relabel.Run, rounds []round) causeTable {
	var table causeTable
	if len(rounds) == 0 {
		return table
	}
	lists := make([]listAddress, len(rounds))
	for i, r := range rounds {
		table.Columns = append(table.Columns, causeColumn{fmt.Sprintf("%s %d", r.Kind, r.Number), "/iterations/" + r.ID.String()})
		lists[i] = listAddress{"/trajectories", url.Values{"run": {run.ID.String()}, "iteration": {r.ID.String()}}}
	}
	if len(rounds) > 1 {
		table.Columns = append(table.Columns, causeColumn{Name: "together"})
		lists = append(lists, listAddress{"/trajectories", url.Values{"run": {run.ID.String()}}})
	}
	table.count(rounds, lists)
	return table
}

// causesOfOne counts the causes of an iteration, whose page has the list.
func causesOfOne(r round) causeTable {
	table := causeTable{}
	table.count([]round{r}, []listAddress{{"/iterations/" + r.ID.String(), nil}})
	for _, g := range table.Groups {
		for _, row := range g.Rows {
			row.Cells[0].Link += "#trajectories"
		}
	}
	return table
}

// count fills in the rows. An extra list, after those of the rounds, is that of all rounds.
func (t *causeTable) count(rounds []round, lists []listAddress) {
	for _, kind := range causesOf {
		group := causeGroup{Title: kind.title}
		for _, c := range kind.causes {
			row, sum := causeRow{cause: c, Cells: make([]causeCell, len(lists))}, 0
			for i, r := range rounds {
				row.Cells[i].Count = c.count(r.Figures)
				sum += row.Cells[i].Count
			}
			row.Cells[len(lists)-1].Count = sum
			for i, to := range lists {
				row.Cells[i].Link = to.narrowed(c.filter)
			}
			if sum > 0 {
				group.Rows = append(group.Rows, row)
			}
		}
		if len(group.Rows) > 0 {
			t.Groups = append(t.Groups, group)
		}
	}
}
