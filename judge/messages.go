package judge

import (
	"bytes"
	"fmt"
	"strings"

	"relabel"
)

// Messages are the prompt about a record. rejected says why the answer before was invalid, "" for the first:
// it can quote the answer, and a trajectory can make a judge write control tokens, so it is encoded as the
// lines of a record are.
func Messages(prompt relabel.JudgePrompt, shown Shown, rejected string) []relabel.Message {
	modes := relabel.NotSubmittedModes
	if shown.Submitted {
		modes = relabel.SubmittedModes
	}
	names := make([]string, len(modes))
	for i, mode := range modes {
		names[i] = string(mode)
	}
	ask := fmt.Sprintf("%s\nsubmitted is %t, so mode is one of: %s. Answer with the JSON object only.", shown.Text, shown.Submitted, strings.Join(names, ", "))
	if rejected != "" {
		ask += "\nYour answer before was not accepted, for this reason: " + string(bytes.TrimSpace(line(rejected)))
	}
	return []relabel.Message{{Role: relabel.RoleSystem, Content: prompt.Text}, {Role: relabel.RoleUser, Content: ask}}
}
