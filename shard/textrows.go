package shard

import (
	"fmt"
	"maps"
	"slices"

	"relabel"
	"relabel/shard/dialect"
)

// conversation is a row of a view of text: st and ãt of its last turn, with loss on the labels of some turns.
type conversation struct {
	id    string
	last  int   // the turn whose label ends it
	turns []int // whose labels are trained on; the last one is last
}

// conversations are the rows of a trajectory: one per label.
func (l *labelled) conversations() (all []conversation) {
	for _, t := range slices.Sorted(maps.Keys(l.keep)) {
		all = append(all, conversation{fmt.Sprintf("%s/%d", l.Trajectory.ID, t), t, []int{t}})
	}
	return all
}

// executedConversations are the rows of a trajectory without a tokenizer: one with the labels that were executed, up
// to the last of them, and one for each other label.
func executedConversations(l *labelled, tr relabel.ExportTrajectory) (all []conversation) {
	trunk := conversation{id: fmt.Sprintf("%s/trunk0", l.Trajectory.ID)}
	for _, t := range slices.Sorted(maps.Keys(l.keep)) {
		if executedByTeacher(tr.Turns[t-1]) {
			trunk.turns, trunk.last = append(trunk.turns, t), t
			continue
		}
		all = append(all, conversation{fmt.Sprintf("%s/%d", l.Trajectory.ID, t), t, []int{t}})
	}
	if trunk.last > 0 {
		all = append([]conversation{trunk}, all...)
	}
	return all
}

// texts yields the messages of conversations, one trajectory in memory at a time.
type texts struct {
	*reread
	form dialect.Form
	list func(l *labelled, tr relabel.ExportTrajectory) []conversation

	rows     []conversation // of the open trajectory
	passed   int            // rows of the trajectories before it
	messages []relabel.Message
	encoded  []dialect.Message
	actions  []int // index of the action of each turn
}

// newTexts returns the conversations that list gives for each trajectory.
func newTexts(r *reread, form dialect.Form, list func(*labelled, relabel.ExportTrajectory) []conversation) *texts {
	return &texts{reread: r, form: form, list: list}
}

// at returns row i with its state's messages. Rows must be requested in ascending order; gaps are allowed.
func (x *texts) at(i int) (c conversation, state int, label relabel.Message, err error) {
	for i >= x.passed+len(x.rows) {
		x.passed += len(x.rows)
		if err := x.reread.advance(); err != nil {
			return c, 0, label, err
		}
		x.open(x.all[x.reread.open-1])
	}
	c = x.rows[i-x.passed]
	for _, w := range x.all[x.reread.open-1].keep[c.last] {
		if w != 1 {
			return c, 0, label, relabel.Errorf(relabel.CodeInvalid, "the label of turn %d of trajectory %s has token weights other than 1, which rows of text cannot express", c.last, x.tr.Trajectory.ID).On("views")
		}
	}
	label = reasoned(x.reread.form, []relabel.Message{x.tr.Turns[c.last-1].Label.Message.Canonical(c.last)})[0]
	return c, x.actions[c.last-1], label, nil
}

// open encodes the messages of a trajectory.
func (x *texts) open(l *labelled) {
	x.rows, x.form.Tools = x.list(l, x.tr), x.told
	x.messages, x.actions = x.opening(x.tr), x.actions[:0]
	for _, turn := range x.tr.Turns {
		x.actions = append(x.actions, len(x.messages))
		x.messages = relabel.AppendTurn(x.messages, turn)
	}
	x.encoded = x.encoded[:0]
	x.messages = reasoned(x.reread.form, x.messages)
	for _, m := range x.messages {
		x.encoded = append(x.encoded, x.form.Encode(m))
	}
}

// line returns row i as a line of the dialect.
func (x *texts) line(i int) ([]byte, error) {
	c, state, label, err := x.at(i)
	if err != nil {
		return nil, err
	}
	messages := append(x.encoded[:state:state], x.form.Encode(label))
	trained := map[int]bool{state: true}
	for _, t := range c.turns[:len(c.turns)-1] {
		trained[x.actions[t-1]] = true
	}
	return x.form.Line(c.id, messages, func(i int) bool { return trained[i] }), nil
}
