package relabel

import (
	"fmt"
	"strings"
)

// HintSource says where the located functions come from that a run to repair gives its agents as hints. They
// are copied when the run is created, so that neither later answers nor a deletion change a prompt.
type HintSource struct {
	RunID       ID     `json:"run_id" doc:"The run that located them. It may have been deleted since."`
	Run         string `json:"run" doc:"Its name."`
	IterationID ID     `json:"iteration_id" doc:"Its evaluation whose answers they are."`
	Evaluation  int    `json:"evaluation" doc:"Number of the evaluation."`
	Top         int    `json:"top" doc:"How many entries of each ranked answer are given at most."`
	Instances   int    `json:"instances" doc:"Instances of the evaluation."`
	Answers     int    `json:"answers" doc:"Of these, those with an answer."`
	Tasks       int    `json:"tasks" doc:"Tasks of the run's task set that have hints. Tasks of benchmarks have them too."`
}

// Text says where hints come from, and how many tasks have them.
func (h HintSource) Text() string {
	return fmt.Sprintf("hints: the first %d entries of evaluation %d of %s, which has answers for %d of %d instances; %d tasks of this task set have hints",
		h.Top, h.Evaluation, h.Run, h.Answers, h.Instances, h.Tasks)
}

// DefaultHints is how many entries of a ranked answer are hints, as in Recall@5.
const DefaultHints = 5

// hints is the text of {hints_text}: the data set's hints, then the located functions.
func (t Task) hints() string {
	if len(t.Located) == 0 {
		return t.HintsText
	}
	var text strings.Builder
	if strings.TrimSpace(t.HintsText) != "" {
		text.WriteString(t.HintsText + "\n\n")
	}
	text.WriteString("A search of the repository found these places for the change, the most probable one first:\n")
	for i, name := range t.Located {
		fmt.Fprintf(&text, "\n%d. %s", i+1, name)
	}
	return text.String()
}
