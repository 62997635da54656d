package rows

import (
	"encoding/json"
	"errors"
	"io"
	"slices"

	"relabel"
	"relabel/chat"
)

// textLine is a line of the view chat in any dialect of text.
type textLine struct {
	ID       string            `json:"row_id"`
	Messages []json.RawMessage `json:"messages"`
	Tools    json.RawMessage   `json:"tools"`
}

// addParts adds the messages or texts of a row of text for display. Rows of other views stay as they are.
func (v View) addParts(row *relabel.ExportRow) error {
	switch {
	case v.name == relabel.ViewPreference:
		row.Parts = messageParts(row.Prompt, "", false)
		row.Parts = append(row.Parts, messageParts(row.Chosen, "chosen", true)...)
		row.Parts = append(row.Parts, messageParts(row.Rejected, "rejected", false)...)
	case v.name == relabel.ViewPromptCompletion && v.dialect == relabel.DialectText:
		row.Parts = append(textParts("prompt", row.Prompt, false), textParts("completion", row.Completion, true)...)
	case v.name == relabel.ViewPromptCompletion:
		row.Parts = append(messageParts(row.Prompt, "", false), messageParts(row.Completion, "completion", true)...)
	case v.name == relabel.ViewChat && v.dialect != relabel.DialectLoss:
		return v.addLine(row)
	}
	return nil
}

// addLine adds the messages of a line of the view chat.
func (v View) addLine(row *relabel.ExportRow) error {
	var l textLine
	if err := json.Unmarshal([]byte(row.Line), &l); err != nil {
		return err
	}
	row.ID, row.Tools = l.ID, string(l.Tools)
	for i, raw := range l.Messages {
		trained := i == len(l.Messages)-1
		if v.dialect == relabel.DialectWeight {
			var flag struct {
				Weight float64 `json:"weight"`
			}
			if err := json.Unmarshal(raw, &flag); err != nil {
				return err
			}
			trained = flag.Weight > 0
		}
		row.Parts = append(row.Parts, partOf(string(raw), "", trained))
	}
	return nil
}

func messageParts(texts []string, title string, trained bool) (parts []relabel.RowPart) {
	for _, text := range texts {
		parts = append(parts, partOf(text, title, trained))
	}
	return parts
}

// partOf is a message, or its JSON if that is no message.
func partOf(text, title string, trained bool) relabel.RowPart {
	m, err := chat.DecodeMessage(json.RawMessage(text))
	if err != nil {
		return relabel.RowPart{Title: title, Text: text, Trained: trained}
	}
	return relabel.RowPart{Title: title, Message: &m, Trained: trained}
}

func textParts(title string, texts []string, trained bool) (parts []relabel.RowPart) {
	for _, text := range texts {
		parts = append(parts, relabel.RowPart{Title: title, Text: text, Trained: trained})
	}
	return parts
}

// read reads row n of a file. That of a file which is not Parquet is found by reading those before it.
func (v View) read(f relabel.ManifestFile, n int, row *relabel.ExportRow) error {
	if v.name.IsParquet() {
		return v.with(f, func(r *File) error {
			if err := r.SeekRow(int64(n)); err != nil {
				return err
			}
			if err := r.Next(row); err != nil {
				return err
			}
			return v.addParts(row)
		})
	}
	return v.scan(f, func(i int, r *relabel.ExportRow) (bool, error) {
		if i < n {
			return true, nil
		}
		*row = *r
		// The reader's memory ends with it.
		row.IDs, row.Labels, row.Weights, row.AttentionMask = slices.Clone(r.IDs), slices.Clone(r.Labels), slices.Clone(r.Weights), slices.Clone(r.AttentionMask)
		return false, v.addParts(row)
	})
}

// scan calls do for the rows of a file that is not Parquet until it returns false.
func (v View) scan(f relabel.ManifestFile, do func(n int, row *relabel.ExportRow) (more bool, err error)) (err error) {
	bytes, err := v.open(f.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bytes.Close()) }()
	cannot := func(err error) error {
		return relabel.Errorf(relabel.CodeInvalid, "%s cannot be read", f.Path).Because(err)
	}
	r, err := OpenReader(v.name, v.dialect, bytes, bytes.Size())
	if err != nil {
		return cannot(err)
	}
	defer r.Close()
	var row relabel.ExportRow
	for n := 0; ; n++ {
		err := r.Next(&row)
		if errors.Is(err, io.EOF) {
			return cannot(relabel.Errorf(relabel.CodeInvalid, "it has %d rows, and manifest.json lists %d", n, f.Rows))
		}
		if err != nil {
			return cannot(err)
		}
		if more, err := do(n, &row); err != nil {
			return cannot(err)
		} else if !more || n+1 == f.Rows {
			return nil
		}
	}
}

// named returns the number of the row of a file with an id, -1 if there is none.
func (v View) named(f relabel.ManifestFile, id string) (found int, err error) {
	found = -1
	if v.name.IsParquet() {
		err = v.with(f, func(r *File) (err error) {
			found, err = r.find(id)
			return err
		})
		return found, err
	}
	err = v.scan(f, func(n int, row *relabel.ExportRow) (bool, error) {
		name := row.ID
		if row.Line != "" {
			var l textLine
			if err := json.Unmarshal([]byte(row.Line), &l); err != nil {
				return false, err
			}
			name = l.ID
		}
		if name == id {
			found = n
		}
		return found < 0, nil
	})
	return found, err
}
