package tasks

import (
	"strconv"

	"relabel"
	"relabel/gitdiff"
)

// Pair is an issue with the change that resolves it.
type Pair struct {
	InstanceID  string // "" if the file names none
	Repository  string // owner/name
	BaseCommit  string // full hash
	Issue       string // title and body
	Patch       string // a diff against the base; "" with a head
	HeadCommit  string // full hash; "" with a patch
	IssueNumber int    // 0 if the file names none, so for the next
	PullNumber  int
}

// ReadPairs reads a file with one pair per row, as Open. unused counts as Report. Wrong rows are errors as with Check.
func ReadPairs(in Input) (pairs []Pair, unused map[string]int, err error) {
	unused = map[string]int{}
	var problems []Problem
	err = readRows(Member{"", in}, func(line *taskLine) bool {
		if len(line.problems) == 0 {
			pairs = append(pairs, line.pair())
		}
		for _, field := range line.unused() {
			unused[field]++
		}
		problems = append(problems, line.problems...)
		return len(problems) <= maxProblems
	})
	switch {
	case len(problems) > 0:
		err = fileError(problems)
	case err == nil && len(pairs) == 0:
		err = relabel.Errorf(relabel.CodeInvalid, "the file contains no pair")
	}
	if err != nil {
		return nil, nil, err
	}
	return pairs, unused, nil
}

func (l *taskLine) pair() Pair {
	p := Pair{
		InstanceID: l.text("instance_id"), Repository: l.repository(), BaseCommit: l.fullCommit("base_commit"), Issue: l.need("issue"),
		IssueNumber: l.numberOf("issue_number"), PullNumber: l.numberOf("pull_number"),
	}
	l.checkInstanceID(p.InstanceID)
	switch {
	case l.has("head_commit") && l.has("patch"):
		l.refuse("patch", "is given beside head_commit: give one of them")
	case l.has("head_commit"):
		p.HeadCommit = l.fullCommit("head_commit")
	case !l.has("patch"):
		l.refuse("patch", "is missing: give patch or head_commit")
	default:
		p.Patch = l.need("patch")
		l.checkChanges("patch", p.Patch)
	}
	return p
}

// numberOf reads an optional number from 1, such as that of an issue.
func (l *taskLine) numberOf(field string) int {
	l.used[field] = true
	if !l.has(field) {
		return 0
	}
	n, err := strconv.Atoi(string(l.fields[field]))
	if err != nil || n < 1 {
		l.refuse(field, "is not a whole number from 1")
		return 0
	}
	return n
}

// checkChanges is checkPatch for a diff that no one applies as a whole: contents of binary files may lack.
func (l *taskLine) checkChanges(field, patch string) {
	if patch == "" {
		return
	}
	changes, err := gitdiff.Changes(patch)
	if err != nil {
		l.refuse(field, "%s", err)
		return
	}
	l.checkPaths(field, changes)
}
