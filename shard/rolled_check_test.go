package shard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"relabel"
	"relabel/shard/render"
)

// TestARandomMixIsTheSameInAllViews exports random trajectories out of a real database:
// whole, and with a limit that cuts and drops trunks and drops leaves. With
// RELABEL_TEST_MIX_DIR the exports stay there, RELABEL_TEST_MIX_SEEDS of each tokenizer,
// for a check by other programs.
func TestARandomMixIsTheSameInAllViews(t *testing.T) {
	seeds := 1
	if n, err := strconv.Atoi(os.Getenv("RELABEL_TEST_MIX_SEEDS")); err == nil {
		seeds = n
	}
	for _, name := range slices.Sorted(maps.Keys(mixTokenizers)) {
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s-%d", name, seed+1), func(t *testing.T) {
				t.Parallel()
				form := mixTokenizers[name]
				form.Tokenizer = tokenizerFolder(t, name)
				keep := os.Getenv("RELABEL_TEST_MIX_DIR")
				m := newMix(t, int64(seed+1), form, keep != "", name == "llama3_2")
				c := mixCheck{mix: m, keep: keep, name: fmt.Sprintf("%s-%d", name, seed+1)}
				whole := exportMix(t, m, form)
				c.pairs, c.turns = m.pairsOf(t, whole)
				c.hold(t, "", whole, 0)
				c.prompts(t, whole)
				c.actors(t, whole)
				c.limited(t, form, linearRows(t, whole.Directory))
			})
		}
	}
}

// mixPair is a label that leaves, rendered in a conversation of its own.
type mixPair struct {
	label          string // <trajectory>/<t>
	acted          relabel.Role
	prompt, answer []int32
}

// length is how long a sequence of the pair alone is.
func (p mixPair) length() int { return len(p.prompt) + len(p.answer) }

// MarshalJSON writes a pair as check_shards.py reads it: each token weighs 1.
func (p mixPair) MarshalJSON() ([]byte, error) {
	weights := make([]float32, len(p.answer))
	for i := range weights {
		weights[i] = 1
	}
	return json.Marshal([3]any{p.prompt, p.answer, weights})
}

// mixCheck holds the exports of a mix to the labels of the database.
type mixCheck struct {
	mix        *rolledMix
	pairs      []mixPair // that leave if nothing is too long
	turns      int
	keep, name string // where exports stay, and as what
}

// hold checks that an export has c.pairs, in all views, and says what else there was; over
// is how many labels are too long for it.
func (c mixCheck) hold(t *testing.T, suffix string, e relabel.Export, over int) {
	t.Helper()
	left := 0
	for _, n := range e.Excluded {
		left += n
	}
	if e.Rows != len(c.pairs) || e.Rows+left != c.turns || e.Excluded[string(TooLong)] != over {
		t.Errorf("%d rows and %v left out of %d turns, %d labels to leave and %d too long", e.Rows, e.Excluded, c.turns, len(c.pairs), over)
	}
	name := filepath.Join(t.TempDir(), "pairs.json")
	writeJSON(t, name, c.pairs)
	out, err := exec.Command(python(t), "testdata/check_shards.py", e.Directory, name).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v: %s", suffix, err, out)
	}
	t.Logf("%s%s: %d labels of %d turns in %d parts, left out %v: %s", c.name, suffix, e.Rows, c.turns, e.Parts, e.Excluded, out)
	if c.keep == "" {
		return
	}
	if err := os.CopyFS(filepath.Join(c.keep, c.name+suffix), os.DirFS(e.Directory)); err != nil {
		t.Fatal(err)
	}
}

// prompts holds the comparison of prompts to how many the student's server was given.
func (c mixCheck) prompts(t *testing.T, e relabel.Export) {
	t.Helper()
	got := e.PromptCheck
	if got == nil || got.Compared != c.mix.compared || got.Differ != c.mix.differ || (got.First == nil) != (c.mix.differ == 0) {
		t.Errorf("the check of prompts says %+v, %d of %d differ", got, c.mix.differ, c.mix.compared)
	}
}

// actors compares the manifest's count of exported labels by who acted.
func (c mixCheck) actors(t *testing.T, e relabel.Export) {
	t.Helper()
	want := map[relabel.Role]int{}
	for _, p := range c.pairs {
		want[p.acted]++
	}
	if got := readManifest(t, e.Directory).Trajectories.Executors; !maps.Equal(got, want) {
		t.Errorf("the manifest counts executors as %v, want %v", got, want)
	}
}

// pairsOf returns the labels that leave with an export, and how many turns there are.
func (m *rolledMix) pairsOf(t *testing.T, e relabel.Export) (pairs []mixPair, turns int) {
	t.Helper()
	ctx := context.Background()
	part := relabel.ExportPart{}
	for n := range e.Parts {
		p, err := m.store.FindExportPart(ctx, e.ID, n)
		if err != nil {
			t.Fatal(err)
		}
		part.Trajectories = append(part.Trajectories, p.Trajectories...)
	}
	for tr, err := range m.store.ExportTrajectories(ctx, e.Selection, part) {
		if err != nil {
			t.Fatal(err)
		}
		turns += len(tr.Turns)
		pairs = append(pairs, m.pairs(t, tr)...)
	}
	return pairs, turns
}

// pairs renders the labels that leave of a trajectory, each in a conversation of its own.
func (m *rolledMix) pairs(t *testing.T, tr relabel.ExportTrajectory) (pairs []mixPair) {
	if !*tr.Trajectory.Submitted {
		return nil
	}
	for i, turn := range tr.Turns {
		if turn.Label.Status != relabel.Received || turn.Label.Parse != relabel.ParsedOK {
			continue
		}
		c := m.student.Converse(m.seeded.Run.Prompts.Opening(tr.Task), m.seeded.Run.Prompts.Tools)
		for _, before := range tr.Turns[:i] {
			c.Advance(before)
		}
		var refusal *render.Refusal
		prompt, _, err := c.Prompt()
		answer := []int32(nil)
		if err == nil {
			answer, err = c.Label(turn.Label.Message.Canonical(turn.T))
		}
		if errors.As(err, &refusal) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, mixPair{label: fmt.Sprintf("%s/%d", tr.Trajectory.ID, turn.T), acted: turn.Executor, prompt: prompt, answer: answer})
	}
	return pairs
}
