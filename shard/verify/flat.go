package verify

import (
	"fmt"
	"strconv"
	"strings"

	"relabel/shard/dialect"
	"relabel/shard/render"
)

// flatFacts checks a line of three plain messages and passes the facts of its label to emit.
func (f *fileCheck) flatFacts(c dialect.Conversation, emit emit, first bool) error {
	trajectory, turn, _ := strings.Cut(c.ID, "/")
	t, err := strconv.Atoi(turn)
	if len(c.Messages) != 3 || c.Tools != "[]" || err != nil || strconv.Itoa(t) != turn || t < 1 {
		return fmt.Errorf("is named %q and has %d messages: expected <trajectory>/<turn> and 3 without tools", c.ID, len(c.Messages))
	}
	if first {
		f.rowIDs = append(f.rowIDs, f.hash.name(c.ID, 0))
		f.addLabel(trajectory, t)
	}
	if f.Student == nil {
		return nil
	}
	prompt, answer, err := f.Student.Unflatten(render.Flat{System: c.Messages[0].Content, User: c.Messages[1].Content, Assistant: c.Messages[2].Content})
	if err != nil {
		return err
	}
	f.answerFacts(c.ID, prompt, answer, emit)
	if first {
		f.renderedLabels++
		f.renderedTokens += len(answer)
	}
	return nil
}
