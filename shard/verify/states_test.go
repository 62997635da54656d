package verify

import (
	"fmt"
	"math/rand"
	"reflect"
	"testing"

	"relabel"
	"relabel/chat"
)

// draw draws messages that go on from others.
func draw(r *rand.Rand, from []relabel.Message) []relabel.Message {
	state := from[:r.Intn(len(from)+1):len(from)]
	state = state[:len(state):len(state)]
	for range r.Intn(4) {
		m := relabel.Message{Role: relabel.RoleUser, Content: []string{"", "],[", `,{"role"`, "\xff", "é\n"}[r.Intn(5)]}
		if r.Intn(2) == 0 {
			m.Role, m.ToolCalls = relabel.RoleAssistant, []relabel.ToolCall{{ID: fmt.Sprint(r.Intn(9)), Name: "f", Arguments: "{}"}}
		}
		state = append(state, m)
	}
	return state
}

func TestAStateReadAfterAnotherIsUnchanged(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	sound, refused := 0, 0
	for range 2000 {
		var inTurn states
		var state []relabel.Message
		for range 6 {
			before := state
			if state = draw(r, state); r.Intn(3) > 0 {
				state = draw(r, state)
			}
			text := chat.AppendMessages(nil, state)
			switch r.Intn(8) {
			case 0: // the one before, ended otherwise
				end := []string{",]", ",,{}]", "]]", " ]", ",{}]", ""}[r.Intn(6)]
				text = chat.AppendMessages(nil, before)
				text = append(text[:len(text)-1], end...)
			case 1:
				at := r.Intn(len(text))
				text = append(append(text[:at:at], []string{"", ",", "]", " ", "[]", `{}`}[r.Intn(6)]...), text[min(at+r.Intn(2), len(text)):]...)
			}
			got, err := inTurn.read(string(text))
			want, alone := new(states).read(string(text))
			if (err == nil) != (alone == nil) || err == nil && !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
				t.Fatalf("%s\nafter others: %v, %v\nalone: %v, %v", text, got, err, want, alone)
			}
			if err == nil {
				sound++
			} else {
				refused++
			}
		}
	}
	if sound < 1000 || refused < 1000 {
		t.Errorf("%d were sound and %d refused: little is proven", sound, refused)
	}
}
