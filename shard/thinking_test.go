package shard

import (
	"encoding/json"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/render"
	"relabel/shard/shardtest"
)

// TestReasoningIsGivenAsThinkingUnlessRefused renders with a template that reads thinking,
// as those of gpt-oss and LFM do.
func TestReasoningIsGivenAsThinkingUnlessRefused(t *testing.T) {
	folder := shardtest.Student(t)
	raw, err := os.ReadFile(filepath.Join(folder, relabel.TokenizerConfig))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Template string `json:"chat_template"`
	}
	if err := json.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	form := relabel.ExportForm{Tokenizer: folder, TemplateText: strings.ReplaceAll(config.Template, "reasoning_content", "thinking"), Reasoning: relabel.ReasoningKeep}
	label := relabel.Message{Role: relabel.RoleAssistant, Content: "I look.", ReasoningContent: "It is in the parser.",
		ToolCalls: []relabel.ToolCall{{ID: relabel.CallID(1, 0), Name: "finish", Arguments: "{}"}}}
	opening := []relabel.Message{{Role: relabel.RoleSystem, Content: "s"}, {Role: relabel.RoleUser, Content: "u"}}
	for _, c := range []struct {
		alias *bool
		shown bool
	}{{nil, true}, {new(true), true}, {new(false), false}} {
		form.ThinkingAlias = c.alias
		student, err := render.Open(form)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := student.Converse(opening, nil).Label(label); (err == nil) != c.shown {
			t.Errorf("with the alias %v: %v", c.alias, err)
		}
	}

	mixing := mix{Rand: rand.New(rand.NewSource(1)), beta: 0.5, turns: 4, long: 40}
	s := newFixedStore(mixing.trajectory(1, 0))
	for _, alias := range []*bool{nil, new(false)} {
		s.newExport("alias", relabel.ExportSelection{})
		s.export.Form = relabel.ExportForm{Views: []relabel.View{relabel.ViewLinear}, Tokenizer: folder, ThinkingAlias: alias}.WithDefaults()
		m := readManifest(t, export(t, s, newTestExporter(t, s)).Directory)
		if got := m.Template.ThinkingAlias; got == nil || *got != (alias == nil) {
			t.Errorf("the manifest says %v of %v", got, alias)
		}
	}
}
