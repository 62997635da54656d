package shard

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"relabel"
)

// summary is what the final step needs to know about a part besides its files.
type summary struct {
	States       int                          `json:"states"` // exported labelled states
	Excluded     map[string]int               `json:"excluded"`
	Iterations   []iterationSummary           `json:"iterations"`
	Views        map[relabel.View]viewFigures `json:"views"`
	LinearTokens int64                        `json:"linear_tokens"` // tokens of the labels' sequences, even if no view contains them
	TreeTokens   int64                        `json:"tree_tokens"`   // tokens of their trees
	Special      int                          `json:"special"`       // occurrences of special tokens' text in messages
	Served       int                          `json:"served"`        // labels with the IDs that their server returned
	SpecialTools int                          `json:"special_tools"` // occurrences of special tokens' text in the run's tools
	SpecialTold  int                          `json:"special_told"`  // the same in the tools of conversations
	Prompts      promptCheck                  `json:"prompts"`
	Student      *studentSummary              `json:"student"` // nil without a token view
	Groups       relabel.ManifestGroups       `json:"groups"`
	Rewards      map[string][]float64         `json:"rewards"` // of all members of the groups with rows, by group ID
	TooLong      relabel.ManifestTooLong      `json:"too_long"`
	Preferences  relabel.PreferenceCounts     `json:"preferences"`
	Trajectories relabel.TrajectoryCounts     `json:"trajectories"`
	Protections  map[string]int               `json:"protections"` // trajectories with a row, by the protections' version of their verdict
	Tasks        map[string]taskFacts         `json:"tasks"`       // with an exported label, by id
	Secrets      relabel.ManifestSecrets      `json:"secrets"`
	unscanned    bool                         // whether an earlier version, which did not scan, built a part
}

// iterationSummary describes an iteration with rows in a part.
type iterationSummary struct {
	Number  int                  `json:"number"`
	Beta    *float64             `json:"beta"`
	Student relabel.Policy       `json:"student"`
	Teacher relabel.Policy       `json:"teacher"`
	Rho     *relabel.RhoSchedule `json:"rho"`
	Rule    relabel.LabelRule    `json:"label_rule"`

	// Of exports with a mix.
	Labels     int     `json:"labels,omitempty"`
	Supervised int64   `json:"supervised,omitempty"` // tokens
	Weight     float64 `json:"weight,omitempty"`     // of all these tokens; without a token view of the labels
}

// studentSummary describes what the labels were rendered with.
type studentSummary struct {
	TokenizerSHA256 string                `json:"tokenizer_sha256"`
	TemplateSHA256  string                `json:"template_sha256"`
	Arguments       relabel.ArgumentsForm `json:"arguments"`
	Stop            string                `json:"stop"`
	StopID          int32                 `json:"stop_id"`
	PadID           int32                 `json:"pad_id"`
	ModelCheck      relabel.ModelCheck    `json:"model_check"`
}

// summarize returns the summary of a part.
func summarize(b *selector, all []*labelled, figures map[relabel.View]viewFigures) summary {
	s := summary{Excluded: map[string]int{}, Views: figures}
	s.mergeSecrets(relabel.ManifestSecrets{})
	for _, l := range all {
		s.add(b, l)
	}
	if b.student != nil {
		s.SpecialTools = b.student.SpecialInTools(b.run.Prompts.Tools)
		s.Student = &studentSummary{b.student.Tokens.SHA256(), b.student.TemplateSHA256, b.student.Arguments, b.student.Stop, b.student.StopID, b.student.PadID, b.model}
	}
	return s
}

func (s *summary) add(b *selector, l *labelled) {
	s.States += len(l.keep)
	s.TooLong = s.TooLong.Plus(l.tooLong)
	s.Preferences = s.Preferences.Plus(l.preferences)
	s.addGroup(l)
	for _, line := range l.excluded {
		if line.States > 0 { // a trajectory without states is listed but not counted
			s.Excluded[l.counted(line.Reason)] += line.States
		}
	}
	if len(l.keep) == 0 {
		return
	}
	if version := l.Trajectory.Protections; version != nil {
		s.addProtections(strconv.Itoa(*version), 1)
	}
	if l.Group != nil {
		s.addRewards(l.group, l.Group.Rewards)
	}
	s.Trajectories = s.Trajectories.Plus(countsOf(l))
	s.addSecrets(b, l)
	if !l.notCollected {
		s.addTask(l.taskID, l.task)
	}
	s.Special += l.special
	s.SpecialTold += l.inTools
	s.Prompts = s.Prompts.plus(l.prompts)
	for _, r := range l.roots {
		s.TreeTokens += int64(r.Tokens())
		for _, sequence := range r.Linear() {
			s.LinearTokens += int64(sequence.Length())
		}
		for span := range r.Spans {
			if span.Served {
				s.Served++
			}
		}
	}
	s.addIteration(iterationOf(l))
}

// iterationOf describes a trajectory's iteration, with the labels of this trajectory alone.
func iterationOf(l *labelled) iterationSummary {
	it := iterationSummary{Number: l.Iteration.Number, Beta: l.Iteration.Beta, Student: l.Student, Teacher: l.Teacher, Rho: l.Iteration.Rho,
		Rule: cmp.Or(l.Iteration.LabelRule, relabel.LabelAll), Labels: len(l.keep)}
	for _, t := range slices.Sorted(maps.Keys(l.keep)) {
		if l.roots == nil {
			it.Weight++
		}
		for _, w := range l.keep[t] {
			it.Supervised++
			it.Weight += float64(w)
		}
	}
	return it
}

// counted is the reason under which states of a trajectory are counted: one for each benchmark.
func (l *labelled) counted(reason Reason) string {
	if reason == InBenchmark && l.Benchmark != "" {
		return relabel.BenchmarkReason(l.Benchmark)
	}
	return string(reason)
}

// addGroup counts the group of a trajectory, unless a benchmark reserves its task: then all its
// members are excluded.
func (s *summary) addGroup(l *labelled) {
	switch {
	case l.Group == nil || !l.Group.First || l.Benchmark != "":
	case l.Group.HasMixedRewards():
		s.Groups.Mixed++
	case l.Group.TooSmall():
		s.Groups.TooSmall++
	default:
		s.Groups.Equal++
	}
}

// countsOf counts a trajectory with at least one exported state.
func countsOf(l *labelled) relabel.TrajectoryCounts {
	verdict := string(cmp.Or(l.Trajectory.Verdict, "none"))
	counts := relabel.TrajectoryCounts{Count: 1, Verdicts: map[string]int{verdict: 1}, Kappas: map[string]int{}, Executors: l.actors}
	if kappa := l.Trajectory.Kappa; kappa != nil {
		counts.Kappas[strconv.Itoa(*kappa)] = 1
	}
	return counts
}

func (s *summary) addRewards(group string, rewards []float64) {
	if s.Rewards == nil {
		s.Rewards = map[string][]float64{}
	}
	s.Rewards[group] = rewards
}

func (s *summary) addProtections(version string, n int) {
	if s.Protections == nil {
		s.Protections = map[string]int{}
	}
	s.Protections[version] += n
}

// addIteration adds an iteration, or the labels of one that is there.
func (s *summary) addIteration(it iterationSummary) {
	i := slices.IndexFunc(s.Iterations, func(had iterationSummary) bool { return had.Number == it.Number })
	if i < 0 {
		s.Iterations = append(s.Iterations, it)
		return
	}
	had := &s.Iterations[i]
	had.Labels, had.Supervised, had.Weight = had.Labels+it.Labels, had.Supervised+it.Supervised, had.Weight+it.Weight
}

// merge adds the next part. CodeConflict if it was rendered with other files.
func (s *summary) merge(raw json.RawMessage) error {
	var next summary
	if err := json.Unmarshal(raw, &next); err != nil {
		return err
	}
	if s.Student != nil && next.Student != nil && *s.Student != *next.Student {
		return relabel.Errorf(relabel.CodeConflict, "the machines that built it have different tokenizer or template files: make them identical and start the export again")
	}
	s.Student = next.Student
	s.States, s.Special, s.Served = s.States+next.States, s.Special+next.Special, s.Served+next.Served
	s.LinearTokens, s.TreeTokens = s.LinearTokens+next.LinearTokens, s.TreeTokens+next.TreeTokens
	s.SpecialTools = max(s.SpecialTools, next.SpecialTools) // the same in all parts of a source
	s.SpecialTold += next.SpecialTold
	s.Groups = s.Groups.Plus(next.Groups)
	for group, rewards := range next.Rewards {
		s.addRewards(group, rewards)
	}
	s.TooLong = s.TooLong.Plus(next.TooLong)
	s.Preferences = s.Preferences.Plus(next.Preferences)
	s.Prompts = s.Prompts.plus(next.Prompts)
	s.Trajectories = s.Trajectories.Plus(next.Trajectories)
	s.mergeSecrets(next.Secrets)
	for id, facts := range next.Tasks {
		s.addTask(id, facts)
	}
	s.unscanned = s.unscanned || next.Secrets.Rules == 0
	for version, n := range next.Protections {
		s.addProtections(version, n)
	}
	for reason, n := range next.Excluded {
		s.Excluded[reason] += n
	}
	for view, f := range next.Views {
		s.Views[view] = s.Views[view].plus(f)
	}
	for _, it := range next.Iterations {
		s.addIteration(it)
	}
	return nil
}

// promptCheck returns the comparison of all prompts, nil without a token view.
func (s summary) promptCheck(f relabel.ExportForm) *relabel.PromptCheck {
	if !f.Tokens() {
		return nil
	}
	return (*relabel.PromptCheck)(&s.Prompts)
}

func newSummary() summary {
	return summary{Excluded: map[string]int{}, Views: map[relabel.View]viewFigures{}}
}
