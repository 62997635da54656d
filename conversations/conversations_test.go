package conversations

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"relabel"
)

// all reads a file.
func all(t *testing.T, file string) (list []relabel.Conversation) {
	t.Helper()
	for c, err := range Read(strings.NewReader(file)) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

const calling = `{"messages":[{"role":"developer","content":[{"type":"text","text":"Be "},{"type":"text","text":"brief."}]},{"role":"user","content":"x","name":"ann"},
 {"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"k\": 1.0}"}},{"id":"b","type":"function","function":{"name":"g","arguments":{"z":1,"a":2}}}]},
 {"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","content":"2"},{"role":"assistant","content":"done","train":false}],"tools":"[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"b\":1,\"a\":2}}}]","extra":1}`

func TestALineIsReadWithoutLoss(t *testing.T) {
	line := strings.ReplaceAll(calling, "\n", "")
	got := all(t, "\n"+line+"\r\n\n"+`{"messages":[{"role":"user","content":"\ud83d"},{"role":"assistant","content":"\u00e9"}]}`)
	want := relabel.Conversation{Number: 2, Labels: []int{1}, Tools: []relabel.Tool{{Name: "f", Parameters: `{"b":1,"a":2}`}}, Messages: []relabel.Message{
		{Role: "system", Content: "Be brief."}, {Role: "user", Content: "x"},
		{Role: "assistant", ReasoningContent: "hm", ToolCalls: []relabel.ToolCall{{ID: "call_1_0", Name: "f", Arguments: `{"k": 1.0}`}, {ID: "call_1_1", Name: "g", Arguments: `{"z":1,"a":2}`}}},
		{Role: "tool", Content: "1", ToolCallID: "call_1_0"}, {Role: "tool", Content: "2", ToolCallID: "call_1_1"},
		{Role: "assistant", Content: "done", ToolCalls: []relabel.ToolCall{}},
	}}
	if len(got) != 2 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("%+v", got)
	}
	if last := got[1]; last.Number != 4 || last.Messages[0].Content != "\xed\xa0\xbd" {
		t.Errorf("%+v", last)
	}
}

func TestALineThatCannotBeTrainedIsRefusedByItsField(t *testing.T) {
	user, answer := `{"role":"user","content":"a"}`, `{"role":"assistant","content":"b"}`
	call := `{"role":"assistant","content":"","tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}}]}`
	for line, field := range map[string]string{
		`[1]`:                           "line 2",
		`{"conversations":[]}`:          "line 2: conversations",
		`{"messages":[]}`:               "line 2: messages",
		`{"messages":[` + user + `]}`:   "line 2: messages",
		`{"messages":[` + answer + `]}`: "line 2: messages[0].role",
		`{"messages":[{"role":"function","content":"a"},` + answer + `]}`:                             "line 2: messages[0].role",
		`{"messages":[{"role":"user","content":[{"type":"image_url"}]},` + answer + `]}`:              "line 2: messages[0].content[0]",
		`{"messages":[{"role":"user","content":7},` + answer + `]}`:                                   "line 2: messages[0].content",
		`{"messages":[` + user + `,` + answer + `,{"role":"system","content":"s"}]}`:                  "line 2: messages[2].role",
		`{"messages":[` + user + `,` + call + `,` + answer + `]}`:                                     "line 2: messages[2].role",
		`{"messages":[` + user + `,` + call + `,{"role":"tool","tool_call_id":"y","content":""}]}`:    "line 2: messages[2].tool_call_id",
		`{"messages":[` + user + `,{"role":"tool","content":""},` + answer + `]}`:                     "line 2: messages[1].role",
		`{"messages":[` + user + `,{"role":"assistant","content":""}]}`:                               "line 2: messages[1].content",
		`{"messages":[` + user + `,{"role":"assistant","content":"b","weight":0.5}]}`:                 "line 2: messages[1].weight",
		`{"messages":[` + user + `,{"role":"assistant","content":"b","weight":1,"train":true}]}`:      "line 2: messages[1].train",
		`{"messages":[` + user + `,{"role":"assistant","content":"b","function_call":{"name":"f"}}]}`: "line 2: messages[1].function_call",
		`{"messages":[` + user + `,{"role":"assistant","content":"b","train":false,"train":true}]}`:   "line 2: messages[1].train",
		`{"messages":[` + user + `,{"role":"assistant","content":"b","Train":false}]}`:                "line 2: messages[1].Train",
		`{"messages":[` + user + `,{"role":"assistant","content":"b","loss_mask":0}]}`:                "line 2: messages[1].loss_mask",
		`{"messages":[{"role":"user","content":"a","Content":"c"},` + answer + `]}`:                   "line 2: messages[0].Content",
		`{"messages":[` + user + `,` + answer + `],"tools":[{"name":"f"}]}`:                           "line 2: tools[0]",
		"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}":                                   "line 2",
		`{"messages":[{"role":"user","content":"` + strings.Repeat("x", MaxLine) + `"}]}`:             "line 2",
	} {
		var got error
		for _, err := range Read(strings.NewReader("\n" + line + "\n")) {
			got = err
		}
		var e *relabel.Error
		if !errors.As(got, &e) || e.Code != relabel.CodeInvalid || e.Field != field {
			t.Errorf("%.100s: %v, want the field %s", line, got, field)
		}
	}
}

func TestChunksHoldEveryConversation(t *testing.T) {
	var file strings.Builder
	for range 20 {
		file.WriteString(strings.ReplaceAll(calling, "\n", "") + "\n")
	}
	want := all(t, file.String())
	var set relabel.ConversationSet
	var got []relabel.Conversation
	chunks := 0
	for chunk, err := range Chunks(Read(strings.NewReader(file.String())), 2000, &set) {
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for c, err := range Unpack(chunk.Content) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c)
			n++
		}
		if n != chunk.Conversations || n == 0 {
			t.Errorf("chunk %d has %d conversations, says %d", chunks, n, chunk.Conversations)
		}
		chunks++
	}
	for i := range want {
		want[i].Messages[5].ToolCalls = nil // as it is stored
	}
	if !reflect.DeepEqual(got, want) || chunks < 3 || set.Conversations != 20 || set.Labels != 20 {
		t.Errorf("%d chunks, %+v\n%+v\n%+v", chunks, set, got[0], want[0])
	}
}

func FuzzRead(f *testing.F) {
	f.Add(calling)
	f.Fuzz(func(t *testing.T, file string) {
		var set relabel.ConversationSet
		for chunk, err := range Chunks(Read(strings.NewReader(file)), 100, &set) {
			if err != nil {
				return
			}
			for c, err := range Unpack(chunk.Content) {
				if err != nil || len(c.Messages) == 0 {
					t.Fatalf("%+v, %v", c, err)
				}
			}
		}
	})
}
