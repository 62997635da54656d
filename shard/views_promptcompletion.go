package shard

import (
	"cmp"
	"context"

	parquetgo "github.com/parquet-go/parquet-go"

	"relabel"
	"relabel/shard/outfile"
	"relabel/shard/parquet"
	"relabel/shard/render"
	"relabel/shard/tree"
)

// promptCompletionRow is a row of prompt_completion with lists of messages. Each message is of Parquet's type JSON,
// which pyarrow and datasets decode: Arrow structs would add fields to messages.
type promptCompletionRow struct {
	RowID      string   `parquet:"row_id"`
	Prompt     []string `parquet:"prompt,list" parquet-element:",json"`
	Completion []string `parquet:"completion,list" parquet-element:",json"`
	Tools      string   `parquet:"tools,dict"` // JSON text
	Variables  string   `parquet:"chat_template_kwargs,json"`
}

// Values implements parquet.Leveled.
func (r promptCompletionRow) Values() (values parquetgo.Row) {
	text := func(column int, text string) {
		values = append(values, parquetgo.ByteArrayValue([]byte(text)).Level(0, 0, column))
	}
	list := func(column int, texts []string) {
		for i, text := range texts {
			values = append(values, parquetgo.ByteArrayValue([]byte(text)).Level(min(i, 1), 1, column))
		}
	}
	text(0, r.RowID)
	list(1, r.Prompt)
	list(2, r.Completion)
	text(3, r.Tools)
	text(4, r.Variables)
	return values
}

// renderedRow is a row of prompt_completion with texts.
type renderedRow struct {
	RowID      string `parquet:"row_id"`
	Prompt     string `parquet:"prompt"`
	Completion string `parquet:"completion"`
}

// writePromptCompletion writes one row per label: st and ãt as lists of messages.
func writePromptCompletion(ctx context.Context, dir string, rows *texts, version string, deal []int, p part) (viewFigures, error) {
	layout := parquet.Layout{View: string(relabel.ViewPromptCompletion), LossMask: "none", First: p.First, Step: p.Step}
	w := parquet.NewWriter[promptCompletionRow](dir, layout, version)
	row := promptCompletionRow{Variables: cmp.Or(string(rows.form.Options), "{}")}
	return rowsOf(ctx, w, p, deal, 0, func(i int) (promptCompletionRow, outfile.Size, error) {
		c, state, label, err := rows.at(i)
		if err != nil {
			return row, outfile.Size{}, err
		}
		row.RowID, row.Tools, row.Prompt, row.Completion = c.id, rows.form.Tools, row.Prompt[:0], append(row.Completion[:0], rows.form.Object(label))
		size := len(row.Completion[0]) + len(row.Tools) + rowIDBytes
		for _, m := range rows.messages[:state] {
			row.Prompt = append(row.Prompt, rows.form.Object(m))
			size += len(row.Prompt[len(row.Prompt)-1])
		}
		return row, outfile.Size{Bytes: int64(size)}, nil
	})
}

// writeRenderedText writes one row per label: the texts of the ids of st with the header and of ãt.
func (v tokenViews) writeRenderedText(ctx context.Context, dir string, student *render.Student, p part) (viewFigures, error) {
	all, tokens := sequences(p.Roots)
	labels := labelsOf(all)
	return sideBySide(ctx, p, parquet.Deal(len(labels), tokens, v.DataParallel), 0, func(p part) (*outfile.Writer[renderedRow], rowFunc[renderedRow]) {
		layout := parquet.Layout{View: string(relabel.ViewPromptCompletion), LossMask: "none", First: p.First, Step: p.Step}
		return parquet.NewWriter[renderedRow](dir, layout, v.Version), func(i int) (renderedRow, outfile.Size, error) {
			row, err := labels[i].rendered(student)
			return row, outfile.Size{Bytes: int64(len(row.Prompt) + len(row.Completion) + rowIDBytes)}, err
		}
	})
}

// place is the place of a label in a sequence.
type place struct {
	sequence tree.Sequence
	span     tree.Span
}

// labelsOf lists the labels of sequences by turn within each trajectory's root.
func labelsOf(all []tree.Sequence) (labels []place) {
	for _, s := range all {
		for _, span := range s.Spans {
			labels = append(labels, place{s, span})
		}
	}
	return labels
}

// rendered returns the texts of a label's ids and of those before it. CodeInvalid if a weight is not 1.
func (l place) rendered(student *render.Student) (renderedRow, error) {
	ids := l.sequence.AppendIDs(nil)
	row := renderedRow{RowID: spanName(l.span), Prompt: student.Text(ids[:l.span.Start]), Completion: student.Text(ids[l.span.Start:l.span.End()])}
	return row, checkUnweighted(l.sequence)
}
