package relabel

import (
	"fmt"
	"strings"
)

// Mix says how an export mixes labels: of further sources beside its own run, with weights, and each state
// with its label once.
type Mix struct {
	Weights       LabelWeights `json:"weights,omitzero" doc:"Factors of the weights of the run's own labels; absent: 1."`
	Sources       []MixSource  `json:"sources,omitempty" doc:"Further sources, in order; absent: none."`
	LabelsPerTask int          `json:"labels_per_task,omitempty" doc:"Maximum number of labels of a task (an instance id) over all sources; absent: all."`
	Unique        bool         `json:"unique,omitempty" doc:"Whether a state with the same label is exported once, from the first source that has it."`
	Sampled       bool         `json:"sampled,omitempty" doc:"Whether weights are probabilities with which labels are exported, each then with weight 1."`
}

// MixSource is a further source of an export's labels: another run, or other iterations of the same one.
type MixSource struct {
	Selection ExportSelection `json:"selection" doc:"What is exported of its run."`
	Weights   LabelWeights    `json:"weights,omitzero" doc:"Factors of the weights of its labels; absent: 1."`
}

// LabelWeights multiply w(s, a) of a source's labels: a label's factor is the product of all that apply.
type LabelWeights struct {
	Weight     *float64          `json:"weight,omitempty" exclusiveMinimum:"0" maximum:"1000" doc:"Factor of every label. Default: 1."`
	Iterations []IterationWeight `json:"iterations,omitempty" maxItems:"1000" doc:"Factors of the labels of single iterations. Default: none."`
	Betas      []BetaWeight      `json:"betas,omitempty" maxItems:"100" doc:"Factors by the iteration's β; iterations with κ have none. Default: none."`
	AgeDecay   *float64          `json:"age_decay,omitempty" exclusiveMinimum:"0" maximum:"1" doc:"Factor for each iteration by which a label is older than the newest selected one of its run: 0.5 halves the weight from round to round. Default: 1."`
}

// IterationWeight is the factor of an iteration's labels.
type IterationWeight struct {
	Iteration int     `json:"iteration" minimum:"1" maximum:"1000000" doc:"Number of the iteration."`
	Weight    float64 `json:"weight" exclusiveMinimum:"0" maximum:"1000" doc:"Factor."`
}

// BetaWeight is the factor of labels of iterations with a β from Min to Max.
type BetaWeight struct {
	Min    float64 `json:"min,omitempty" minimum:"0" maximum:"1" doc:"The smallest β. Default: 0."`
	Max    float64 `json:"max" minimum:"0" maximum:"1" doc:"The largest β."`
	Weight float64 `json:"weight" exclusiveMinimum:"0" maximum:"1000" doc:"Factor."`
}

// Of returns the factor of the labels of an iteration; newest is the number of the newest selected iteration
// of its run. It is the same on any machine, bit for bit.
func (w LabelWeights) Of(it Iteration, newest int) float64 {
	factor := 1.0
	if w.Weight != nil {
		factor = *w.Weight
	}
	for _, of := range w.Iterations {
		if of.Iteration == it.Number {
			factor *= of.Weight
		}
	}
	for _, of := range w.Betas {
		if it.Beta != nil && *it.Beta >= of.Min && *it.Beta <= of.Max {
			factor *= of.Weight
		}
	}
	for age := newest - it.Number; age > 0 && w.AgeDecay != nil; age-- {
		factor *= *w.AgeDecay
	}
	return factor
}

// IsOne reports whether every factor is 1.
func (w LabelWeights) IsOne() bool {
	one := func(f *float64) bool { return f == nil || *f == 1 }
	for _, of := range w.Iterations {
		if of.Weight != 1 {
			return false
		}
	}
	for _, of := range w.Betas {
		if of.Weight != 1 {
			return false
		}
	}
	return one(w.Weight) && one(w.AgeDecay)
}

// aboveOne returns the first field with a factor above 1, or "".
func (w LabelWeights) aboveOne() string {
	if w.Weight != nil && *w.Weight > 1 {
		return "weight"
	}
	for i, of := range w.Iterations {
		if of.Weight > 1 {
			return fmt.Sprintf("iterations[%d].weight", i)
		}
	}
	for i, of := range w.Betas {
		if of.Weight > 1 {
			return fmt.Sprintf("betas[%d].weight", i)
		}
	}
	return ""
}

// Check returns CodeInvalid, naming the field below at, if the weights contradict each other, or if they are
// to be probabilities and one is above 1. nil is no factor.
func (w *LabelWeights) Check(at string, sampled bool) error {
	if w == nil {
		return nil
	}
	seen := map[int]bool{}
	for i, of := range w.Iterations {
		if seen[of.Iteration] {
			return Errorf(CodeInvalid, "iteration %d has two weights: give one", of.Iteration).On(fmt.Sprintf("%s.iterations[%d]", at, i))
		}
		seen[of.Iteration] = true
	}
	for i, of := range w.Betas {
		if of.Min > of.Max {
			return Errorf(CodeInvalid, "min is above max: no β is in between").On(fmt.Sprintf("%s.betas[%d]", at, i))
		}
	}
	if field := w.aboveOne(); sampled && field != "" {
		return Errorf(CodeInvalid, "is above 1, but with sampled it is a probability: divide all weights by the largest").On(at + "." + field)
	}
	return nil
}

// Weighted reports whether labels may have weights other than 1.
func (m *Mix) Weighted() bool {
	if m == nil || m.Sampled {
		return false
	}
	for _, s := range m.Sources {
		if !s.Weights.IsOne() {
			return true
		}
	}
	return !m.Weights.IsOne()
}

// Compares reports whether all labels are compared with each other before rows are built: to count, or to
// exclude, those that several sources have, or to cap the labels of a task.
func (m *Mix) Compares() bool {
	return m != nil && (m.Unique || m.LabelsPerTask > 0 || len(m.Sources) > 0)
}

// DroppedLabel is a label of a part that the comparison of all labels of a mix excludes.
type DroppedLabel struct {
	Trajectory int    `json:"trajectory"` // index in the part
	Turn       int    `json:"turn"`
	Reason     string `json:"reason"`
}

// ComparedLabels counts the labels of a source in the comparison of all labels of a mix.
type ComparedLabels struct {
	Overlapping    int `json:"overlapping" doc:"Trajectories that an earlier source selects too. They are omitted here."`
	Labels         int `json:"labels" doc:"Labels of the source that were compared."`
	Duplicates     int `json:"duplicates" doc:"Labels whose state and label are those of an earlier one."`
	NearDuplicates int `json:"near_duplicates" doc:"Further labels that equal an earlier one but for numbers, hexadecimal ids and white space in state and label."`
}

// Source returns source n of an export: 0 is its own run, the others are those of its mix.
func (e Export) Source(n int) MixSource {
	switch {
	case e.Mix == nil:
		return MixSource{Selection: e.Selection}
	case n == 0:
		return MixSource{Selection: e.Selection, Weights: e.Mix.Weights}
	}
	return e.Mix.Sources[n-1]
}

// Sources returns the number of sources of an export, its own run included.
func (e Export) Sources() int {
	if e.Mix == nil {
		return 1
	}
	return 1 + len(e.Mix.Sources)
}

// Describe describes the mix in words.
func (m *Mix) Describe() string {
	var parts []string
	if n := len(m.Sources); n > 0 {
		parts = append(parts, "mixed with "+counted(n, "further source", "further sources"))
	}
	switch {
	case m.Sampled:
		parts = append(parts, "labels sampled by their weights")
	case m.Weighted():
		parts = append(parts, "with weights")
	}
	if m.Unique {
		parts = append(parts, "each state with the same label once")
	}
	if m.LabelsPerTask > 0 {
		parts = append(parts, fmt.Sprintf("at most %d labels of a task", m.LabelsPerTask))
	}
	return strings.Join(parts, ", ")
}

// ManifestMix describes a mix in a manifest.
type ManifestMix struct {
	LabelsPerTask int              `json:"labels_per_task"` // 0: all
	Unique        bool             `json:"unique"`
	Sampled       bool             `json:"sampled"`
	Parts         int              `json:"parts"`   // of the export: file k of part p has the number k · parts + p
	Sources       []ManifestSource `json:"sources"` // the export's own run first
}

// ManifestSource describes a source of a mix and what it gave.
type ManifestSource struct {
	Run        string              `json:"run"`
	Recipe     Recipe              `json:"recipe"`
	Teacher    string              `json:"teacher"` // policy id
	Selection  ExportSelection     `json:"selection"`
	Weights    LabelWeights        `json:"weights"`
	Parts      int                 `json:"parts"` // those of earlier sources come before
	Iterations []ManifestIteration `json:"iterations"`
	States     int                 `json:"states"`
	Excluded   map[string]int      `json:"excluded"`
	// Compared are counts before the exclusion of duplicates; null if labels were not compared.
	Compared *ComparedLabels `json:"compared"`
	// Weight is the sum of the weights of the source's tokens, without a token view of its labels, and Share
	// its part of the sum over all sources.
	Weight float64 `json:"weight"`
	Share  float64 `json:"share"`
}

// ManifestIteration describes an iteration of a source and what it gave.
type ManifestIteration struct {
	Iteration        int          `json:"iteration"`
	Student          string       `json:"student"` // policy id
	Beta             *float64     `json:"beta"`
	Rho              *RhoSchedule `json:"rho"`
	LabelRule        ManifestRule `json:"label_rule"`
	Factor           float64      `json:"factor"` // of the weights of its labels; with sampled their probability
	Labels           int          `json:"labels"`
	SupervisedTokens int64        `json:"supervised_tokens"`
	Weight           float64      `json:"weight"` // as of the source
}
