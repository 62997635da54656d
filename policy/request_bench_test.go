package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"relabel"
)

// BenchmarkRequest writes the body of a request whose state has 40 turns. The baseline
// is the same messages by encoding/json.
func BenchmarkRequest(b *testing.B) {
	var req relabel.ChatRequest
	for range 40 {
		req.Messages = append(req.Messages, relabel.Message{Role: relabel.RoleAssistant, Content: strings.Repeat("some \"thought\"\n", 30)},
			relabel.Message{Role: relabel.RoleTool, Content: strings.Repeat("\tif err != nil {\n\t\treturn err\n\t}\n", 90)})
	}
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.SetBytes(int64(len(appendRequest(nil, relabel.Policy{Model: "m"}, req))))
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			text, err := json.Marshal(req.Messages)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
		}
	})
}
