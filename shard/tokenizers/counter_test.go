package tokenizers_test

import (
	"strings"
	"testing"

	"relabel"
	"relabel/shard/shardtest"
	"relabel/shard/tokenizers"
)

var (
	countedState = []relabel.Message{{Role: relabel.RoleSystem, Content: "You repair code."}, {Role: relabel.RoleUser, Content: "Repair the line."}}
	countedTools = []relabel.Tool{{Name: "grep", Description: "Searches.", Parameters: `{"type":"object","properties":{}}`}}
)

func TestAPromptHasAsManyTokensAsItsRendering(t *testing.T) {
	store := &registered{files: map[string]relabel.TokenizerFiles{}}
	o, err := tokenizers.NewOpener(store, "")
	must(t, err)
	ref := store.add(t, 0)
	p := relabel.Policy{Tokenizer: ref.Name, TokenizerHash: ref.Hash}
	_, student, err := o.Student(t.Context(), relabel.ExportForm{Tokenizer: ref.Name, TokenizerHash: ref.Hash})
	must(t, err)
	want, _, err := student.Converse(countedState, countedTools).Prompt()
	must(t, err)
	c := tokenizers.NewCounter(o)
	for range 2 {
		if n, err := c.Count(t.Context(), p, countedState, countedTools); err != nil || n != len(want) {
			t.Errorf("%d tokens, not %d: %v", n, len(want), err)
		}
	}
	bare, err := c.Count(t.Context(), p, countedState, nil)
	if err != nil || bare >= len(want) {
		t.Errorf("%d tokens without tools, %d with them: %v", bare, len(want), err)
	}
}

func TestAnUncountablePromptHasAReason(t *testing.T) {
	store := &registered{files: map[string]relabel.TokenizerFiles{}}
	o, err := tokenizers.NewOpener(store, shardtest.Student(t))
	must(t, err)
	ref := store.add(t, 0)
	c := tokenizers.NewCounter(o)
	broken := append([]relabel.Message{}, countedState...)
	broken = append(broken, relabel.Message{Role: relabel.RoleAssistant, Content: "half a pair: \xed\xa0\x80"})
	for says, p := range map[string]relabel.Policy{
		"the policy has no tokenizer":      {},
		"is a path and not registered":     {Tokenizer: "."},
		"chat template is a path":          {Tokenizer: ref.Name, TokenizerHash: ref.Hash, ChatTemplate: "own.jinja"},
		"this chat template cannot render": {Tokenizer: ref.Name, TokenizerHash: ref.Hash, TemplateText: "{{ 'x' }}"},
		"the prompt cannot be rendered: ":  {Tokenizer: ref.Name, TokenizerHash: ref.Hash},
	} {
		for range 2 {
			if _, err := c.Count(t.Context(), p, broken, nil); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), says) {
				t.Errorf("%q: %v", says, err)
			}
		}
	}
}

func TestOneStudentIsOpenedForAllItsPrompts(t *testing.T) {
	store := &registered{files: map[string]relabel.TokenizerFiles{}}
	o, err := tokenizers.NewOpener(store, "")
	must(t, err)
	c := tokenizers.NewCounter(o)
	count := func(ref relabel.TokenizerRef) {
		t.Helper()
		_, err := c.Count(t.Context(), relabel.Policy{Tokenizer: ref.Name, TokenizerHash: ref.Hash}, countedState, countedTools)
		must(t, err)
	}
	first := store.add(t, 0)
	count(first)
	for n := range 3 { // as many as are kept; more than the Opener keeps
		count(store.add(t, n+1))
		count(first)
	}
	if store.reads != 4 {
		t.Errorf("files are read %d times", store.reads)
	}
	for n := range 4 {
		count(store.add(t, n+1))
	}
	if count(first); store.reads < 6 {
		t.Error("all are kept")
	}
}
