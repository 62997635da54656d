// Package statement lets a model write problem statements from the diffs of fixes. It refuses a statement that
// gives the fix away, says why, and asks again.
package statement

import (
	"context"
	_ "embed" // the prompt
	"fmt"
	"strings"

	"relabel"
	"relabel/taskbuild"
)

//go:embed prompt.txt
var prompt string

// Asker asks a model. It is safe for concurrent use.
type Asker interface {
	// Ask returns the text of the model's next message; cut if the model had no tokens left to end it. It
	// has retried what can be retried.
	Ask(ctx context.Context, conversation []relabel.Message) (text string, cut bool, err error)
}

// tries is how many statements of a change are asked for.
const tries = 3

// What a model reads of a change, in bytes.
const (
	maxPatch = 24_000
	maxTests = 12_000
	maxNames = 20
)

// Writer implements taskbuild.StatementWriter.
type Writer struct {
	Asker Asker
	// HideFiles refuses statements that name a file that the fix changes.
	HideFiles bool
}

// Write implements taskbuild.StatementWriter. After three statements that cannot be used the change has none.
func (w Writer) Write(ctx context.Context, r taskbuild.StatementRequest) (string, *taskbuild.Refusal, error) {
	conversation := []relabel.Message{{Role: relabel.RoleSystem, Content: prompt}, {Role: relabel.RoleUser, Content: describe(r)}}
	check := newCheck(r, w.HideFiles)
	var problem fault
	for range tries {
		answer, cut, err := w.Asker.Ask(ctx, conversation)
		if err != nil {
			return "", nil, err
		}
		text := report(answer)
		if problem = check.of(text); problem.says == "" && !cut {
			return text, nil, nil
		}
		if cut {
			problem = fault{taskbuild.ReasonNoStatement, "it was cut off at the limit of tokens"}
		}
		conversation = append(conversation, relabel.Message{Role: relabel.RoleAssistant, Content: shortened(text, maxStatement)},
			relabel.Message{Role: relabel.RoleUser, Content: "This report cannot be used: " + problem.says + ". Write the whole report again without that."})
	}
	return "", &taskbuild.Refusal{Reason: problem.reason, Detail: fmt.Sprintf("the last of %d statements of the model: %s", tries, problem.says)}, nil
}

// describe tells a model about a change.
func describe(r taskbuild.StatementRequest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Project: %s\n\nThe change:\n\n%s\n", r.Repo, shortened(r.Patch, maxPatch))
	if r.TestPatch != "" {
		fmt.Fprintf(&b, "\nThe change of the tests:\n\n%s\n", shortened(r.TestPatch, maxTests))
	}
	b.WriteString("\nTests that fail without the change:\n\n")
	for _, name := range r.Failing[:min(len(r.Failing), maxNames)] {
		fmt.Fprintf(&b, "- %s\n", name)
	}
	if more := len(r.Failing) - maxNames; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	if r.Output != "" {
		fmt.Fprintf(&b, "\nWhat they print:\n\n%s\n", r.Output)
	}
	return b.String()
}

// report returns an answer without reasoning and without a fence around all of it.
func report(answer string) string {
	if _, after, found := strings.Cut(answer, "</think>"); found {
		answer = after
	}
	answer = strings.TrimSpace(answer)
	if first, rest, ok := strings.Cut(answer, "\n"); ok && (first == "```" || first == "```markdown" || first == "```text") {
		if inner, ended := strings.CutSuffix(rest, "```"); ended && !strings.Contains(inner, "```") {
			answer = strings.TrimSpace(inner)
		}
	}
	return answer
}

// shortened cuts a text after some bytes.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "\n… (the rest is left out)"
}
