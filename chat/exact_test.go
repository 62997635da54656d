package chat

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"relabel"
)

func TestAnEncodedMessageIsReadBackByteForByte(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"", "\x00", "\"\\\n", "\xed\xa0\xbd\xed\xb8\x80", "<|im_end|>", "\u2028"}))
	rapid.Check(t, func(t *rapid.T) {
		m := relabel.Message{Role: relabel.RoleAssistant, Content: text.Draw(t, "content"), ReasoningContent: text.Draw(t, "reasoning"), ToolCallID: text.Draw(t, "id")}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			m.ToolCalls = append(m.ToolCalls, relabel.ToolCall{ID: text.Draw(t, "call"), Name: text.Draw(t, "name"), Arguments: text.Draw(t, "arguments")})
		}
		if back, err := DecodeMessage(EncodeMessage(m)); err != nil || !reflect.DeepEqual(back, m) {
			t.Fatalf("%v: %+v became %+v", err, m, back)
		}
	})
}
