package api

import (
	"fmt"

	"relabel"
)

// NewMix says how an export mixes labels.
type NewMix struct {
	Weights       *relabel.LabelWeights `json:"weights,omitempty" doc:"Factors of the weights of the run's own labels. Default: 1."`
	Sources       []NewMixSource        `json:"sources,omitempty" maxItems:"100" doc:"Further sources of labels, in order, such as [{\"run\": \"other\", \"weights\": {\"weight\": 0.5}}, {\"conversations\": \"general\"}]. Default: none."`
	LabelsPerTask int                   `json:"labels_per_task,omitempty" minimum:"1" maximum:"1000000" doc:"Maximum number of labels of a task (an instance id) over all sources, drawn by the run's seed; the others are excluded and counted as over_labels_per_task. Default: all."`
	Unique        bool                  `json:"unique,omitempty" doc:"Export a state with the same label once, from the first source that has it; the others are excluded and counted as duplicate. Default: each as often as it was collected."`
	Sampled       bool                  `json:"sampled,omitempty" doc:"Take the weights, of at most 1, as the probabilities with which labels are exported, drawn by the run's seed; each exported label then has weight 1, and the others are excluded and counted as not_sampled. For trainers without weights."`
}

// NewMixSource is a further source of an export's labels: a run or conversations.
type NewMixSource struct {
	Run           string `json:"run,omitempty" maxLength:"200" doc:"The run: its id, or its name if no other has it."`
	Conversations string `json:"conversations,omitempty" maxLength:"200" doc:"Instead of a run, a conversation set: its name or id. It takes no filters."`
	LabelSelection
	Weights *relabel.LabelWeights `json:"weights,omitempty" doc:"Factors of the weights of its labels. Default: 1."`
}

// Check returns CodeInvalid, naming the field, if the mix contradicts itself or does not fit the form.
func (m *NewMix) Check(f relabel.ExportForm) error {
	if m == nil {
		return nil
	}
	if m.Weights == nil && len(m.Sources) == 0 && m.LabelsPerTask == 0 && !m.Unique {
		return relabel.Errorf(relabel.CodeInvalid, "would change nothing: give sources, weights, labels_per_task or unique").On("mix")
	}
	if f.MaxLabels > 0 {
		return relabel.Errorf(relabel.CodeInvalid, "does not apply to a mix: give mix.labels_per_task, or weights with mix.sampled").On("max_labels")
	}
	if err := m.Weights.Check("mix.weights", m.Sampled); err != nil {
		return err
	}
	for i, s := range m.Sources {
		if err := s.Weights.Check(fmt.Sprintf("mix.sources[%d].weights", i), m.Sampled); err != nil {
			return err
		}
	}
	return nil
}
