package shard

import (
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/rows"
)

// TestRowsOfViewsForTrainersAreShownWithWhatIsTrainedOn opens the first and the last row of each form of a view, by its number and by its name.
func TestRowsOfViewsForTrainersAreShownWithWhatIsTrainedOn(t *testing.T) {
	folder, _ := testStudent(t)
	for _, c := range []struct {
		trainer string
		view    relabel.View
		dialect relabel.Dialect
		named   bool // rows have names
	}{
		{"llama-factory", relabel.ViewArrow, "", false},
		{"ms-swift", relabel.ViewChat, relabel.DialectLoss, true},
		{"nemo-rl", relabel.ViewChat, relabel.DialectFlat, true},
		{"openai", relabel.ViewChat, relabel.DialectWeight, false},
		{"trl", relabel.ViewPromptCompletion, relabel.DialectMessages, true},
		{"openrlhf", relabel.ViewPromptCompletion, relabel.DialectText, true},
	} {
		dir := exportFor(t, relabel.ExportForm{For: c.trainer, Views: []relabel.View{c.view}}, folder, 1)
		m := readManifest(t, dir)
		if m.For.Dialect != c.dialect {
			t.Fatalf("%s %s has the dialect %q", c.trainer, c.view, m.For.Dialect)
		}
		view := rows.FolderView(dir, m, c.view)
		for _, n := range []int{0, view.Len() - 1} {
			row, path, err := view.At(n)
			if err != nil || !strings.HasPrefix(path, string(c.view)+"/") {
				t.Fatalf("%s: row %d of %s: %v", c.trainer, n, path, err)
			}
			if c.named != (row.ID != "") {
				t.Errorf("%s: row %d is named %q", c.trainer, n, row.ID)
			}
			if got, err := view.Named(row.ID); c.named && (err != nil || got != n) || !c.named && relabel.CodeOf(err) != relabel.CodeNotFound {
				t.Errorf("%s: row %q is %d, %v", c.trainer, row.ID, got, err)
			}
			shownTrained(t, c.trainer, c.dialect, row)
		}
		for _, n := range []int{-1, view.Len()} {
			if _, _, err := view.At(n); relabel.CodeOf(err) != relabel.CodeNotFound || !strings.Contains(err.Error(), "from 0") {
				t.Errorf("%s: row %d: %v", c.trainer, n, err)
			}
		}
		if _, err := view.Named("no such row"); relabel.CodeOf(err) != relabel.CodeNotFound {
			t.Errorf("%s: a name that no row has: %v", c.trainer, err)
		}
	}
}

// shownTrained checks that a row shows what is trained on at its end.
func shownTrained(t *testing.T, name string, d relabel.Dialect, row relabel.ExportRow) {
	t.Helper()
	if d == "" || d == relabel.DialectLoss {
		if n := len(row.IDs); len(row.Labels) != n || n == 0 || row.Labels[n-1] != row.IDs[n-1] || row.Labels[0] != relabel.Unsupervised {
			t.Errorf("%s: %d ids, %d labels", name, len(row.IDs), len(row.Labels))
		}
		return
	}
	parts := row.Parts
	trained := slices.IndexFunc(parts, func(p relabel.RowPart) bool { return p.Trained })
	if n := len(parts); n < 2 || trained < 1 || !parts[n-1].Trained || parts[n-1].Body() == "" {
		t.Errorf("%s: %d parts, trained on from %d", name, n, trained)
	}
	isText := d == relabel.DialectText
	for i, p := range parts {
		if isText != (p.Message == nil) || p.Trained && !isText && p.Message.Role != relabel.RoleAssistant {
			t.Errorf("%s: part %d is %+v", name, i, p)
		}
	}
}

func TestARowOfPreferencesShowsBothActions(t *testing.T) {
	folder, _ := testStudent(t)
	tr := someTrajectory(1, 0, 5)
	tr.Task.ProblemStatement = "It fails."
	for i := range tr.Turns {
		if tr.Turns[i].Executor == relabel.Student {
			tr.Turns[i].Action = had(call("execute_bash", `{"command": "ls"}`))
			tr.Turns[i].Observations = []relabel.Observation{{CallID: relabel.CallID(i+1, 0), Tool: "execute_bash", Content: "a.go"}}
		}
	}
	s := newFixedStore(tr)
	s.export.Form = relabel.ExportForm{Views: []relabel.View{relabel.ViewPreference}, Tokenizer: folder, Capacity: 4000, MaxLength: 4000, Normalisation: relabel.PerToken}
	x := newTestExporter(t, s)
	shown, err := x.Row(t.Context(), export(t, s, x), relabel.ViewPreference, 0)
	must(t, err)
	parts := shown.Row.Parts
	last := len(parts) - 1
	if parts[last-1].Head() != "chosen assistant" || !parts[last-1].Trained || parts[last].Head() != "rejected assistant" || parts[last].Trained ||
		!strings.Contains(parts[last-1].Body(), `execute_bash({"command": "grep -n`) || !strings.HasSuffix(parts[last].Body(), `execute_bash({"command": "ls"})`) || shown.Row.Distance <= 0 {
		t.Errorf("it shows %+v", parts)
	}
}
