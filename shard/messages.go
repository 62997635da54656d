package shard

import (
	"fmt"
	"slices"
	"strconv"

	"relabel"
	"relabel/shard/parquet"
)

// messagesView is the view of one row a labelled state.
const messagesView = "messages"

// messagesRow is a row of the messages view: one labelled state (st, ãt).
type messagesRow struct {
	RowID    string `parquet:"row_id"`
	Messages string `parquet:"messages_json"`   // st
	Tools    string `parquet:"tools_json,dict"` // the same in all rows of a run
	Label    string `parquet:"label_json"`      // turn, ãt, weights
}

// rowIDBytes is more than a row_id takes.
const rowIDBytes = 100

func (r messagesRow) size() int64 {
	return int64(len(r.RowID) + len(r.Messages) + len(r.Tools) + len(r.Label))
}

// stateText is st as JSON text, grown turn by turn: the text of a shorter state is the
// beginning of that of a longer one.
type stateText []byte

// openState returns s1, the prompt x, without the bracket that closes the array.
func openState(opening []relabel.Message) stateText {
	text := relabel.AppendMessages(nil, opening)
	return text[:len(text)-1]
}

// advance makes st+1 of st (eq. 7).
func (s stateText) advance(form relabel.ExportForm, turn relabel.Turn) stateText {
	for _, m := range reasoned(form, relabel.AppendTurn(nil, turn)) {
		s = relabel.AppendMessage(append(s, ','), m)
	}
	return s
}

func (s stateText) json() string { return string(append(s, ']')) }

// labelText is the label ãt of turn t. Without a tokenizer there is no token to weigh:
// weights is null, which means that every transition weighs 1.
func labelText(t int, label relabel.Message, weights []float32) string {
	text := append([]byte(`{"turn":`), strconv.Itoa(t)...)
	text = relabel.AppendMessage(append(text, `,"message":`...), label.Canonical(t))
	if weights == nil {
		return string(append(text, `,"weights":null}`...))
	}
	text = append(text, `,"weights":[`...)
	for i, w := range weights {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendFloat(text, float64(w), 'g', -1, 32)
	}
	return string(append(text, "]}"...))
}

// messagesFileBytes is how much text a file of the messages view holds at most, before it
// is compressed. Text takes less than a third of its length, states that begin alike a
// tenth of that.
const messagesFileBytes = 700 << 20

// writeMessages writes the messages view of a part: a row for each label that leaves.
func writeMessages(dir string, run relabel.Run, form relabel.ExportForm, version string, all []*labelled, p part) (viewFigures, error) {
	rows := &messagesRows{run: run, form: form, all: all, tools: string(relabel.AppendTools(nil, run.Prompts.Tools))}
	count, size := rows.count()
	w := parquet.NewWriter[messagesRow](dir, parquet.Layout{View: messagesView, LossMask: "none", First: p.First, Step: p.Step}, version)
	return rowsOf(w, p, parquet.Split(count, int(1+size/messagesFileBytes), form.Divide), 0, func(i int) (messagesRow, parquet.Size, error) {
		row := rows.at(i)
		return row, parquet.Size{Bytes: row.size()}, nil
	})
}

// messagesRows gives the rows of trajectories one after the other.
type messagesRows struct {
	run   relabel.Run
	form  relabel.ExportForm
	tools string
	all   []*labelled

	passed int       // rows of the trajectories before the open one
	open   int       // number of the open trajectory
	next   int       // index of the turn whose state is grown
	state  stateText // nil: that of the open trajectory is not begun
}

// count is how many rows there are, and about how many bytes.
func (m *messagesRows) count() (rows int, size int64) {
	for _, l := range m.all {
		text := int64(len(m.tools))
		for _, turn := range l.Turns {
			if _, there := l.keep[turn.T]; there {
				rows++
				size += text
			}
			text += int64(len(turn.Action.Raw))
			for _, o := range turn.Observations {
				text += int64(len(o.Content))
			}
		}
	}
	return rows, size
}

// at returns row i; rows are asked for in order, some left out.
func (m *messagesRows) at(i int) messagesRow {
	for m.passed+len(m.all[m.open].keep) <= i {
		m.passed += len(m.all[m.open].keep)
		m.open, m.next, m.state = m.open+1, 0, nil
	}
	l := m.all[m.open]
	wanted := l.kept(i - m.passed)
	if m.state == nil {
		m.state = openState(reasoned(m.form, m.run.Prompts.Opening(l.Task)))
	}
	for ; l.Turns[m.next].T < wanted; m.next++ {
		m.state = m.state.advance(m.form, l.Turns[m.next])
	}
	label := reasoned(m.form, []relabel.Message{l.Turns[m.next].Label.Message})[0]
	return messagesRow{RowID: fmt.Sprintf("%s/%d", l.Trajectory.ID, wanted), Messages: m.state.json(), Tools: m.tools, Label: labelText(wanted, label, l.keep[wanted])}
}

// reasoned drops the reasoning where the form says so: what the rows hold is what the
// token views are of.
func reasoned(form relabel.ExportForm, messages []relabel.Message) []relabel.Message {
	if form.Reasoning != relabel.ReasoningDrop {
		return messages
	}
	dropped := slices.Clone(messages)
	for i := range dropped {
		dropped[i].ReasoningContent = ""
	}
	return dropped
}
