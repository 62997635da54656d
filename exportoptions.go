package relabel

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// ExportFilters say which trajectories are exported. A nil filter takes the default of the
// run's recipe; false switches a filter off.
type ExportFilters struct {
	Submitted    *bool // see ExportSelection
	Resolved     *bool
	MixedRewards *bool
}

// defaultFilters are a recipe's usual filters (paper table 2 and appendix A): sft takes
// resolved trajectories, grpo the groups of mixed reward, the other recipes valid submissions.
func (r Recipe) defaultFilters() (submitted, resolved, mixed bool) {
	switch r {
	case SFT:
		return true, true, false
	case GRPO:
		return false, false, true
	}
	return true, false, false
}

// WithDefaults returns the selection with the filters that were chosen and, for the others,
// those of the run's recipe. A resolved trajectory is submitted: Resolved sets Submitted, and
// Submitted = false switches the recipe's Resolved off. CodeInvalid where both are chosen
// and contradict each other.
func (s ExportSelection) WithDefaults(f ExportFilters, r Recipe) (ExportSelection, error) {
	is := func(chosen *bool, otherwise bool) bool {
		if chosen == nil {
			return otherwise
		}
		return *chosen
	}
	submitted, resolved, mixed := r.defaultFilters()
	if f.Submitted != nil && !*f.Submitted {
		if is(f.Resolved, false) {
			return s, Errorf(CodeInvalid, "is false, and resolved trajectories are submitted: leave it out, or leave out resolved").On("submitted")
		}
		resolved = false
	}
	s.Resolved = is(f.Resolved, resolved)
	s.Submitted = s.Resolved || is(f.Submitted, submitted)
	s.MixedRewards = is(f.MixedRewards, mixed)
	return s, nil
}

// ReliesOnVerdicts reports whether the selection asks for anything of verdicts.
func (s ExportSelection) ReliesOnVerdicts() bool {
	return s.Resolved || s.MixedRewards || s.VerdictProtections > 0
}

// NewestProtections is the word for the present ProtectionsVersion.
const NewestProtections = "newest"

// ParseProtections reads the versions of verdicts that an export accepts: "" is 0 (any),
// "newest" the present ProtectionsVersion, and a number that version or newer. CodeInvalid
// for anything else.
func ParseProtections(word string) (int, error) {
	switch word {
	case "":
		return 0, nil
	case NewestProtections:
		return ProtectionsVersion, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > ProtectionsVersion {
		return 0, Errorf(CodeInvalid, "is %.40q: give newest, or a version from 1 to %d", word, ProtectionsVersion).On("verdict_protections")
	}
	return n, nil
}

// Describe says in words which trajectories and states the selection takes, without the
// iterations.
func (s ExportSelection) Describe() string {
	text := "every finished trajectory"
	switch {
	case s.Resolved:
		text = "resolved trajectories"
	case s.Submitted:
		text = "valid submissions"
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
	if len(s.ExcludeFlags) > 0 {
		text += ", without what reviews flagged " + strings.Join(s.ExcludeFlags, ", ")
	}
	return text
}

// DescribeIterations names the iterations in words: one alone, or all up to it.
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

// DefaultCapacity is the number of tokens of a bin where none is given.
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
