package relabel

// The ways in which a prompt's size is known before it is sent.
const (
	SizeByTokenizer = "tokenizer" // counted
	SizeByUsage     = "usage"     // what a server counted last, and a third of the bytes added since
	SizeByBytes     = "bytes"     // a quarter of the bytes: no server has counted yet
)

// Bytes of JSON that are taken for a token: of a whole state, and of what was added to one
// that a server has counted, where too many tokens are better than too few.
const (
	bytesPerToken      = 4
	addedBytesPerToken = 3
)

// PromptSize is how many tokens a prompt is taken to have before it is sent.
type PromptSize struct {
	Tokens int    `json:"tokens" doc:"Tokens."`
	By     string `json:"by" doc:"How it is known: tokenizer, usage (what the server counted last and a third of the bytes since) or bytes (a quarter of them)."`
	// NotCounted says why a prompt near its limit was estimated and not counted; "" where it
	// was counted, or was not near.
	NotCounted string `json:"not_counted,omitempty" doc:"Why a prompt near its limit was estimated and not counted by the policy's tokenizer."`
}

// PromptEstimate is a prompt's estimated size.
type PromptEstimate struct {
	PromptSize
	// Most is a pessimistic bound of its tokens: what the policy's own server counted last, or
	// twice what another policy's did, and one for each byte added since.
	Most int
}

// PromptSizes estimates the sizes of a trajectory's states from what servers counted. It
// depends on the committed turns alone: whoever replays them comes to the same numbers.
type PromptSizes struct {
	bytes  int
	last   *counted // of the last turn whose server counted
	counts map[ID]counted
}

// counted is what a policy's server counted, and how long the state was then.
type counted struct{ tokens, bytes int }

// NewPromptSizes begins with s1.
func NewPromptSizes(opening []Message, tools []Tool) *PromptSizes {
	return &PromptSizes{bytes: len(AppendMessages(nil, opening)) + len(AppendTools(nil, tools)), counts: map[ID]counted{}}
}

// Add goes on to the state after a turn.
func (s *PromptSizes) Add(turn Turn) {
	added := AppendTurn(nil, turn)
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
func (s *PromptSizes) With(action Message) *PromptSizes {
	next := *s
	next.bytes += len(AppendMessage(nil, action))
	return &next
}

// Of estimates the state as a prompt of a policy: from what its own server counted, or else
// the server of the last turn.
func (s *PromptSizes) Of(policy ID) PromptEstimate {
	c, own := s.counts[policy]
	if !own && s.last == nil {
		return PromptEstimate{PromptSize{Tokens: s.bytes / bytesPerToken, By: SizeByBytes}, s.bytes}
	}
	base := c.tokens
	if !own {
		c = *s.last
		base = 2 * c.tokens
	}
	added := s.bytes - c.bytes
	return PromptEstimate{PromptSize{Tokens: c.tokens + (added+addedBytesPerToken-1)/addedBytesPerToken, By: SizeByUsage}, base + added}
}
