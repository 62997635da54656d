package policy

import (
	"relabel"
	"relabel/chat"
)

// appendState appends the messages, with the marks that p's endpoint needs for its prompt cache.
func appendState(dst []byte, p relabel.Policy, messages []relabel.Message) []byte {
	if p.CacheMarkers != relabel.CacheMarkersAnthropic {
		return chat.AppendMessages(dst, messages)
	}
	first, last := markedMessages(messages)
	dst = append(dst, '[')
	for i, m := range messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		if i == first || i == last {
			dst = appendMarked(dst, m)
		} else {
			dst = chat.AppendMessage(dst, m)
		}
	}
	return append(dst, ']')
}

// markedMessages are the last messages of the two blocks to cache: the system message, which all
// trajectories share, and the last message with text, up to which the next turn's request is the same.
// -1 means none.
func markedMessages(messages []relabel.Message) (first, last int) {
	first, last = -1, len(messages)-1
	if len(messages) > 0 && messages[0].Role == relabel.RoleSystem && messages[0].Content != "" {
		first = 0
	}
	for last >= 0 && messages[last].Content == "" { // an empty block cannot be marked
		last--
	}
	return first, last
}

// appendMarked appends m with its content as one text block to cache, otherwise like AppendMessage.
func appendMarked(dst []byte, m relabel.Message) []byte {
	plain := chat.AppendMessage(nil, m)
	head := chat.AppendString(append(chat.AppendString([]byte(`{"role":`), m.Role), `,"content":`...), m.Content)
	dst = chat.AppendString(append(dst, `{"role":`...), m.Role)
	dst = chat.AppendString(append(dst, `,"content":[{"type":"text","text":`...), m.Content)
	dst = append(dst, `,"cache_control":{"type":"ephemeral"}}]`...)
	return append(dst, plain[len(head):]...)
}
