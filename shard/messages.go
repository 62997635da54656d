package shard

import (
	"context"
	"fmt"
	"slices"

	"relabel"
	"relabel/chat"
	"relabel/shard/outfile"
	"relabel/shard/parquet"
	"relabel/shard/rows"
)

// messagesView is the view with one row per labelled state.
const messagesView = "messages"

// messagesRow is a row of the messages view: one labelled state (st, ãt).
type messagesRow struct {
	RowID    string `parquet:"row_id"`
	Messages []byte `parquet:"messages_json,string"` // st; valid until the next row
	Tools    string `parquet:"tools_json,dict"`      // the same in all rows of a run
	Label    string `parquet:"label_json"`           // turn, ãt, weights
}

// rowIDBytes is an upper bound on the size of a row_id.
const rowIDBytes = 100

func (r messagesRow) size() int64 {
	return int64(len(r.RowID) + len(r.Messages) + len(r.Tools) + len(r.Label))
}

// stateText is st as JSON text, extended turn by turn: the text of a state is a prefix of the
// texts of later states.
type stateText []byte

// openState returns s1, the prompt x, without the array's closing bracket.
func openState(opening []relabel.Message) stateText {
	text := chat.AppendMessages(nil, opening)
	return text[:len(text)-1]
}

// advance extends st to st+1 (eq. 7).
func (s stateText) advance(form relabel.ExportForm, turn relabel.Turn) stateText {
	for _, m := range reasoned(form, relabel.AppendTurn(nil, turn)) {
		s = chat.AppendMessage(append(s, ','), m)
	}
	return s
}

// json returns the text, valid until the state advances.
func (s stateText) json() []byte { return append(s, ']') }

// messagesFileBytes is the maximum text of a messages file, in bytes before compression.
// Compressed, text takes less than a third of that; states with a common beginning a tenth of
// that again.
const messagesFileBytes = 700 << 20

// writeMessages writes a part's messages view: one row per exported label. It reads the texts
// again, one trajectory at a time, since those of a whole part need more memory than
// everything else.
func writeMessages(ctx context.Context, dir string, from *messagesRows, version string, p part) (viewFigures, error) {
	count, size := 0, int64(0)
	for _, l := range from.all {
		count, size = count+len(l.keep), size+l.text
	}
	w := parquet.NewWriter[messagesRow](dir, parquet.Layout{View: messagesView, LossMask: "none", First: p.First, Step: p.Step}, version)
	return rowsOf(ctx, w, p, parquet.Split(count, int(1+size/messagesFileBytes), from.form.Divide), 0, func(i int) (messagesRow, outfile.Size, error) {
		row, err := from.at(i)
		return row, outfile.Size{Bytes: row.size()}, err
	})
}

// reread reads the trajectories of a part again, one after the other, for views of text.
type reread struct {
	*selector
	all  []*labelled
	read func() (relabel.ExportTrajectory, error, bool) // yields the trajectories of all again, in order

	open int                      // number of trajectories read; the last one is open
	tr   relabel.ExportTrajectory // the open one
	told string                   // its tools, as JSON
}

// messagesRows yields the rows of trajectories one after the other.
type messagesRows struct {
	reread
	passed int       // rows of the trajectories before the open one
	next   int       // index of the turn at which state stands
	state  stateText // nil: the open trajectory's state is not started
}

func newMessagesRows(b *selector, all []*labelled, read func() (relabel.ExportTrajectory, error, bool)) *messagesRows {
	return &messagesRows{reread: reread{selector: b, all: all, read: read}}
}

// at returns row i. Rows must be requested in ascending order; gaps are allowed.
func (m *messagesRows) at(i int) (messagesRow, error) {
	for m.open == 0 || m.passed+len(m.all[m.open-1].keep) <= i {
		if m.open > 0 {
			m.passed += len(m.all[m.open-1].keep)
		}
		if err := m.advance(); err != nil {
			return messagesRow{}, err
		}
		m.next, m.state = 0, nil
	}
	l := m.all[m.open-1]
	wanted := l.kept(i - m.passed)
	if m.state == nil {
		m.state = openState(reasoned(m.form, m.opening(m.tr)))
	}
	for ; m.next+1 < wanted; m.next++ {
		m.state = m.state.advance(m.form, m.tr.Turns[m.next])
	}
	label := reasoned(m.form, []relabel.Message{m.tr.Turns[m.next].Label.Message})[0]
	return messagesRow{RowID: fmt.Sprintf("%s/%d", l.Trajectory.ID, wanted), Messages: m.state.json(), Tools: m.told, Label: rows.LabelText(wanted, label.Canonical(wanted), l.keep[wanted])}, nil
}

// advance opens the next trajectory.
func (r *reread) advance() error {
	tr, err, there := r.read()
	if err != nil {
		return err
	}
	l := r.all[r.open]
	if !there || !l.of(tr) {
		return relabel.Errorf(relabel.CodeConflict, "trajectory %s has changed while the export was built: start the export again", l.Trajectory.ID)
	}
	r.tr, r.open, r.told = tr, r.open+1, string(chat.AppendTools(nil, r.tools(tr)))
	return nil
}

// reasoned drops the reasoning if the form asks for it, so that rows match the token views.
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
