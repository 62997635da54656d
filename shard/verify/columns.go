package verify

import (
	"cmp"
	"slices"
	"strings"

	"relabel"
	"relabel/shard/parquet"
)

// spansType is the type of the column spans, and ownSpansType the type where labels are the
// student's own actions.
const (
	spanFields   = "trajectory: string, turn: int32, kind: string, start: int32, length: int32, weight: float32, iteration: int32, beta: float32, ids: string"
	spansType    = "list<struct<" + spanFields + ">>"
	ownSpansType = "list<struct<" + spanFields + ", group_id: string, reward: float32>>"
)

// Columns of the views, in any order, and the metadata relabel.loss_mask.
var (
	messagesColumns     = []parquet.Field{{Name: "row_id", Type: "string"}, {Name: "messages_json", Type: "string"}, {Name: "tools_json", Type: "string"}, {Name: "label_json", Type: "string"}}
	textColumns         = []parquet.Field{{Name: "row_id", Type: "string"}, {Name: "prompt", Type: "string"}, {Name: "completion", Type: "string"}}
	conversationColumns = []parquet.Field{{Name: "row_id", Type: "string"}, {Name: "prompt", Type: "list<json>"}, {Name: "completion", Type: "list<json>"},
		{Name: "tools", Type: "string"}, {Name: "chat_template_kwargs", Type: "json"}}
	preferenceColumns = []parquet.Field{{Name: "row_id", Type: "string"}, {Name: "prompt", Type: "list<json>"}, {Name: "chosen", Type: "list<json>"}, {Name: "rejected", Type: "list<json>"},
		{Name: "tools", Type: "string"}, {Name: "chat_template_kwargs", Type: "json"}, {Name: "distance", Type: "float32"}, {Name: "iteration", Type: "int32"}, {Name: "outcome", Type: "string"}}
	bareColumns    = []parquet.Field{ids("input_ids"), mask("attention_mask"), ids("labels")}
	everyTokenView = []parquet.Field{{Name: "row_id", Type: "string"}, number("loss_weights")}
	tokenColumns   = map[relabel.View][]parquet.Field{
		relabel.ViewLinear: {ids("input_ids"), ids("labels"), mask("attention_mask"), mask("loss_mask")},
		relabel.ViewPacked: {ids("input_ids"), ids("labels"), ids("position_ids"), ids("seq_lengths"), ids("seq_start_id"), mask("loss_mask")},
		relabel.ViewTree: {ids("tree_ids"), ids("tree_labels"), ids("position_ids"), ids("subtree_end"), ids("node_start"), ids("node_parent"),
			ids("node_kind")},
	}
	signalColumns = map[relabel.Recipe][]parquet.Field{
		relabel.OPD:  {number("teacher_logprobs"), number("student_logprobs"), {Name: "spans", Type: ownSpansType}},
		relabel.GRPO: {number("advantages"), {Name: "spans", Type: ownSpansType}},
	}
	alignments = map[relabel.View]string{relabel.ViewLinear: "token", relabel.ViewPacked: "rolled-1"}
)

func ids(name string) parquet.Field { return parquet.Field{Name: name, Type: "list<int32>"} }
func number(name string) parquet.Field {
	return parquet.Field{Name: name, Type: "list<float32>"}
}
func mask(name string) parquet.Field { return parquet.Field{Name: name, Type: "list<int8>"} }

// checkColumns compares the file's columns and metadata with those of its view; false if the rows
// cannot be read as rows of the view.
func (f *fileCheck) checkColumns(r *parquet.Reader) bool {
	want := messagesColumns
	switch {
	case f.entry.View == relabel.ViewPromptCompletion && f.dialect() == relabel.DialectText:
		want = textColumns
	case f.entry.View == relabel.ViewPreference:
		want = preferenceColumns
	case f.entry.View == relabel.ViewPromptCompletion:
		want = conversationColumns
	case f.bare:
		want = bareColumns
	case f.entry.View != relabel.ViewMessages:
		signals, own := signalColumns[f.manifest.Recipe]
		if !own {
			signals = []parquet.Field{{Name: "spans", Type: spansType}}
		}
		want = slices.Concat(everyTokenView, tokenColumns[f.entry.View], signals)
	}
	fine := true
	have := r.Fields()
	for _, w := range want {
		i := slices.IndexFunc(have, func(h parquet.Field) bool { return h.Name == w.Name })
		if i < 0 || have[i].Type != w.Type {
			fine = false
			got := "missing"
			if i >= 0 {
				got = have[i].Type
			}
			f.refuse("columns", f.entry.Path, "", "%s is %s, expected %s", w.Name, got, w.Type)
		}
	}
	for _, h := range have {
		if !slices.Contains(want, h) && fine {
			f.refuse("columns", f.entry.Path, "", "the view has no column %s %s", h.Name, h.Type)
		}
	}
	for key, want := range map[string]string{"relabel.view": string(f.entry.View), "relabel.loss_mask": f.alignment()} {
		if got, _ := r.Metadata(key); got != want {
			f.refuse("columns", f.entry.Path, "", "the metadata %s is %q, expected %q", key, strings.ToValidUTF8(got, "?"), want)
		}
	}
	return fine
}

// alignment returns the alignment of the view's loss mask.
func (f *fileCheck) alignment() string {
	if f.bare {
		return "none"
	}
	return cmp.Or(alignments[f.entry.View], "none")
}
