package chat

import "relabel"

// Bytes of JSON per token: of a whole state, and of additions to one that a server has counted, where an
// estimate should be too high rather than too low.
const (
	bytesPerToken      = 4
	addedBytesPerToken = 3
)

// PromptEstimate is a prompt's estimated size.
type PromptEstimate struct {
	relabel.PromptSize
	// Most is a pessimistic bound of its tokens: the last count of the policy's own server, or twice
	// that of another policy's, plus one for each byte added since.
	Most int
}

// PromptSizes estimates the sizes of a trajectory's states from the counts of servers. It depends only on
// the committed turns, so that a replay gives the same numbers.
type PromptSizes struct {
	bytes  int
	last   *counted // of the last turn with a count
	counts map[relabel.ID]counted
}

// counted is the count of a policy's server, and the length of the state then.
type counted struct{ tokens, bytes int }

// NewPromptSizes starts at s1.
func NewPromptSizes(opening []relabel.Message, tools []relabel.Tool) *PromptSizes {
	return &PromptSizes{bytes: len(AppendMessages(nil, opening)) + len(AppendTools(nil, tools)), counts: map[relabel.ID]counted{}}
}

// Add continues to the state after a turn.
func (s *PromptSizes) Add(turn relabel.Turn) {
	added := relabel.AppendTurn(nil, turn)
	s.bytes += len(AppendMessages(nil, added[:1]))
	if u := turn.Action.Usage; u != nil {
		c := counted{u.Tokens(), s.bytes}
		s.last, s.counts[turn.Action.PolicyID] = &c, c
	}
	if len(added) > 1 {
		s.bytes += len(AppendMessages(nil, added[1:]))
	}
}

// With returns the sizes of the state plus an action that no server has counted.
func (s *PromptSizes) With(action relabel.Message) *PromptSizes {
	next := *s
	next.bytes += len(AppendMessage(nil, action))
	return &next
}

// Of estimates the state as a prompt of a policy, from the count of its own server, or else of the last
// turn's.
func (s *PromptSizes) Of(policy relabel.ID) PromptEstimate {
	c, own := s.counts[policy]
	if !own && s.last == nil {
		return PromptEstimate{relabel.PromptSize{Tokens: s.bytes / bytesPerToken, By: relabel.SizeByBytes}, s.bytes}
	}
	base := c.tokens
	if !own {
		c = *s.last
		base = 2 * c.tokens
	}
	added := s.bytes - c.bytes
	return PromptEstimate{relabel.PromptSize{Tokens: c.tokens + (added+addedBytesPerToken-1)/addedBytesPerToken, By: relabel.SizeByUsage}, base + added}
}
