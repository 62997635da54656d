package main

import (
	"testing"

	"relabel"
	"relabel/cli"
	"relabel/modelfiles"
	"relabel/policy"
	"relabel/shard/shardtest"
	"relabel/store/localpg"
	"relabel/store/storetest"
)

// A worker counts a prompt by the policy's registered tokenizer, as its endpoint is sent it.
func TestAWorkerCountsPromptsAsSent(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), &localpg.Database{Store: storetest.New(t)}
	files, err := modelfiles.ReadFolder(shardtest.Student(t))
	noError(t, err)
	registered, err := db.CreateTokenizer(ctx, "student", files)
	noError(t, err)
	p, err := openProcess(db, t.TempDir(), cli.ResourceFlags{}, quietLog())
	noError(t, err)
	w := &work{process: p, policies: p.newPolicies("", nil)}
	count := w.environment().Count
	if count == nil || w.newLabeller().World.Count == nil {
		t.Fatal("nothing is counted")
	}

	tools := []relabel.Tool{{Name: "grep", Description: "Searches.", Parameters: `{"type":"object","properties":{}}`}}
	state := []relabel.Message{{Role: relabel.RoleUser, Content: "Repair the line."},
		{Role: relabel.RoleAssistant, Content: "\xff", ToolCalls: []relabel.ToolCall{{ID: "call_1_0", Name: "no such tool", Arguments: "{"}}},
		{Role: relabel.RoleTool, ToolCallID: "call_1_0", Content: "Malformed."}}
	of := relabel.Policy{Tokenizer: "student", TokenizerHash: registered.Hash, Server: relabel.ServerVLLM}
	_, student, err := p.tokenizers.Student(ctx, relabel.ExportForm{Tokenizer: of.Tokenizer, TokenizerHash: of.TokenizerHash})
	noError(t, err)
	for _, of.ToolFormat = range []relabel.ToolFormat{relabel.ToolsNative, relabel.ToolsText} {
		sent, sentTools := policy.Sent(of, state, tools)
		want, _, err := student.Converse(sent, sentTools).Prompt()
		noError(t, err)
		got, err := count(ctx, of, state, tools)
		noError(t, err)
		if got != len(want) || got == 0 {
			t.Errorf("%s: %d tokens, not %d", of.ToolFormat, got, len(want))
		}
	}
	if _, err := count(ctx, relabel.Policy{}, state, tools); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("a policy without a tokenizer: %v", err)
	}
}
