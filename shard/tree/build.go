package tree

import (
	"slices"

	"relabel"
)

// Turn is a state st and its label ãt in the student's token ids.
type Turn struct {
	T int // from 1
	// State is st without the header of the next turn: the trunk up to here. For a served
	// label whose prompt ends with the header's IDs it may be the rest of that prompt, so
	// that the trunk is what the server saw.
	State []int32
	// Prompt is st with the header, and Answer is ãt including its stop token. A turn without
	// a label has neither.
	Prompt, Answer []int32
	Labelled       bool
	Executed       bool      // the label is the executed action itself: bt = 1, or the student's own action
	Served         bool      // Prompt and Answer are the student server's own ids
	Weight         float32   // w(s, a)
	Weights        []float32 // one per token of ãt instead of Weight; nil: all Weight
	Signals        Signals   // behind the weights; of the length of ãt where not nil
}

// Trajectory is the input of Build.
type Trajectory struct {
	Origin
	Turns []Turn
}

// Build returns the token trees of a trajectory, in the order of turns. They contain every
// label once:
//
//   - in the trunk, if header ⊕ ãt equals, token for token, what follows st there, or if it was
//     executed and nothing follows;
//   - as a separate root, if st ⊕ header does not start with st's ids or adds none;
//   - otherwise as a leaf that starts with the header.
//
// A state that does not start with the previous state, because the template rewrote history,
// starts a new root. If only that state differs and the next one continues the previous state,
// it gets a separate root and the trunk continues. CodeInvalid if a label has no prompt, no
// tokens, or not one finite weight per token.
func Build(tr Trajectory, n Normalisation) ([]*Root, error) {
	origin := tr.Origin // alone: the spans must not keep the states
	b := builder{Trajectory: tr, normalisation: n, origin: &origin}
	for i := 0; i < len(tr.Turns); {
		following, err := b.turn(i)
		if err != nil {
			return nil, err
		}
		i = following
	}
	var roots []*Root
	for _, r := range b.roots {
		if r := r.trimmed(); r != nil {
			r.Number = len(roots)
			roots = append(roots, r)
		}
	}
	return roots, nil
}

// builder processes the turns; open is the root whose trunk continues, nil for none.
type builder struct {
	Trajectory
	normalisation Normalisation
	origin        *Origin
	roots         []*Root
	open          *Root
}

// turn adds turn i and returns the turn to continue with.
func (b *builder) turn(i int) (int, error) {
	turn := &b.Turns[i]
	if len(turn.State) == 0 { // no place for a branch
		b.open = nil
		return i + 1, b.alone(turn)
	}
	if b.open == nil {
		b.open = b.newRoot()
	}
	b.open.trunk = turn.State
	next := b.next(i)
	if err := b.label(turn, b.state(next)); err != nil {
		return 0, err
	}
	if next == i+2 { // the state between differs from both its neighbours
		if err := b.alone(&b.Turns[i+1]); err != nil {
			return 0, err
		}
	}
	if next < 0 {
		b.open = nil
		return i + 1, nil
	}
	return next, nil
}

// state returns the state of turn i, nil if there is no such turn.
func (b *builder) state(i int) []int32 {
	if i < 0 || i >= len(b.Turns) {
		return nil
	}
	return b.Turns[i].State
}

// next returns the turn whose state continues that of turn i: the next one, or the one after
// it if only the next deviates; -1 if neither does.
func (b *builder) next(i int) int {
	here, one, two := b.state(i), b.state(i+1), b.state(i+2)
	switch {
	case hasPrefix(one, here):
		return i + 1
	case one != nil && hasPrefix(two, here) && !hasPrefix(two, one):
		return i + 2
	}
	return -1
}

// label adds a turn's label to the open root, whose trunk is st; after is the state that
// follows in that trunk, or nil.
func (b *builder) label(turn *Turn, after []int32) error {
	header := len(turn.Prompt) - len(turn.State)
	if !turn.Labelled {
		return nil
	}
	if header <= 0 || !hasPrefix(turn.Prompt, turn.State) {
		return b.alone(turn)
	}
	span, err := b.span(turn)
	if err != nil {
		return err
	}
	branch := slices.Concat(turn.Prompt[len(turn.State):], turn.Answer)
	switch {
	case after != nil && hasPrefix(after[len(turn.State):], branch):
		b.open.trunk = after
	case after == nil && turn.Executed:
		b.open.trunk = slices.Concat(turn.State, branch)
	default:
		span.Kind = Leaf
		b.open.leaves = append(b.open.leaves, leaf{at: len(turn.State), ids: branch, span: span})
		return nil
	}
	b.open.spans = append(b.open.spans, span)
	return nil
}

// alone gives a labelled turn its own root.
func (b *builder) alone(turn *Turn) error {
	if !turn.Labelled {
		return nil
	}
	span, err := b.span(turn)
	if err != nil {
		return err
	}
	r := b.newRoot()
	r.trunk, r.spans = slices.Concat(turn.Prompt, turn.Answer), []Span{span}
	return nil
}

// span returns a turn's label as a span of the trunk.
func (b *builder) span(turn *Turn) (Span, error) {
	tokens := len(turn.Answer)
	if len(turn.Prompt) == 0 || tokens == 0 {
		return Span{}, relabel.Errorf(relabel.CodeInvalid, "trajectory %s: turn %d has a label without a prompt or without a token", b.origin.Trajectory, turn.T)
	}
	weights, err := b.normalisation.Weights(turn.Weight, turn.Weights, tokens)
	if err != nil {
		return Span{}, relabel.Errorf(relabel.CodeInvalid, "trajectory %s: turn %d: %s", b.origin.Trajectory, turn.T, err)
	}
	for _, signal := range [][]float32{turn.Signals.Teacher, turn.Signals.Student, turn.Signals.Advantages} {
		if signal != nil && len(signal) != tokens {
			return Span{}, relabel.Errorf(relabel.CodeInvalid, "trajectory %s: turn %d: %d signals for %d tokens", b.origin.Trajectory, turn.T, len(signal), tokens)
		}
	}
	return Span{Origin: b.origin, Turn: turn.T, Kind: Trunk, Start: len(turn.Prompt), Weights: weights, Served: turn.Served, Signals: turn.Signals}, nil
}

func (b *builder) newRoot() *Root {
	r := &Root{Origin: b.origin}
	b.roots = append(b.roots, r)
	return r
}

// hasPrefix reports whether ids begins with prefix; states of a trajectory often share
// memory.
func hasPrefix(ids, prefix []int32) bool {
	if len(ids) < len(prefix) {
		return false
	}
	return len(prefix) == 0 || &ids[0] == &prefix[0] || slices.Equal(ids[:len(prefix)], prefix)
}
