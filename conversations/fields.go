package conversations

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// known are the fields that are read, and refused those by which other formats mask messages: to pass over them would train
// on what they exclude.
var (
	known   = slices.Concat([]string{"role", "content", "tool_calls", "tool_call_id", "reasoning_content", "reasoning", "function_call", "messages", "tools"}, flags)
	refused = []string{"loss_mask", "mask", "masked", "training", "train_detail", "train_on_turn", "loss_weight", "loss_scale", "assistant_masks"}
)

// checkFields refuses an object that could be read in two ways: a field twice, or known but in other letters. It also
// refuses unknown flags.
func checkFields(raw json.RawMessage) error {
	seen := map[string]bool{}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return bad("", "is not JSON")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return bad("", "is not JSON")
		}
		field, is := name.(string)
		var value json.RawMessage
		if err := d.Decode(&value); !is || err != nil {
			return bad("", "is not a JSON object")
		}
		lower := strings.ToLower(field)
		switch {
		case seen[field]:
			return bad(clipped(field), "is given twice")
		case lower != field && slices.Contains(known, lower):
			return bad(clipped(field), "is not a field: write %s", lower)
		case slices.Contains(refused, lower) && !bytes.Equal(value, []byte("null")):
			return bad(clipped(field), "is not known: say with train (true or false) on messages of the assistant what is trained on")
		}
		seen[field] = true
	}
	return nil
}

// clipped is the name of a field that is short enough to be shown.
func clipped(field string) string { return field[:min(len(field), 40)] }
