package verify

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"relabel"
	"relabel/chat"
	"relabel/shard/dialect"
)

// preference checks a row of the preference view: st, the label, and the executed action, which does something else.
func (f *fileCheck) preference(row *relabel.ExportRow) {
	if err := f.readPreference(row); err != nil {
		f.broken = true
		f.reject(row, "preference", "%v", err)
	}
}

func (f *fileCheck) readPreference(row *relabel.ExportRow) error {
	if len(row.Chosen) != 1 || len(row.Rejected) != 1 {
		return fmt.Errorf("chosen has %d messages and rejected %d, expected 1", len(row.Chosen), len(row.Rejected))
	}
	c, err := f.promptOf(row, row.Chosen)
	if err != nil {
		return err
	}
	rejected, err := f.promptOf(row, row.Rejected)
	if err != nil {
		return err
	}
	if wrong := wrongRoles(c, f.source.conversations); wrong != "" {
		return fmt.Errorf("%s", wrong)
	}
	chosen, other := c.Messages[len(c.Messages)-1], rejected.Messages[len(c.Messages)-1]
	switch distance := float32(chat.Distance(other, chosen)); {
	case other.Role != relabel.RoleAssistant:
		return fmt.Errorf("its rejected message has the role %q", other.Role)
	case chat.Agree(chosen, other):
		return fmt.Errorf("its rejected action does the same as the chosen one")
	case row.Distance != distance:
		return fmt.Errorf("has the distance %v, computed %v", row.Distance, distance)
	}
	return f.namePreference(row, trainedTurns(c)[0])
}

// promptOf reads the prompt of a row with the messages that end it.
func (f *fileCheck) promptOf(row *relabel.ExportRow, end []string) (dialect.Conversation, error) {
	with := *row
	with.Completion = end
	return f.promptCompletion(&with)
}

// namePreference checks the name of a row, <trajectory>/<t>, and keeps what it says for the comparison with the
// messages view.
func (f *fileCheck) namePreference(row *relabel.ExportRow, t int) error {
	trajectory, turn, _ := strings.Cut(row.ID, "/")
	if turn != strconv.Itoa(t) {
		return fmt.Errorf("its label belongs to turn %d: the name of a row is <trajectory>/<turn>", t)
	}
	if wrong := f.order.next(trajectory, false, t); wrong != "" {
		return fmt.Errorf("%s", wrong)
	}
	f.rowIDs = append(f.rowIDs, f.hash.name(row.ID, 0))
	f.addLabel(trajectory, t)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.preferred[f.hash.name(trajectory, t)] = f.statedPair(row.Prompt, row.Chosen[0])
	return nil
}

// statedPair hashes a state and a label as the preference view writes them.
func (f *fileCheck) statedPair(state []string, label string) fact {
	var t text
	for _, m := range append(state[:len(state):len(state)], label) {
		t = f.hash.thenString(t, m)
	}
	return f.hash.fact(t)
}

// comparePreferred compares a row of the messages view with that of the preference view.
func (f *fileCheck) comparePreferred(row *relabel.ExportRow, l labelled) {
	name := f.hash.name(l.trajectory, l.turn)
	f.mu.Lock()
	want, there := f.preferred[name]
	f.mu.Unlock()
	if !there {
		return
	}
	form := f.lineForm()
	var state []string
	for _, m := range l.state {
		state = append(state, form.Object(m))
	}
	if f.statedPair(state, form.Object(l.label)) != want {
		f.reject(row, "preference", "its state or label differs from that of the row in the preference view")
	}
}

// checkPreferences compares the manifest's counts with the rows, and their labels with those of another view.
func (c *check) checkPreferences() {
	v, counts := c.views[relabel.ViewPreference], c.manifest.Preferences
	if (v != nil || slices.Contains(c.manifest.Views, relabel.ViewPreference)) != (counts != nil) {
		c.complain("preferences must be present if and only if the export has the preference view")
	}
	if counts == nil {
		return
	}
	if sum := counts.Rows + counts.Same + counts.InvalidAction + counts.TooClose + counts.SpecialText; sum != c.manifest.States {
		c.complain("preferences counts %d states, but states is %d", sum, c.manifest.States)
	}
	if v == nil || v.broken {
		return
	}
	if v.Labels != counts.Rows {
		c.complain("preferences has %d rows, but the view has %d", counts.Rows, v.Labels)
	}
	for view, other := range c.views {
		if view == relabel.ViewPreference || other.broken || other.bare {
			continue
		}
		known := map[uint64]bool{}
		for _, label := range other.labels {
			known[label] = true
		}
		if extra := slices.IndexFunc(v.labels, func(label uint64) bool { return !known[label] }); extra >= 0 {
			c.refuse("preference", v.files[0].Path, "", "the preference view has labels that %s does not have", view)
		}
	}
}
