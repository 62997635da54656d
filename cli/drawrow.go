package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"relabel"
	"relabel/chat"
	"relabel/safetext"
)

// Drawing prints a row.
type Drawing struct {
	Out        io.Writer
	Manifest   relabel.Manifest
	View       relabel.View
	Path       string
	Number, Of int
	All        bool
	Colour     bool
	Words      vocabulary // without tokens, ids are printed as numbers
}

// The colours of supervised tokens, headings and masked tokens.
const (
	trainedColour = "\x1b[1;38;5;135m"
	headColour    = "\x1b[7;38;5;135m"
	maskedColour  = "\x1b[2m"
	plainColour   = "\x1b[0m"
)

// Tokens shown of each end of a long masked span.
const (
	shownBefore = 40
	shownAfter  = 120
)

func (d *Drawing) printf(format string, a ...any) { fmt.Fprintf(d.Out, format, a...) }

// paint colours text line by line, so that each line can be indented.
func (d *Drawing) paint(colour, text string) string {
	if !d.Colour || text == "" {
		return text
	}
	return colour + strings.ReplaceAll(text, "\n", plainColour+"\n"+colour) + plainColour
}

func (d *Drawing) Draw(row *relabel.ExportRow) {
	d.printf("%s  row %d of %d", d.Path, d.Number, d.Of)
	if row.ID != "" {
		d.printf("  %s", safetext.TerminalLine(row.ID))
	}
	d.printf("\n")
	if d.View == relabel.ViewMessages {
		d.messages(row)
		return
	}
	if row.Parts != nil {
		d.parts(row)
		return
	}
	trained := 0
	for _, label := range row.Labels {
		if label != relabel.Unsupervised {
			trained++
		}
	}
	d.printf("%d tokens, %d of them supervised\n", len(row.IDs), trained)
	for _, s := range row.Spans {
		d.printf("  %s/%d  %s, tokens %d to %d, %s, iteration %d, β %s, ids %s\n", safetext.TerminalLine(s.Trajectory), s.Turn, safetext.TerminalLine(s.Kind), s.Start, s.End(), weightWords(s), s.Iteration, number(s.Beta), safetext.TerminalLine(s.IDs))
	}
	if d.Words.tokens == nil {
		d.printf("Showing ids, because %s. Give the tokenizer's folder with --tokenizer.\n", safetext.TerminalLine(d.Words.why))
	}
	switch {
	case len(row.NodeStart) > 0:
		d.tree(row)
	case len(row.SeqStarts) > 0:
		for i, a := range row.SeqStarts {
			d.printf("\n── sequence %d of %d, tokens %d to %d\n", i+1, len(row.SeqStarts), a, a+row.SeqLengths[i])
			d.indented("", d.run(row, int(a), int(a+row.SeqLengths[i])))
		}
	default:
		d.printf("\n")
		d.indented("", d.run(row, 0, len(row.IDs)))
	}
}

func weightWords(s relabel.ExportSpan) string {
	if s.Weight == nil {
		return "weights differ by token"
	}
	return "weight " + number(s.Weight)
}

// tree prints the nodes of a tree row: leaves are indented below the trunk that they branch
// off, and the trunk continues after them.
func (d *Drawing) tree(row *relabel.ExportRow) {
	for i, start := range row.NodeStart {
		end := len(row.IDs)
		if i+1 < len(row.NodeStart) {
			end = int(row.NodeStart[i+1])
		}
		what, line, below := "trunk", "", "│ "
		switch row.NodeKind[i] {
		case relabel.LeafNode:
			what, line, below = "leaf", "├──", "│   ┆ "
		case relabel.PaddingNode:
			what, below = "padding", "  "
		}
		if row.NodeParent[i] < 0 {
			d.printf("\n")
		}
		d.printf("%s● node %d, %s", line, i, what)
		if row.NodeParent[i] >= 0 {
			d.printf(" after node %d", row.NodeParent[i])
		}
		d.printf(", tokens %d to %d, positions from %d\n", start, end, row.Positions[start])
		d.indented(below, d.run(row, int(start), end))
	}
}

// indented prints lines with a margin.
func (d *Drawing) indented(margin, text string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		d.printf("%s%s\n", margin, line)
	}
}

// run decodes the tokens from a to b, supervised and masked spans separately.
func (d *Drawing) run(row *relabel.ExportRow, a, b int) string {
	var out strings.Builder
	for a < b {
		end := a + 1
		trained := row.Labels[a] != relabel.Unsupervised
		for end < b && (row.Labels[end] != relabel.Unsupervised) == trained {
			end++
		}
		if trained {
			d.label(&out, row, a, end)
		} else {
			d.masked(&out, row, a, end)
		}
		a = end
	}
	return out.String()
}

// label prints supervised tokens after a heading with their turn.
func (d *Drawing) label(out *strings.Builder, row *relabel.ExportRow, a, b int) {
	head := ""
	for _, s := range row.Spans {
		if s.Start <= a && a < s.End() {
			head = fmt.Sprintf("turn %d %s", s.Turn, safetext.TerminalLine(s.Kind))
			if s.Weight == nil || *s.Weight != 1 {
				head += ", " + weightWords(s)
			}
		}
	}
	text := d.decode(row.IDs[a:b])
	if d.Colour {
		if head != "" {
			out.WriteString(d.paint(headColour, " "+head+" "))
		}
		out.WriteString(d.paint(trainedColour, text))
		return
	}
	out.WriteString("⟦")
	if head != "" {
		out.WriteString(head + ": ")
	}
	out.WriteString(text + "⟧")
}

// masked prints masked tokens; of a long span only the two ends.
func (d *Drawing) masked(out *strings.Builder, row *relabel.ExportRow, a, b int) {
	if n := b - a; d.All || n <= 2*(shownBefore+shownAfter) {
		out.WriteString(d.paint(maskedColour, d.decode(row.IDs[a:b])))
		return
	}
	out.WriteString(d.paint(maskedColour, d.decode(row.IDs[a:a+shownBefore])))
	fmt.Fprintf(out, "\n… %d tokens that are not trained on; --all shows them …\n", b-a-shownBefore-shownAfter)
	out.WriteString(d.paint(maskedColour, d.decode(row.IDs[b-shownAfter:b])))
}

// decode returns the sanitized text of ids, or the ids without a tokenizer.
func (d *Drawing) decode(ids []int32) string {
	if d.Words.tokens == nil {
		return strings.Trim(fmt.Sprint(ids), "[]") + " "
	}
	var raw []byte
	for _, id := range ids {
		raw = d.Words.tokens.AppendBytes(raw, id)
	}
	return safetext.Terminal(string(raw))
}

// messages prints a row of the messages view: the state, then the label in colour.
func (d *Drawing) messages(row *relabel.ExportRow) {
	var state []json.RawMessage
	var label struct {
		Turn    int             `json:"turn"`
		Message json.RawMessage `json:"message"`
		Weights []float32       `json:"weights"`
	}
	if json.Unmarshal([]byte(row.Messages), &state) != nil || json.Unmarshal([]byte(row.Label), &label) != nil {
		d.printf("Its JSON cannot be parsed. Raw content:\n%s\n%s\n", safetext.Terminal(row.Messages), safetext.Terminal(row.Label))
		return
	}
	for _, raw := range state {
		d.message(raw, maskedColour)
	}
	d.printf("\n%s %d weights\n", d.paint(headColour, fmt.Sprintf(" label of turn %d ", label.Turn)), len(label.Weights))
	d.message(label.Message, trainedColour)
}

// parts prints a row of text: what is trained on in colour, or in brackets.
func (d *Drawing) parts(row *relabel.ExportRow) {
	if d.View == relabel.ViewPreference {
		d.printf("%s: the chosen action is the label, the rejected one was executed; their distance is %v\n", d.View, row.Distance)
	}
	for _, p := range row.Parts {
		d.printf("\n── %s\n", safetext.TerminalLine(p.Head()))
		body := d.shorten(safetext.Terminal(p.Body()), p.Trained)
		switch {
		case !p.Trained:
			d.printf("%s\n", d.paint(maskedColour, body))
		case d.Colour:
			d.printf("%s\n", d.paint(trainedColour, body))
		default:
			d.printf("⟦%s⟧\n", body)
		}
	}
}

// Characters shown of each end of a long text that is not trained on.
const shownText = 400

// shorten cuts the middle out of a long text that is not trained on.
func (d *Drawing) shorten(text string, trained bool) string {
	all := []rune(text)
	if trained || d.All || len(all) <= 3*shownText {
		return text
	}
	return fmt.Sprintf("%s\n… %d characters that are not trained on; --all shows them …\n%s", string(all[:shownText]), len(all)-2*shownText, string(all[len(all)-shownText:]))
}

func (d *Drawing) message(raw json.RawMessage, colour string) {
	m, err := chat.DecodeMessage(raw)
	if err != nil {
		d.printf("%s\n", safetext.Terminal(string(raw)))
		return
	}
	d.printf("\n── %s %s\n", safetext.TerminalLine(m.Role), safetext.TerminalLine(m.ToolCallID))
	if m.ReasoningContent != "" {
		d.printf("%s\n", d.paint(colour, "(thinks) "+safetext.Terminal(m.ReasoningContent)))
	}
	if m.Content != "" {
		d.printf("%s\n", d.paint(colour, safetext.Terminal(m.Content)))
	}
	for _, call := range m.ToolCalls {
		d.printf("%s\n", d.paint(colour, fmt.Sprintf("%s %s(%s)", safetext.TerminalLine(call.ID), safetext.TerminalLine(call.Name), safetext.Terminal(call.Arguments))))
	}
}

// number shows a number that may be null.
func number(v *float32) string {
	if v == nil {
		return "null"
	}
	return fmt.Sprint(*v)
}
