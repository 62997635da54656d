package shard

import (
	"bytes"
	"encoding/binary"
	"testing"

	"relabel"
)

// signatureOf signs the only label of a conversation of a set.
func signatureOf(t *testing.T, form relabel.ExportForm, set string, c relabel.Conversation) (s signature) {
	t.Helper()
	from := relabel.ConversationSet{Name: set}
	b := &selector{run: relabel.Run{Recipe: relabel.SFT}, sel: relabel.ExportSelection{Conversations: &from}, form: form}
	var signed bytes.Buffer
	must(t, b.sign(&signed, 0, c.Trajectory(from)))
	must(t, binary.Read(&signed, binary.BigEndian, &s))
	if signed.Len() != 0 {
		t.Errorf("%d bytes follow the label", signed.Len())
	}
	return s
}

func TestEqualLabelsHaveTheSameToolsStateAndAction(t *testing.T) {
	say := func(ask, think, answer string) relabel.Conversation {
		return relabel.Conversation{Number: 1, Labels: []int{1}, Messages: []relabel.Message{{Role: relabel.RoleUser, Content: ask}, {Role: relabel.RoleAssistant, ReasoningContent: think, Content: answer}}}
	}
	base := say("Fix 12.", "Hm.", "Done.")
	tools := base
	tools.Tools = []relabel.Tool{{Name: "look", Parameters: `{"type":"object"}`}}
	drop := relabel.ExportForm{Reasoning: relabel.ReasoningDrop}
	first, dropped := signatureOf(t, relabel.ExportForm{}, "a", base), signatureOf(t, drop, "a", base)
	for name, c := range map[string]struct {
		form        relabel.ExportForm
		set         string
		of          relabel.Conversation
		exact, near bool
	}{
		"the same":                        {set: "a", of: base, exact: true, near: true},
		"another task":                    {set: "b", of: base, exact: true},
		"another number":                  {set: "a", of: say("Fix 13.", "Hm.", "Done."), near: true},
		"another state":                   {set: "a", of: say("Mend 12.", "Hm.", "Done.")},
		"another label":                   {set: "a", of: say("Fix 12.", "Hm.", "No.")},
		"other tools":                     {set: "a", of: tools},
		"another thought":                 {set: "a", of: say("Fix 12.", "Ah.", "Done.")},
		"another thought that is dropped": {form: drop, set: "a", of: say("Fix 12.", "Ah.", "Done."), exact: true, near: true},
		"another label without thoughts":  {form: drop, set: "a", of: say("Fix 12.", "Hm.", "No.")},
	} {
		want := first
		if c.form.Reasoning != "" {
			want = dropped
		}
		if got := signatureOf(t, c.form, c.set, c.of); (got.Exact == want.Exact) != c.exact || (got.Near == want.Near) != c.near {
			t.Errorf("%s: exact %v, near %v", name, got.Exact == want.Exact, got.Near == want.Near)
		}
	}
}
