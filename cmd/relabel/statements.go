package main

import (
	"context"

	"relabel"
	"relabel/cli"
	"relabel/policy"
	"relabel/taskbuild"
	"relabel/taskbuild/statement"
)

// openStatements returns what writes problem statements, and a name that changes with what it writes; nil and
// "" without a model. It asks nothing.
func openStatements(f cli.StatementFlags) (w taskbuild.StatementWriter, name string, err error) {
	p, err := f.Policy()
	if err != nil || p == nil {
		return nil, "", err
	}
	client, err := policy.Open(*p, policy.Options{Secrets: policy.Secrets{Dir: f.Secrets}})
	if err != nil {
		return nil, "", cli.OnFlag(err, "--statement-url")
	}
	name = p.BaseURL + " " + p.Model
	if f.StatementHideFiles {
		name += " without files"
	}
	return statement.Writer{Asker: asker{client, p.Sampling}, HideFiles: f.StatementHideFiles}, name, nil
}

// asker implements statement.Asker.
type asker struct {
	client   *policy.Client
	sampling relabel.Sampling
}

// Ask implements statement.Asker.
func (a asker) Ask(ctx context.Context, conversation []relabel.Message) (text string, cut bool, err error) {
	answer, err := a.client.Complete(ctx, relabel.ChatRequest{Messages: conversation, Sampling: a.sampling, T: 1, Purpose: relabel.PurposeAct})
	return answer.Message.Content, answer.FinishReason == "length", err
}
