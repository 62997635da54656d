package judge

import (
	"fmt"
	"strings"

	"relabel"
)

// Messages are the prompt about a record. rejected says why the answer before was invalid, "" for the first.
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
		ask += "\nYour answer before was not accepted: " + rejected + "."
	}
	return []relabel.Message{{Role: relabel.RoleSystem, Content: prompt.Text}, {Role: relabel.RoleUser, Content: ask}}
}
