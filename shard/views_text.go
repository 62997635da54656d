package shard

import (
	"context"
	"iter"

	"relabel"
	"relabel/shard/dialect"
	"relabel/shard/jsonl"
	"relabel/shard/outfile"
	"relabel/shard/parquet"
	"relabel/shard/render"
)

// textFileBytes is the text of a file of a view of text, before compression.
const textFileBytes = 200 << 20

// writeText writes a view whose rows are text. Their content depends on files of the student that no record of a
// finished file names, so that a repeated attempt writes all of them again.
func (o *output) writeText(ctx context.Context, view relabel.View, b *selector, all []*labelled, v tokenViews, p part) (viewFigures, error) {
	p.Done = nil
	switch b.form.Dialect {
	case relabel.DialectLoss:
		return v.writeTokenLines(ctx, o.scratch.dir, p)
	case relabel.DialectText:
		return v.writeRenderedText(ctx, o.scratch.dir, b.student, p)
	case relabel.DialectFlat:
		return v.writeFlatLines(ctx, o.scratch.dir, b.student, p)
	}
	next, stop := iter.Pull2(o.exporter.Store.ExportTrajectories(ctx, b.sel, o.part))
	defer stop()
	form := dialect.Form{Dialect: b.form.Dialect, Options: b.form.TemplateOptions}
	if b.student != nil {
		form.Arguments = b.student.Arguments
	}
	list := func(l *labelled, tr relabel.ExportTrajectory) []conversation {
		if b.student == nil {
			return executedConversations(l, tr)
		}
		return l.conversations()
	}
	rows := newTexts(&reread{selector: b, all: all, read: next}, form, list)
	count, size := textRows(b, all)
	deal := parquet.Split(count, int(1+size/textFileBytes), b.form.Divide)
	if view == relabel.ViewPromptCompletion {
		return writePromptCompletion(ctx, o.scratch.dir, rows, v.Version, deal, p)
	}
	return writeLines(ctx, o.scratch.dir, p, deal, rows.line)
}

// textRows counts the rows of a view of text and their approximate bytes.
func textRows(b *selector, all []*labelled) (count int, size int64) {
	for _, l := range all {
		n := len(l.keep)
		if b.student == nil {
			n = l.loose
		}
		if labels := len(l.keep); labels > 0 {
			size += l.text * int64(n) / int64(labels)
		}
		count += n
	}
	return count, size
}

// writeLines writes rows as lines of JSON.
func writeLines(ctx context.Context, dir string, p part, deal []int, line func(i int) ([]byte, error)) (viewFigures, error) {
	w := jsonl.NewWriter(dir, string(relabel.ViewChat), p.First, p.Step)
	return rowsOf(ctx, w, p, deal, 0, func(i int) ([]byte, outfile.Size, error) {
		text, err := line(i)
		return text, outfile.Size{Bytes: int64(len(text))}, err
	})
}

// writeFlatLines writes one line per label: the texts of st and ãt as three messages.
func (v tokenViews) writeFlatLines(ctx context.Context, dir string, student *render.Student, p part) (viewFigures, error) {
	all, tokens := sequences(p.Roots)
	labels := labelsOf(all)
	return sideBySide(ctx, p, parquet.Deal(len(labels), tokens, v.DataParallel), 0, func(p part) (*outfile.Writer[[]byte], rowFunc[[]byte]) {
		return jsonl.NewWriter(dir, string(relabel.ViewChat), p.First, p.Step), func(i int) ([]byte, outfile.Size, error) {
			line, err := labels[i].flatLine(student)
			return line, outfile.Size{Bytes: int64(len(line))}, err
		}
	})
}

// flatLine returns the texts of a label and of its state as a line with three messages.
func (l place) flatLine(student *render.Student) ([]byte, error) {
	row, err := l.rendered(student)
	if err != nil {
		return nil, err
	}
	f, err := student.Flatten(row.Prompt, row.Completion)
	if err != nil { // it was checked when the label was selected
		return nil, err
	}
	form := dialect.Form{Dialect: relabel.DialectFlat, Tools: "[]"}
	messages := []dialect.Message{form.Encode(relabel.Message{Role: relabel.RoleSystem, Content: f.System}), form.Encode(relabel.Message{Role: relabel.RoleUser, Content: f.User}),
		form.Encode(relabel.Message{Role: relabel.RoleAssistant, Content: f.Assistant})}
	return form.Line(row.RowID, messages, func(i int) bool { return i == 2 }), nil
}

// writeTokenLines writes the linear rows as conversations of token ids.
func (v tokenViews) writeTokenLines(ctx context.Context, dir string, p part) (viewFigures, error) {
	all, tokens := sequences(p.Roots)
	return sideBySide(ctx, p, parquet.Deal(len(all), tokens, v.DataParallel), tokens, func(p part) (*outfile.Writer[[]byte], rowFunc[[]byte]) {
		l := labelling{recipe: v.Recipe}
		var ids []int32
		return jsonl.NewWriter(dir, string(relabel.ViewChat), p.First, p.Step), func(i int) ([]byte, outfile.Size, error) {
			ids = l.sequence(ids[:0], all[i])
			line := dialect.TokenLine(all[i].Name, ids, l.labels, l.weights)
			return line, outfile.Size{Bytes: int64(len(line)), Tokens: len(ids), Supervised: l.supervised}, nil
		}
	})
}
