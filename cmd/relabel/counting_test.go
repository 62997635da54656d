package main

import (
	"testing"

	"relabel"
	"relabel/cli"
	"relabel/modelfiles"
	"relabel/policy"
	"relabel/shard/shardtest"
	"relabel/store/storetest"
	"relabel/worker"
)

// A worker counts a prompt by the policy's registered tokenizer, as its endpoint is sent it.
func TestAWorkerCountsPromptsAsTheyAreSent(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), &database{Store: storetest.New(t)}
	files, err := modelfiles.ReadFolder(shardtest.Student(t))
	noError(t, err)
	registered, err := db.CreateTokenizer(ctx, "student", files)
	noError(t, err)
	res, err := openResources(cli.ResourceFlags{}, db)
	noError(t, err)
	policies := newPolicies(db, "", res, worker.NewMetrics(""), quietLog())
	count := newEnvironment(nil, nil, policies).Count
	if labels := newLabeller(db, 0, policies, "w", quietLog()); count == nil || labels.World.Count == nil {
		t.Fatal("nothing is counted")
	}

	tools := []relabel.Tool{{Name: "grep", Description: "Searches.", Parameters: `{"type":"object","properties":{}}`}}
	state := []relabel.Message{{Role: relabel.RoleUser, Content: "Repair the line."},
		{Role: relabel.RoleAssistant, Content: "\xff", ToolCalls: []relabel.ToolCall{{ID: "call_1_0", Name: "no such tool", Arguments: "{"}}},
		{Role: relabel.RoleTool, ToolCallID: "call_1_0", Content: "Malformed."}}
	p := relabel.Policy{Tokenizer: "student", TokenizerHash: registered.Hash, Server: relabel.ServerVLLM}
	_, student, err := res.tokenizers.Student(ctx, relabel.ExportForm{Tokenizer: p.Tokenizer, TokenizerHash: p.TokenizerHash})
	noError(t, err)
	for _, p.ToolFormat = range []relabel.ToolFormat{relabel.ToolsNative, relabel.ToolsText} {
		sent, sentTools := policy.Sent(p, state, tools)
		want, _, err := student.Converse(sent, sentTools).Prompt()
		noError(t, err)
		got, err := count(ctx, p, state, tools)
		noError(t, err)
		if got != len(want) || got == 0 {
			t.Errorf("%s: %d tokens, not %d", p.ToolFormat, got, len(want))
		}
	}
	if _, err := count(ctx, relabel.Policy{}, state, tools); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("a policy without a tokenizer: %v", err)
	}
}
