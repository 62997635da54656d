package labeller

import (
	"cmp"
	"context"
	"fmt"

	"relabel"
	"relabel/tokenizer"
)

// vocabularies compares a scorer's tokenizer with those of students.
type vocabularies struct {
	scorer   *tokenizer.Tokenizer
	students map[relabel.ID]*tokenizer.Tokenizer
	refused  map[relabel.ID]string // why a student's tokens cannot be scored
}

// scorable splits the pending turns into those that can be scored and the missing scores of the others.
// Errors are uncallable, or the store's.
func (l *Labeller) scorable(ctx context.Context, c relabel.ScoreClaim) (fit []relabel.ScoreTurn, unfit []relabel.Score, err error) {
	known, err := l.vocabularies(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	for _, turn := range c.Pending {
		if reason := known.unfit(turn); reason != "" {
			unfit = append(unfit, relabel.Score{T: turn.T, PolicyID: c.Policy.ID, Reason: reason})
			continue
		}
		fit = append(fit, turn)
	}
	return fit, unfit, nil
}

func (l *Labeller) vocabularies(ctx context.Context, c relabel.ScoreClaim) (vocabularies, error) {
	v := vocabularies{students: map[relabel.ID]*tokenizer.Tokenizer{}, refused: map[relabel.ID]string{}}
	var err error
	if v.scorer, err = l.World.Tokenizer(ctx, c.Policy); err != nil {
		return v, hopelessIfInvalid(err)
	}
	for _, student := range c.Students {
		own, err := l.studentTokenizer(ctx, student)
		if err == nil {
			err = relabel.CheckVocabularies(c.Policy, student, v.scorer.VocabularyHash(), own.VocabularyHash())
		}
		switch {
		case err == nil:
			v.students[student.ID] = own
		case relabel.CodeOf(err) == relabel.CodeInvalid:
			v.refused[student.ID] = relabel.Shown(err)
		default:
			return v, err
		}
	}
	return v, nil
}

func (l *Labeller) studentTokenizer(ctx context.Context, student relabel.Policy) (*tokenizer.Tokenizer, error) {
	own, err := l.World.Tokenizer(ctx, student)
	if relabel.CodeOf(err) == relabel.CodeInvalid {
		err = cmp.Or(relabel.CheckScoredStudent(student), err)
	}
	return own, err
}

// hopelessIfInvalid makes an error uncallable that another try cannot change.
func hopelessIfInvalid(err error) error {
	if relabel.CodeOf(err) == relabel.CodeInvalid {
		return &uncallable{err}
	}
	return err
}

// unfit returns why a turn cannot be scored; "" if it can.
func (v vocabularies) unfit(turn relabel.ScoreTurn) string {
	if why := v.refused[turn.PolicyID]; why != "" {
		return why
	}
	switch {
	case len(turn.PromptIDs) == 0:
		return "the student's server returned no token ids of the prompt"
	case turn.TokenIDs == nil:
		return "the student's server returned no token ids of its action"
	case len(turn.TokenIDs) == 0:
		return "the student sampled no token"
	}
	for _, ids := range [][]int32{turn.PromptIDs, turn.TokenIDs} {
		if id, found := v.scorer.Foreign(v.students[turn.PolicyID], ids); found {
			return fmt.Sprintf("token %d is not in the tokenizers of both the policy and the student, or not the same", id)
		}
	}
	return ""
}
