package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"relabel"
	"relabel/chat"
)

// Conversation is a line that was read.
type Conversation struct {
	ID       string
	Messages []relabel.Message
	Trained  []bool // one per message
	Tools    string // JSON array; "[]": none
}

// line has the fields of a line in any dialect.
type line struct {
	ID       string            `json:"row_id"`
	Messages []json.RawMessage `json:"messages"`
	Tools    json.RawMessage   `json:"tools"`
}

// Read reads a line, which must be in the form f byte for byte, except that its tools may be any.
func (f Form) Read(text []byte) (c Conversation, err error) {
	var l line
	if err := strictly(text, &l); err != nil {
		return c, err
	}
	c = Conversation{ID: l.ID, Tools: "[]", Trained: make([]bool, len(l.Messages))}
	if l.Tools != nil {
		c.Tools = string(l.Tools)
	}
	var encoded []Message
	for i, raw := range l.Messages {
		m, err := chat.DecodeMessage(raw)
		if err != nil {
			return c, fmt.Errorf("message %d is not a chat message", i)
		}
		c.Messages, encoded = append(c.Messages, m), append(encoded, f.Encode(m))
		if c.Trained[i], err = f.trained(raw, i == len(l.Messages)-1); err != nil {
			return c, fmt.Errorf("message %d: %w", i, err)
		}
	}
	g := f
	g.Tools = c.Tools
	if want := g.Line(c.ID, encoded, func(i int) bool { return c.Trained[i] }); !bytes.Equal(text, want) {
		return c, fmt.Errorf("is not in the form %s: fields, flags, order or spaces differ from byte %d on", f.Dialect, differ(text, want))
	}
	return c, nil
}

// differ is the first byte in which two texts differ.
func differ(a, b []byte) int {
	for i := range a {
		if i == len(b) || a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

// trained reads the flag of a message; without flags the last message is trained on.
func (f Form) trained(raw json.RawMessage, last bool) (bool, error) {
	if f.Dialect != relabel.DialectWeight {
		return last, nil
	}
	var has struct {
		Weight int `json:"weight"`
	}
	if err := json.Unmarshal(raw, &has); err != nil {
		return false, errors.New("its weight is not a whole number")
	}
	return has.Weight == 1, nil
}

// ReadTokenLine reads a line of DialectLoss and appends its lists. A token is supervised where its weight is above 0.
func ReadTokenLine(text []byte, ids, labels []int32, weights []float32) (id string, _, _ []int32, _ []float32, err error) {
	var l struct {
		ID       string `json:"row_id"`
		Messages []struct {
			Role    string `json:"role"`
			Content struct {
				IDs     []int32   `json:"token_ids"`
				Weights []float32 `json:"loss_scale"`
			} `json:"content"`
		} `json:"messages"`
	}
	if err := strictly(text, &l); err != nil {
		return "", ids, labels, weights, err
	}
	if len(l.Messages) != 1 || l.Messages[0].Role != relabel.RoleAssistant {
		return l.ID, ids, labels, weights, errors.New("expected one message, of the assistant")
	}
	m := l.Messages[0].Content
	if len(m.IDs) != len(m.Weights) {
		return l.ID, ids, labels, weights, fmt.Errorf("%d ids have %d values of loss_scale", len(m.IDs), len(m.Weights))
	}
	for i, token := range m.IDs {
		if m.Weights[i] == 0 {
			token = relabel.Unsupervised
		}
		labels = append(labels, token)
	}
	return l.ID, append(ids, m.IDs...), labels, append(weights, m.Weights...), nil
}

// strictly decodes one JSON value and refuses unknown fields.
func strictly(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data follows the end")
	}
	return nil
}
