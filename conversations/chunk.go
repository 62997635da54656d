package conversations

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"

	"relabel"
	"relabel/chat"
)

// ChunkBytes is the text of one chunk, in bytes before compression.
const ChunkBytes = 16 << 20

// Chunks yields conversations in chunks of at most chunkBytes of text, and at least one conversation each. It
// adds what it read to set. The last pair has the error, if any.
func Chunks(all iter.Seq2[relabel.Conversation, error], chunkBytes int, set *relabel.ConversationSet) iter.Seq2[relabel.ConversationChunk, error] {
	return func(yield func(relabel.ConversationChunk, error) bool) {
		var text []byte
		count := 0
		flush := func() bool {
			packed, err := compress(text)
			chunk := relabel.ConversationChunk{Conversations: count, Content: packed}
			text, count = text[:0], 0
			return yield(chunk, err) && err == nil
		}
		for c, err := range all {
			if err != nil {
				yield(relabel.ConversationChunk{}, err)
				return
			}
			line := appendLine(nil, c)
			if count > 0 && len(text)+len(line) > chunkBytes && !flush() {
				return
			}
			text = append(text, line...)
			count++
			set.Conversations++
			set.Labels += len(c.Labels)
			set.Bytes += int64(len(line))
		}
		if count > 0 {
			flush()
		}
	}
}

func compress(text []byte) ([]byte, error) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return w.EncodeAll(text, nil), nil
}

// appendLine appends a conversation as stored.
func appendLine(dst []byte, c relabel.Conversation) []byte {
	labels, _ := json.Marshal(c.Labels) // a list of numbers
	dst = fmt.Appendf(dst, `{"number":%d,"labels":%s,"tools":`, c.Number, labels)
	dst = chat.AppendTools(dst, c.Tools)
	dst = append(dst, `,"messages":`...)
	dst = chat.AppendMessages(dst, c.Messages)
	return append(dst, "}\n"...)
}

// Unpack yields the conversations of a chunk. The last pair has the error, if any.
func Unpack(content []byte) iter.Seq2[relabel.Conversation, error] {
	return func(yield func(relabel.Conversation, error) bool) {
		r, err := zstd.NewReader(bytes.NewReader(content), zstd.WithDecoderConcurrency(1))
		if err != nil {
			yield(relabel.Conversation{}, err)
			return
		}
		defer r.Close()
		for lines := json.NewDecoder(r); ; {
			c, err := readStored(lines)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// readStored reads a stored conversation.
func readStored(lines *json.Decoder) (c relabel.Conversation, err error) {
	var fields struct {
		Number   int               `json:"number"`
		Labels   []int             `json:"labels"`
		Tools    json.RawMessage   `json:"tools"`
		Messages []json.RawMessage `json:"messages"`
	}
	if err := lines.Decode(&fields); err != nil {
		return c, err
	}
	c.Number, c.Labels = fields.Number, fields.Labels
	if c.Tools, err = parseTools(fields.Tools); err != nil {
		return c, err
	}
	for _, raw := range fields.Messages {
		m, err := chat.DecodeMessage(raw)
		if err != nil {
			return c, err
		}
		c.Messages = append(c.Messages, m)
	}
	return c, nil
}
