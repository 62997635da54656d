package cli

import (
	"strings"
	"testing"

	"relabel"
	"relabel/shard/shardtest"
)

// shownRow draws a row with the small student's tokens.
func shownRow(t *testing.T, view relabel.View, row relabel.ExportRow, colour, all bool) string {
	t.Helper()
	words, err := openTokenizer(shardtest.Student(t))
	noError(t, err)
	var out strings.Builder
	d := Drawing{Out: &out, View: view, Path: string(view) + "/00000.parquet", Number: 3, Of: 9, Colour: colour, All: all, Words: vocabulary{tokens: words}}
	d.Draw(&row)
	return out.String()
}

// ids are the tokens of parts of a row.
func ids(t *testing.T, parts ...string) (all [][]int32) {
	t.Helper()
	words, err := openTokenizer(shardtest.Student(t))
	noError(t, err)
	for _, p := range parts {
		all = append(all, words.Encode(nil, p))
	}
	return all
}

// labelled makes a row of parts, of which those with an odd number are trained on.
func labelled(t *testing.T, parts ...string) (row relabel.ExportRow) {
	w := float32(0.5)
	for i, p := range ids(t, parts...) {
		if i%2 == 1 {
			row.Spans = append(row.Spans, relabel.ExportSpan{Trajectory: "t", Turn: i, Kind: "leaf", Start: len(row.IDs), Length: len(p), Weight: &w, Iteration: 1, IDs: "rendered"})
		}
		for _, id := range p {
			row.IDs, row.Labels = append(row.IDs, id), append(row.Labels, map[bool]int32{true: id, false: relabel.Unsupervised}[i%2 == 1])
		}
	}
	row.ID = "t/1"
	return row
}

func TestARowIsShownWithItsSupervisedTokens(t *testing.T) {
	row := labelled(t, "user\nlook\x1b[31m\u202e", "the command<|im_end|>")
	got := shownRow(t, relabel.ViewLinear, row, false, false)
	want := `linear/00000.parquet  row 3 of 9  t/1
36 tokens, 6 of them supervised
  t/1  leaf, tokens 30 to 36, weight 0.5, iteration 1, β null, ids rendered

user
look␛[31m‹U+202E›⟦turn 1 leaf, weight 0.5: the command<|im_end|>⟧
`
	_, gotBody, _ := strings.Cut(got, "β null")
	_, wantBody, _ := strings.Cut(want, "β null")
	if gotBody != wantBody || !strings.HasPrefix(got, "linear/00000.parquet  row 3 of 9  t/1\n") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	coloured := shownRow(t, relabel.ViewLinear, row, true, false)
	if !strings.Contains(coloured, trainedColour+"the command<|im_end|>"+plainColour) || !strings.Contains(coloured, maskedColour+"user"+plainColour+"\n") || strings.Contains(coloured, "\x1b[31m") {
		t.Errorf("in colour: %q", coloured)
	}
}

func TestBranchesOfATreeRowAreIndented(t *testing.T) {
	row := labelled(t, "system", "the command<|im_end|>")
	n := int32(len(ids(t, "system")[0]))
	row.NodeStart, row.NodeParent, row.NodeKind = []int32{0, n}, []int32{-1, 0}, []int32{relabel.TrunkNode, relabel.LeafNode}
	row.Positions = make([]int32, len(row.IDs))
	got := shownRow(t, relabel.ViewTree, row, false, false)
	for _, want := range []string{"\n● node 0, trunk, tokens 0 to 1, positions from 0\n│ system\n", "\n├──● node 1, leaf after node 0, tokens 1 to", "\n│   ┆ ⟦turn 1 leaf, weight 0.5: the command<|im_end|>⟧\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
}

func TestALongPrefixIsShortenedWithANote(t *testing.T) {
	row := labelled(t, strings.Repeat("grep line\n", 300), "the command<|im_end|>")
	folded, all := shownRow(t, relabel.ViewLinear, row, false, false), shownRow(t, relabel.ViewLinear, row, false, true)
	if strings.Count(folded, "grep") > 60 || !strings.Contains(folded, "tokens that are not trained on; --all shows them") || strings.Count(all, "grep") != 300 {
		t.Errorf("folded:\n%s", folded)
	}
}

func TestSequencesOfAPackedRowAreShownSeparately(t *testing.T) {
	row := labelled(t, "system", "the command<|im_end|>", "user", "and<|im_end|>")
	first := row.Spans[0].End()
	row.SeqStarts, row.SeqLengths = []int32{0, int32(first)}, []int32{int32(first), int32(len(row.IDs) - first)}
	got := shownRow(t, relabel.ViewPacked, row, false, false)
	if !strings.Contains(got, "── sequence 2 of 2, tokens") || !strings.Contains(got, "\nuser⟦turn 3 leaf, weight 0.5: and<|im_end|>⟧\n") {
		t.Error(got)
	}
}

func TestAStateIsShownAsMessages(t *testing.T) {
	row := relabel.ExportRow{ID: "t/2", Messages: `[{"role":"system","content":"a\u001b]0;x\u0007"},{"role":"user","content":"b"}]`,
		Label: `{"turn":2,"message":{"role":"assistant","content":"c","tool_calls":[{"id":"call_2_0","type":"function","function":{"name":"execute_bash","arguments":"{}"}}]},"weights":[1,1]}`}
	got := shownRow(t, relabel.ViewMessages, row, false, false)
	for _, want := range []string{"── system \na␛]0;x␇\n", " label of turn 2  2 weights", "── assistant \nc\ncall_2_0 execute_bash({})\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
}

func TestARowOfTextIsShownWithWhatIsTrainedOn(t *testing.T) {
	state := relabel.Message{Role: relabel.RoleUser, Content: "look\x1b[31m " + strings.Repeat("x", 3000)}
	label := relabel.Message{Role: relabel.RoleAssistant, ReasoningContent: "hm", Content: "I look.", ToolCalls: []relabel.ToolCall{{ID: "call_1_0", Name: "bash", Arguments: `{"command": "ls"}`}}}
	row := relabel.ExportRow{ID: "t/1", Parts: []relabel.RowPart{{Message: &state}, {Title: "completion", Message: &label, Trained: true}, {Title: "raw", Text: "{"}}}
	got := shownRow(t, relabel.ViewPromptCompletion, row, false, false)
	for _, part := range []string{"row 3 of 9  t/1", "── user\nlook␛[31m ", "characters that are not trained on; --all shows them",
		"── completion assistant\n⟦(thinks) hm\nI look.\ncall_1_0 bash({\"command\": \"ls\"})⟧\n", "── raw\n{\n"} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in\n%s", part, got)
		}
	}
	if all := shownRow(t, relabel.ViewChat, row, true, true); !strings.Contains(all, trainedColour+"I look."+plainColour) || !strings.Contains(all, strings.Repeat("x", 3000)) {
		t.Errorf("in colour: %q", all)
	}
	row.Distance = 0.5
	if got := shownRow(t, relabel.ViewPreference, row, false, true); !strings.Contains(got, "the chosen action is the label, the rejected one was executed; their distance is 0.5") {
		t.Errorf("of preferences: %s", got)
	}
}
