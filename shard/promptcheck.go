package shard

import (
	"relabel"
	"relabel/shard/render"
)

// promptCheck compares rendered prompts with the prompts that the student's server received.
type promptCheck relabel.PromptCheck

// compare compares the rendered prompt of a turn with the one that the student's server
// received.
func (p *promptCheck) compare(s *render.Student, l *labelled, turn relabel.Turn, ours []int32) {
	theirs := l.studentPrompt(turn)
	if theirs == nil {
		return
	}
	p.Compared++
	at := 0
	for at < min(len(ours), len(theirs)) && ours[at] == theirs[at] {
		at++
	}
	if at == len(ours) && at == len(theirs) {
		return
	}
	if p.Differ++; p.First == nil {
		p.First = &relabel.PromptDifference{Trajectory: l.Trajectory.ID.String(), Turn: turn.T, At: at, Ours: around(s, ours, at), Theirs: around(s, theirs, at)}
	}
}

// around returns the text of the IDs around a position.
func around(s *render.Student, ids []int32, at int) string {
	const before, after = 4, 12
	return s.Tokens.Decode(ids[max(0, at-before):min(len(ids), at+after)])
}

// plus adds the comparisons of the next part.
func (p promptCheck) plus(next promptCheck) promptCheck {
	sum := promptCheck{Compared: p.Compared + next.Compared, Differ: p.Differ + next.Differ, First: p.First}
	if sum.First == nil {
		sum.First = next.First
	}
	return sum
}

// studentPrompt returns the prompt IDs that the student's server received at a turn of the
// student, nil if unknown.
func (l *labelled) studentPrompt(turn relabel.Turn) []int32 {
	if turn.Executor != relabel.Student || turn.Action.PolicyID != l.Student.ID || l.StudentPrompt == nil {
		return nil
	}
	return l.StudentPrompt(turn.T)
}
