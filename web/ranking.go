package web

import (
	"fmt"
	"slices"

	"relabel"
	"relabel/ranking"
)

// rankingView is a ranked answer beside the gold.
type rankingView struct {
	Level   string // what the score counts: functions or files
	Depth   int    // k of the score
	Entries []rankedRow
	Gold    goldList  // at that level
	Files   *goldList // the gold files of a task with gold functions
}

// goldList is gold with its places in the answer.
type goldList struct {
	Rows []goldRow // the first mostGold
	More int
}

// mostGold bounds the gold that a page shows.
const mostGold = 500

// rankedRow is an entry of the answer.
type rankedRow struct {
	Place             int // from 1
	Name              string
	Class, Sign, Word string
}

// goldRow is one gold function or file.
type goldRow struct {
	Name  string
	Place int // in the answer; 0: missed
}

// localises reports whether the trajectory's task is to localise an issue.
func (v trajectoryView) localises() bool { return v.Task.Kind == relabel.Localise }

// Localises is localises, for templates.
func (v trajectoryView) Localises() bool { return v.localises() }

// answer is the turn with the ranked answer; 0 without one.
func (v trajectoryView) answer() int {
	n := len(v.Heads)
	if !v.localises() || v.Shown != v.Trail || v.EndReason != relabel.EndFinish || n == 0 || v.Heads[n-1].Tools != "" {
		return 0
	}
	return n
}

// rankingOf shows the verdict's answer beside the task's gold.
func rankingOf(t trajectoryView, verdict relabel.Verdict) *rankingView {
	v := rankingView{Level: "functions", Depth: t.Run.Limits.ScoreDepth}
	var names []string
	for i, l := range verdict.Ranking {
		names = append(names, l.Name)
		v.Entries = append(v.Entries, rowOf(i+1, l))
	}
	files := placesOf(t.Task.GoldFiles, ranking.Files(names))
	if len(t.Task.GoldFunctions) == 0 {
		v.Level, v.Gold = "files", files
		return &v
	}
	v.Gold, v.Files = placesOf(t.Task.GoldFunctions, names), &files
	return &v
}

func rowOf(place int, l relabel.Location) rankedRow {
	switch {
	case l.Hit:
		return rankedRow{place, l.Name, "good", "✓", "gold"}
	case l.Known:
		return rankedRow{place, l.Name, "quiet", "–", "not gold"}
	}
	return rankedRow{place, l.Name, "limit", "?", "not in the repository"}
}

// placesOf finds gold in a ranked list.
func placesOf(gold, ranked []string) (list goldList) {
	shown := gold[:min(len(gold), mostGold)]
	list.More = len(gold) - len(shown)
	for _, name := range shown {
		list.Rows = append(list.Rows, goldRow{name, slices.Index(ranked, name) + 1})
	}
	return list
}

// Most is the number of gold entries that the score can count.
func (v rankingView) Most() int { return min(v.Depth, len(v.Gold.Rows)+v.Gold.More) }

// scored explains the grade of an answer in the head of the page.
func (v trajectoryView) scored(verdict relabel.Verdict) string {
	if verdict.Reason == relabel.VerdictNoAnswer || verdict.Score == nil {
		return "Score 0: there is no ranked answer."
	}
	of, all := "functions", len(v.Task.GoldFunctions)
	if all == 0 {
		of, all = "files", len(v.Task.GoldFiles)
	}
	return fmt.Sprintf("Score %.3f: the answer names %d of %d gold %s.", *verdict.Score, *verdict.Hits, all, of)
}
