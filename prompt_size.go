package relabel

// The ways in which a prompt's size is known before it is sent.
const (
	SizeByTokenizer = "tokenizer" // counted
	SizeByUsage     = "usage"     // what the server counted last, and a third of the bytes that came since
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
	Tokens int    `json:"tokens"`
	By     string `json:"by"` // tokenizer, usage or bytes
}

// PromptSizes estimates the sizes of a trajectory's states from what servers counted. It
// depends on the committed turns alone: whoever replays them comes to the same numbers.
type PromptSizes struct {
	bytes int
	seen  map[Role]counted
}

// counted is what a server counted, and how long the state was then.
type counted struct{ tokens, bytes int }

// NewPromptSizes begins with s1.
func NewPromptSizes(opening []Message, tools []Tool) *PromptSizes {
	return &PromptSizes{bytes: len(AppendMessages(nil, opening)) + len(AppendTools(nil, tools)), seen: map[Role]counted{}}
}

// Add goes on to the state after a turn.
func (s *PromptSizes) Add(turn Turn) {
	added := AppendTurn(nil, turn)
	s.bytes += len(AppendMessages(nil, added[:1]))
	if u := turn.Action.Usage; u != nil {
		s.seen[turn.Executor] = counted{u.Tokens(), s.bytes}
	}
	if len(added) > 1 {
		s.bytes += len(AppendMessages(nil, added[1:]))
	}
}

// Of estimates the state as a prompt for a role: from what the role's own server counted,
// or else the other's.
func (s *PromptSizes) Of(role Role) PromptSize {
	for _, r := range []Role{role, Student, Teacher} {
		if c, ok := s.seen[r]; ok {
			return PromptSize{c.tokens + (s.bytes-c.bytes+addedBytesPerToken-1)/addedBytesPerToken, SizeByUsage}
		}
	}
	return PromptSize{s.bytes / bytesPerToken, SizeByBytes}
}

// Room is how many tokens of a limit are left for the answer; 0 or less where the prompt
// does not fit with one token of answer. limit 0 is no limit: then known is false.
func (p PromptSize) Room(limit int) (room int, known bool) { return limit - p.Tokens, limit > 0 }
