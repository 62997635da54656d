package relabel

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// ExportFilters select trajectories for an export. A nil filter has the default of the run's
// recipe; false disables a filter.
type ExportFilters struct {
	Submitted    *bool // see ExportSelection
	Resolved     *bool
	Hit          *bool
	MinScore     *float64
	MixedRewards *bool
}

// defaultFilters are a recipe's default filters (paper table 2 and appendix A): sft exports
// resolved trajectories (of tasks to localise those with a hit), grpo groups with mixed rewards, the
// others valid submissions.
func (r Recipe) defaultFilters() (submitted, successful, mixed bool) {
	switch r {
	case SFT:
		return true, true, false
	case GRPO:
		return false, false, true
	}
	return true, false, false
}

// WithDefaults returns the selection with the given filters and the defaults of the run's recipe for the
// others. Resolved trajectories and those with a hit are submitted: Resolved or Hit implies Submitted, and
// Submitted = false disables the recipe's. CodeInvalid if both are given and contradict each other, if a
// filter does not apply to the kind of the run's tasks, or if grpo is to export groups with equal rewards.
func (s ExportSelection) WithDefaults(f ExportFilters, run Run) (ExportSelection, error) {
	is := func(chosen *bool, otherwise bool) bool {
		if chosen == nil {
			return otherwise
		}
		return *chosen
	}
	if err := f.fit(run.TaskKind); err != nil {
		return s, err
	}
	chosen, name := f.Resolved, "resolved"
	if run.TaskKind == Localise {
		chosen, name = f.Hit, "hit"
	}
	submitted, successful, mixed := run.Recipe.defaultFilters()
	if f.Submitted != nil && !*f.Submitted {
		if is(chosen, false) {
			return s, Errorf(CodeInvalid, "is false, but trajectories that are selected by %[1]s are always submitted: omit submitted or %[1]s", name).On("submitted")
		}
		successful = false
	}
	successful = is(chosen, successful)
	s.Resolved, s.Hit = successful && run.TaskKind != Localise, successful && run.TaskKind == Localise
	s.Submitted = successful || is(f.Submitted, submitted)
	s.MinScore = f.MinScore
	s.MixedRewards = is(f.MixedRewards, mixed)
	if run.Recipe == GRPO && !s.MixedRewards {
		return s, Errorf(CodeInvalid, "is false, but every advantage of a group with equal rewards is 0: omit it").On("mixed_rewards")
	}
	return s, nil
}

// fit refuses filters that select nothing among tasks of the kind.
func (f ExportFilters) fit(kind TaskKind) error {
	switch localise := kind == Localise; {
	case localise && f.Resolved != nil && *f.Resolved:
		return Errorf(CodeInvalid, "does not apply to tasks to localise, whose answers are scored and never resolved: give hit or min_score").On("resolved")
	case !localise && f.Hit != nil && *f.Hit:
		return Errorf(CodeInvalid, "applies to tasks to localise only; the run has %s: give resolved", kind.Words()).On("hit")
	case !localise && kind != Terminal && f.MinScore != nil:
		return Errorf(CodeInvalid, "applies to tasks to localise and tasks in a terminal, which have scores; the run has %s: give resolved", kind.Words()).On("min_score")
	}
	return nil
}

// ReliesOnVerdicts reports whether the selection depends on verdicts.
func (s ExportSelection) ReliesOnVerdicts() bool {
	return s.Resolved || s.Hit || s.MinScore != nil || s.MixedRewards || s.VerdictProtections > 0
}

// NewestProtections stands for the current ProtectionsVersion.
const NewestProtections = "newest"

// ParseProtections parses the minimum version of verdicts that an export accepts: "" is 0
// (any), "newest" the current ProtectionsVersion. CodeInvalid unless word is one of these or an
// existing version.
func ParseProtections(word string) (int, error) {
	switch word {
	case "":
		return 0, nil
	case NewestProtections:
		return ProtectionsVersion, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > ProtectionsVersion {
		return 0, Errorf(CodeInvalid, "is %.40q; must be newest or a version from 1 to %d", word, ProtectionsVersion).On("verdict_protections")
	}
	return n, nil
}

// Describe describes the selected trajectories and states in words, without the iterations.
func (s ExportSelection) Describe() string {
	text := "every finished trajectory"
	switch {
	case s.Conversations != nil:
		return "conversations of " + s.Conversations.Name
	case s.Resolved:
		text = "resolved trajectories"
	case s.Hit:
		text = "trajectories whose answer names a gold location"
	case s.Submitted:
		text = "valid submissions"
	}
	if s.MinScore != nil {
		text += fmt.Sprintf(" with a score of %v or more", *s.MinScore)
	}
	if s.MixedRewards {
		text += " of groups with mixed rewards"
	}
	if s.VerdictProtections > 0 {
		text += fmt.Sprintf(", with a verdict of version %d of the protections or newer", s.VerdictProtections)
	}
	if len(s.EndReasons) > 0 {
		text += fmt.Sprintf(", of those whose end is one of %v", s.EndReasons)
	}
	switch s.Agreement {
	case AgreementSame:
		text += ", where the label was executed"
	case AgreementDiffers:
		text += ", where the label was not executed"
	}
	if len(s.AllowBenchmarks) > 0 {
		text += ", with tasks of the benchmarks and exclusion lists " + strings.Join(s.AllowBenchmarks, ", ")
	}
	if len(s.ExcludeFlags) > 0 {
		text += ", without trajectories and states flagged " + strings.ReplaceAll(strings.Join(s.ExcludeFlags, ", "), AnyFlag, "with any flag")
	}
	return text
}

// DescribeIterations describes the iterations in words: a single one, or all up to it.
func (s ExportSelection) DescribeIterations() string {
	last := "the latest iteration"
	if s.Iteration > 0 {
		last = fmt.Sprintf("iteration %d", s.Iteration)
	}
	if s.Unfinished {
		last += ", as far as it was done"
	}
	if s.Aggregated && s.Iteration != 1 {
		return "iterations 1 to " + strings.TrimPrefix(last, "iteration ")
	}
	return last
}

// DefaultCapacity is the default number of tokens of a bin.
const DefaultCapacity = 65536

// WithDefaults returns the form with every field that has a default set. Fields that
// concern token views stay empty without such a view.
func (f ExportForm) WithDefaults() ExportForm {
	if len(f.Views) == 0 {
		f.Views = []View{ViewMessages}
	}
	if !f.Tokens() {
		return f
	}
	f.Capacity = cmp.Or(f.Capacity, DefaultCapacity)
	f.MaxLength = cmp.Or(f.MaxLength, f.Capacity)
	f.Normalisation = cmp.Or(f.Normalisation, PerToken)
	f.TooLong = cmp.Or(f.TooLong, CutTooLong)
	if f.ThinkingAlias == nil {
		f.ThinkingAlias = new(true)
	}
	return f
}
