package shard

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/chat"
	"relabel/shard/rows"
	"relabel/store"
	"relabel/store/storetest"
)

// ran is an action of a policy that says text and runs a command.
func ran(policy relabel.ID, text, command string) relabel.Action {
	arguments := string(chat.AppendString([]byte(`{"command": `), command)) + "}"
	m := relabel.Message{Role: relabel.RoleAssistant, Content: text, ReasoningContent: "I think.", ToolCalls: []relabel.ToolCall{{ID: "c", Name: "execute_bash", Arguments: arguments}}}
	return relabel.Action{PolicyID: policy, Status: relabel.Received, Raw: chat.EncodeMessage(m), Message: m, FinishReason: "tool_calls", Parse: relabel.ParsedOK}
}

// disagreeing stores a run of two tasks in whose turns the student does, in this order, the same as the teacher, something
// close, something far, and something invalid; the teacher acts in the fifth. In the second, the state of the third turn has text of a special token.
func disagreeing(t *testing.T, s *store.Store) storetest.Seeded {
	t.Helper()
	ctx := t.Context()
	d := storetest.SeedWith(t, s, 2, func(d *storetest.Seeded) {
		for i := range d.Trajectories {
			d.Trajectories[i].Executors = "ssssT"
		}
	})
	for i := range d.Trajectories {
		c := storetest.Claim(t, s, d.Trajectories[i].ID, "w")
		for turn, command := range []string{"ls -la src", "ls -la src tests", "rm -rf / --no-preserve-root", "broken", ""} {
			label := ran(c.Teacher.ID, "Look.", "ls -la src")
			of := storetest.Turn(c, turn+1, &label)
			of.Action = ran(c.Student.ID, "Hm.", command)
			switch turn {
			case 3:
				of.Action.Parse = relabel.UnknownTool
			case 4:
				of.Action, of.Label = label, nil
			}
			of.Observations = []relabel.Observation{{CallID: relabel.CallID(turn+1, 0), Tool: "execute_bash", Content: fmt.Sprintf("out %d", turn)}}
			if turn == 1 && i == 1 {
				of.Observations[0].Content += "<|im_end|>"
			}
			must(t, s.CommitTurn(ctx, c.Fence, of))
		}
		must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("diff --git a/a b/a\n"), Submitted: true}))
		must(t, s.BeginVerifying(ctx, c.Fence))
		must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Passed: i == 0, Reason: "tests", Tests: map[string]relabel.TestStatus{"tests/test_a.py::test_it": relabel.TestPassed}}))
	}
	return d
}

func TestPreferencesAreLabelsOverOtherValidActions(t *testing.T) {
	t.Parallel()
	folder, student := testStudent(t)
	s := storetest.New(t)
	d := disagreeing(t, s)
	e := relabel.Export{State: relabel.ExportQueued, Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1, Submitted: true},
		Form: relabel.ExportForm{Views: []relabel.View{relabel.ViewMessages, relabel.ViewLinear, relabel.ViewPreference}, Tokenizer: folder, Capacity: 4096}}
	dir, m := buildMix(t, s, e, 2)
	for _, p := range check(t, dir, student).Problems {
		t.Error(p)
	}
	if want := (relabel.PreferenceCounts{Rows: 3, Same: 4, InvalidAction: 2, SpecialText: 1}); m.Preferences == nil || *m.Preferences != want || m.States != 10 {
		t.Fatalf("%+v of %d states", m.Preferences, m.States)
	}
	view := rows.FolderView(dir, m, relabel.ViewPreference)
	var names []string
	for n := range view.Len() {
		row, _, err := view.At(n)
		must(t, err)
		names = append(names, row.ID)
		if chosen, rejected := row.Chosen[0], row.Rejected[0]; !strings.Contains(chosen, "Look.") || !strings.Contains(rejected, "Hm.") || !strings.HasSuffix(row.ID, "/3") && strings.Contains(rejected, "rm -rf") {
			t.Errorf("%s: %s over %s", row.ID, chosen, rejected)
		}
	}
	first, second := d.Trajectories[0].ID.String(), d.Trajectories[1].ID.String()
	if want := []string{first + "/2", first + "/3", second + "/2"}; !slices.Equal(names, want) {
		t.Errorf("rows %v, want %v", names, want)
	}
	e.Form.MinDistance = 0.3
	if _, far := buildMix(t, s, e, 1); *far.Preferences != (relabel.PreferenceCounts{Rows: 1, Same: 4, InvalidAction: 2, TooClose: 2, SpecialText: 1}) {
		t.Errorf("%+v", far.Preferences)
	}
	e.Form.Views = []relabel.View{relabel.ViewPreference}
	dir, _ = buildMix(t, s, e, 1)
	for _, p := range check(t, dir, student).Problems {
		t.Error(p)
	}
}

func TestAnExportOfPreferencesWithoutRowsFails(t *testing.T) {
	sum := summary{States: 7, Preferences: relabel.PreferenceCounts{Same: 4, InvalidAction: 2, TooClose: 1}}
	form := relabel.ExportForm{Views: []relabel.View{relabel.ViewPreference}}
	err := checkRows(relabel.Run{}, form, sum)
	if want := "at 4 the student did the same or the teacher acted, at 2 its action was invalid, at 1 it was closer"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	form.Views = append(form.Views, relabel.ViewLinear)
	if err := checkRows(relabel.Run{}, form, sum); err != nil {
		t.Errorf("the linear view has rows: %v", err)
	}
}

// TestASecretInAnExecutedActionIsFoundInPreferences: only their rows have the action of the state itself.
func TestASecretInAnExecutedActionIsFoundInPreferences(t *testing.T) {
	b := &selector{form: relabel.ExportForm{Views: []relabel.View{relabel.ViewMessages}}}
	secret := placedSecret{FoundSecret: relabel.FoundSecret{Turn: 2, In: relabel.SecretInAction}, inStates: true}
	if b.exports(secret, 2) || !b.exports(secret, 3) {
		t.Error("states begin after the action")
	}
	b.form.Views = append(b.form.Views, relabel.ViewPreference)
	if !b.exports(secret, 2) || b.exports(secret, 1) {
		t.Error("a preference has the action of its state")
	}
}

// TestAWrongPreferenceIsFound: a row that was altered does not pass the check.
func TestAWrongPreferenceIsFound(t *testing.T) {
	t.Parallel()
	folder, student := testStudent(t)
	s := storetest.New(t)
	d := disagreeing(t, s)
	e := relabel.Export{State: relabel.ExportQueued, Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1, Submitted: true},
		Form: relabel.ExportForm{Views: []relabel.View{relabel.ViewMessages, relabel.ViewPreference}, Tokenizer: folder, Capacity: 4096}}
	dir, m := buildMix(t, s, e, 1)
	for name, alter := range map[string]func(*relabel.Manifest){
		"rows": func(m *relabel.Manifest) { m.Preferences.Rows--; m.Preferences.Same++ },
		"sum":  func(m *relabel.Manifest) { m.Preferences.TooClose++ },
		"none": func(m *relabel.Manifest) { m.Preferences = nil },
		"mix":  func(m *relabel.Manifest) { m.Mix = &relabel.ManifestMix{Parts: 1} },
	} {
		altered := m
		counts := *m.Preferences
		altered.Preferences = &counts
		alter(&altered)
		text, err := encodeManifest(altered)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, manifestName), text, 0o644))
		if r := check(t, dir, student); r.Sound() {
			t.Errorf("%s passes", name)
		}
	}
}

// TestDatasetsLoadsPreferencesAsMessages: the columns are what TRL's DPO, KTO and reward trainers read.
func TestDatasetsLoadsPreferencesAsMessages(t *testing.T) {
	t.Parallel()
	folder, _ := testStudent(t)
	s := storetest.New(t)
	d := disagreeing(t, s)
	e := relabel.Export{State: relabel.ExportQueued, Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1, Submitted: true},
		Form: relabel.ExportForm{Views: []relabel.View{relabel.ViewPreference}, Tokenizer: folder, Capacity: 4096}}
	dir, _ := buildMix(t, s, e, 1)
	program := `import sys, json, datasets
rows = datasets.load_dataset(sys.argv[1], "preference", cache_dir=sys.argv[2])["train"]
print(json.dumps([rows[0], rows.column_names]))`
	out, err := exec.Command(python(t), "-c", program, dir, t.TempDir()).Output()
	must(t, err)
	var got [2]any
	must(t, json.Unmarshal(out, &got))
	row := got[0].(map[string]any)
	rejected := row["rejected"].([]any)[0].(map[string]any)
	if rejected["role"] != "assistant" || rejected["reasoning_content"] != "I think." || row["outcome"] != "resolved" || len(row["prompt"].([]any)) != 4 || row["prompt"].([]any)[0].(map[string]any)["tool_calls"] != nil {
		t.Errorf("%s", out)
	}
}

func TestPreferencesBesideWeightsOfTheNormalisationAreRefused(t *testing.T) {
	folder, _ := testStudent(t)
	form := relabel.ExportForm{Views: []relabel.View{relabel.ViewLinear, relabel.ViewPreference}, Tokenizer: folder, Normalisation: relabel.PerTransition}
	_, err := newTestExporter(t, newFixedStore()).Prepare(t.Context(), relabel.DAgger, relabel.Export{ID: relabel.NewID(), Form: form})
	var e *relabel.Error
	if !errors.As(err, &e) || e.Code != relabel.CodeInvalid || e.Field != "normalisation" {
		t.Error(err)
	}
}

func TestAnAlteredRowOfPreferencesIsFound(t *testing.T) {
	t.Parallel()
	folder, student := testStudent(t)
	s := storetest.New(t)
	d := disagreeing(t, s)
	e := relabel.Export{State: relabel.ExportQueued, Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1, Submitted: true},
		Form: relabel.ExportForm{Views: []relabel.View{relabel.ViewPreference}, Tokenizer: folder, Capacity: 4096}}
	whole, _ := buildMix(t, s, e, 1)
	for name, change := range map[string]func(row *preferenceRow){
		"distance":   func(row *preferenceRow) { row.Distance /= 2 },
		"the same":   func(row *preferenceRow) { row.Rejected, row.Distance = row.Chosen, 0 },
		"no action":  func(row *preferenceRow) { row.Rejected = row.Prompt[1:2] },
		"name":       func(row *preferenceRow) { row.RowID += "1" },
		"no opening": func(row *preferenceRow) { row.Prompt = row.Prompt[2:] },
	} {
		dir := copyOf(t, whole)
		m := readManifest(t, dir)
		f := &m.Files[slices.IndexFunc(m.Files, func(f relabel.ManifestFile) bool { return f.Rows > 0 })]
		rows := readRows[preferenceRow](t, filepath.Join(dir, f.Path))
		change(&rows[0])
		writeRows(t, dir, f, m.Recipe, rows)
		writeJSON(t, filepath.Join(dir, manifestName), m)
		if r := check(t, dir, student); r.Counts["preference"] == 0 {
			t.Errorf("%s: a check finds %v", name, r.Problems)
		}
	}
}

func TestAPreferenceWithTextOfSpecialTokensInAnActionIsCounted(t *testing.T) {
	_, student := testStudent(t)
	b := &selector{student: student}
	said := func(text string) relabel.Action {
		return relabel.Action{Parse: relabel.ParsedOK, Message: relabel.Message{Role: relabel.RoleAssistant, Content: text}}
	}
	for _, actions := range [][2]string{{"a <|im_end|>", "b"}, {"a", "b <|im_end|>"}} {
		l, label := new(labelled), said(actions[1])
		b.choosePreference(l, relabel.Turn{T: 1, Executor: relabel.Student, Action: said(actions[0]), Label: &label}, false)
		if l.preferences != (relabel.PreferenceCounts{SpecialText: 1}) || l.preferred != nil {
			t.Errorf("%q over %q: %+v", actions[1], actions[0], l.preferences)
		}
	}
}
