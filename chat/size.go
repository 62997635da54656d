package chat

import "relabel"

// Bytes of JSON that are taken for a token: of a whole state, and of what was added to one
// that a server has counted, where too many tokens are better than too few.
const (
	bytesPerToken      = 4
	addedBytesPerToken = 3
)

// PromptEstimate is a prompt's estimated size.
type PromptEstimate struct {
	relabel.PromptSize
	// Most is a pessimistic bound of its tokens: what the policy's own server counted last, or
	// twice what another policy's did, and one for each byte added since.
	Most int
}

// PromptSizes estimates the sizes of a trajectory's states from what servers counted. It
// depends on the committed turns alone: whoever replays them comes to the same numbers.
type PromptSizes struct {
	bytes  int
	last   *counted // of the last turn whose server counted
	counts map[relabel.ID]counted
}

// counted is what a policy's server counted, and how long the state was then.
type counted struct{ tokens, bytes int }

// NewPromptSizes begins with s1.
func NewPromptSizes(opening []relabel.Message, tools []relabel.Tool) *PromptSizes {
	return &PromptSizes{bytes: len(AppendMessages(nil, opening)) + len(AppendTools(nil, tools)), counts: map[relabel.ID]counted{}}
}

// Add goes on to the state after a turn.
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

// With returns the sizes of the state with an action after it that no server has counted.
func (s *PromptSizes) With(action relabel.Message) *PromptSizes {
	next := *s
	next.bytes += len(AppendMessage(nil, action))
	return &next
}

// Of estimates the state as a prompt of a policy: from what its own server counted, or else
// the server of the last turn.
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
