package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"relabel"
	"relabel/chat"
)

// states are those of a trajectory of some turns, with the oddities that models write.
func states(turns int) [][]relabel.Message {
	state := []relabel.Message{{Role: relabel.RoleSystem, Content: "You repair code."}, {Role: relabel.RoleUser, Content: "<issue>\né 😀\n</issue>"}}
	all := [][]relabel.Message{state}
	for t := 1; t < turns; t++ {
		id := fmt.Sprintf("call_%d_0", t)
		action := relabel.Message{Role: relabel.RoleAssistant, Content: strings.Repeat("let me look ", t%3), ReasoningContent: "hm",
			ToolCalls: []relabel.ToolCall{{ID: id, Name: "execute_bash", Arguments: []string{`{"command": "ls"}`, `{"command": "l`, "", `{"b":1,"a":2,"b":3}`}[t%4]}}}
		observation := relabel.Message{Role: relabel.RoleTool, ToolCallID: id, Content: []string{"a.py\x00", "", "\xff\xed\xa0\x80"}[t%3]}
		state = append(state[:len(state):len(state)], action, observation)
		all = append(all, state)
	}
	return all
}

var bash = []relabel.Tool{{Name: "execute_bash", Description: "Runs a command.", Parameters: `{"type":"object","properties":{"command":{"type":"string"}}}`}}

// messagesEnd is where the messages of a body end.
func messagesEnd(t *testing.T, body []byte) int {
	t.Helper()
	i := bytes.LastIndex(body, []byte("]"))
	if i < 0 {
		t.Fatalf("no messages in %s", body)
	}
	return i
}

// TestEachRequestBeginsWithThePreviousOne looks at what really goes over the line,
// for every kind of server and tool format, with seeds that differ from turn to turn.
func TestEachRequestBeginsWithThePreviousOne(t *testing.T) {
	for i := range 2 * len(relabel.ServerKinds) {
		kind, format := relabel.ServerKinds[i/2], relabel.ToolFormats[i%2]
		var bodies [][]byte
		b := open(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			bodies = append(bodies, body)
			good(w, r)
		}, func(p *relabel.Policy) { p.Server, p.ToolFormat, p.Sampling.MaxTokens = kind, format, 2000 })
		for i, state := range states(12) {
			seed := int64(i) * 1_000_003
			req := hello()
			req.Messages, req.Tools, req.Seed, req.Sampling, req.T = state, bash, &seed, b.policy.Sampling, i+1
			if _, err := b.Complete(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
		for i := 1; i < len(bodies); i++ {
			before := bodies[i-1][:messagesEnd(t, bodies[i-1])]
			if !bytes.HasPrefix(bodies[i], before) || len(before) < 100 {
				t.Fatalf("%s, %s, turn %d:\n%s\ndoes not begin with\n%s", kind, format, i+1, bodies[i], before)
			}
		}
	}
}

// TestCacheMarkersDoNotChangeTheMessages compares marked requests with plain ones: the same
// messages, with a mark at the system message and at the last one that has a text.
func TestCacheMarkersDoNotChangeTheMessages(t *testing.T) {
	type body struct {
		Messages []json.RawMessage `json:"messages"`
	}
	plain := relabel.Policy{Model: "m", Server: relabel.ServerOpenAI}
	marked := plain
	marked.CacheMarkers = relabel.CacheMarkersAnthropic
	for i, state := range states(12) {
		req := relabel.ChatRequest{Messages: state, Tools: bash, Sampling: relabel.PaperSampling}
		var a, b body
		if json.Unmarshal(appendRequest(nil, plain, req), &a) != nil || json.Unmarshal(appendRequest(nil, marked, req), &b) != nil || len(a.Messages) != len(b.Messages) {
			t.Fatalf("turn %d: %s", i+1, appendRequest(nil, marked, req))
		}
		var marks []int
		for k := range a.Messages {
			was, err := chat.DecodeMessage(a.Messages[k])
			is, err2 := chat.DecodeMessage(b.Messages[k])
			if err != nil || err2 != nil || !reflect.DeepEqual(was, is) {
				t.Errorf("turn %d: %s says not what %s says", i+1, b.Messages[k], a.Messages[k])
			}
			if bytes.Contains(b.Messages[k], []byte(`,"cache_control":{"type":"ephemeral"}}]`)) {
				marks = append(marks, k)
			} else if !bytes.Equal(a.Messages[k], b.Messages[k]) {
				t.Errorf("turn %d: %s without a mark", i+1, b.Messages[k])
			}
		}
		last := len(state) - 1
		for state[last].Content == "" {
			last--
		}
		if !reflect.DeepEqual(marks, []int{0, last}) {
			t.Errorf("turn %d: marks at %v of %d", i+1, marks, len(state))
		}
	}
	if got := string(appendRequest(nil, marked, relabel.ChatRequest{})); !strings.Contains(got, `"messages":[]`) {
		t.Error(got)
	}
}
