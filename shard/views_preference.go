package shard

import (
	"cmp"
	"context"
	"iter"
	"slices"

	parquetgo "github.com/parquet-go/parquet-go"

	"relabel"
	"relabel/chat"
	"relabel/shard/dialect"
	"relabel/shard/outfile"
	"relabel/shard/parquet"
)

// preferenceRow is a row of the preference view: at one state, the label over the executed action. Messages are of
// Parquet's type JSON, as in promptCompletionRow.
type preferenceRow struct {
	RowID     string   `parquet:"row_id"`
	Prompt    []string `parquet:"prompt,list" parquet-element:",json"`   // st
	Chosen    []string `parquet:"chosen,list" parquet-element:",json"`   // ãt
	Rejected  []string `parquet:"rejected,list" parquet-element:",json"` // at
	Tools     string   `parquet:"tools,dict"`                            // JSON text
	Variables string   `parquet:"chat_template_kwargs,json"`
	Distance  float32  `parquet:"distance"` // see chat.Distance
	Iteration int32    `parquet:"iteration"`
	Outcome   string   `parquet:"outcome,dict"` // of the trajectory: resolved, unresolved or unknown
}

// Values implements parquet.Leveled.
func (r preferenceRow) Values() (values parquetgo.Row) {
	text := func(column int, text string) {
		values = append(values, parquetgo.ByteArrayValue([]byte(text)).Level(0, 0, column))
	}
	text(0, r.RowID)
	for k, texts := range [][]string{r.Prompt, r.Chosen, r.Rejected} {
		for i, text := range texts {
			values = append(values, parquetgo.ByteArrayValue([]byte(text)).Level(min(i, 1), 1, 1+k))
		}
	}
	text(4, r.Tools)
	text(5, r.Variables)
	values = append(values, parquetgo.FloatValue(r.Distance).Level(0, 0, 6), parquetgo.Int32Value(r.Iteration).Level(0, 0, 7))
	text(8, r.Outcome)
	return values
}

// outcomeOf is the outcome of a trajectory in a row of the preference view.
func outcomeOf(tr relabel.Trajectory) string {
	switch {
	case tr.Resolved == nil:
		return "unknown"
	case *tr.Resolved:
		return "resolved"
	}
	return "unresolved"
}

// choosePreferences finds the exported states whose label is preferred to the executed action, and counts the others.
func (b *selector) choosePreferences(l *labelled) {
	special := slices.ContainsFunc(b.opening(l.ExportTrajectory), b.hasSpecial)
	for _, turn := range l.Turns {
		if _, kept := l.keep[turn.T]; kept {
			b.choosePreference(l, turn, special)
		}
		special = special || slices.ContainsFunc(relabel.AppendTurn(nil, turn), b.hasSpecial)
	}
}

// choosePreference decides on one state; special says whether it has text of special tokens.
func (b *selector) choosePreference(l *labelled, turn relabel.Turn, special bool) {
	switch {
	case executedByTeacher(turn) || chat.Agree(turn.Action.Message, turn.Label.Message):
		l.preferences.Same++
	case turn.Action.Parse != relabel.ParsedOK || !chat.ValidText(turn.Action.Message):
		l.preferences.InvalidAction++
	case chat.Distance(turn.Action.Message, turn.Label.Message) < b.form.MinDistance:
		l.preferences.TooClose++
	case special || b.hasSpecial(turn.Action.Message) || b.hasSpecial(turn.Label.Message):
		l.preferences.SpecialText++
	default:
		l.preferences.Rows++
		l.preferred = append(l.preferred, turn.T)
	}
}

// hasSpecial reports whether a message has text of the student's special tokens.
func (b *selector) hasSpecial(m relabel.Message) bool {
	return slices.ContainsFunc(b.textsOf(m), b.student.HasSpecial)
}

// writePreferences writes the preference view, reading the trajectories again.
func (o *output) writePreferences(ctx context.Context, b *selector, all []*labelled, version string, p part) (viewFigures, error) {
	p.Done = nil // as in other views of text
	next, stop := iter.Pull2(o.exporter.Store.ExportTrajectories(ctx, b.sel, o.part))
	defer stop()
	list := func(l *labelled, _ relabel.ExportTrajectory) (rows []conversation) {
		for _, c := range l.conversations() {
			if slices.Contains(l.preferred, c.last) {
				rows = append(rows, c)
			}
		}
		return rows
	}
	form := dialect.Form{Arguments: b.student.Arguments, Options: b.form.TemplateOptions}
	rows := newTexts(&reread{selector: b, all: all, read: next}, form, list)
	count, size := 0, int64(0)
	for _, l := range all {
		count += len(l.preferred)
		if len(l.keep) > 0 {
			size += l.text * int64(len(l.preferred)) / int64(len(l.keep))
		}
	}
	layout := parquet.Layout{View: string(relabel.ViewPreference), LossMask: "none", First: p.First, Step: p.Step}
	w := parquet.NewWriter[preferenceRow](o.scratch.dir, layout, version)
	return rowsOf(ctx, w, p, parquet.Split(count, int(1+size/textFileBytes), b.form.Divide), 0, func(i int) (preferenceRow, outfile.Size, error) {
		row, err := rows.preference(i)
		return row, outfile.Size{Bytes: row.size()}, err
	})
}

// preference returns row i of the preference view.
func (x *texts) preference(i int) (row preferenceRow, err error) {
	c, state, label, err := x.at(i)
	if err != nil {
		return row, err
	}
	turn := x.tr.Turns[c.last-1]
	rejected := x.messages[state]
	row = preferenceRow{RowID: c.id, Tools: x.form.Tools, Variables: cmp.Or(string(x.form.Options), "{}"), Iteration: int32(x.tr.Iteration.Number), Outcome: outcomeOf(x.tr.Trajectory),
		Chosen: []string{x.form.Object(label)}, Rejected: []string{x.form.Object(rejected)}, Distance: float32(chat.Distance(turn.Action.Message, turn.Label.Message))}
	for _, m := range x.messages[:state] {
		row.Prompt = append(row.Prompt, x.form.Object(m))
	}
	return row, nil
}

// size is the row's text, in bytes.
func (r preferenceRow) size() int64 {
	n := len(r.RowID) + len(r.Tools) + len(r.Variables)
	for _, texts := range [][]string{r.Prompt, r.Chosen, r.Rejected} {
		for _, text := range texts {
			n += len(text)
		}
	}
	return int64(n)
}
