package shard

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/render"
	"relabel/shard/verify"
	"relabel/trainers"
)

// exportFor builds the export of a mix for a trainer and returns its folder.
func exportFor(t testing.TB, form relabel.ExportForm, folder string, seed int64) string {
	t.Helper()
	m := mix{Rand: rand.New(rand.NewSource(seed)), beta: 0.4, turns: 9, long: 400}
	var list []relabel.ExportTrajectory
	for i := range 8 {
		tr := m.trajectory(1+i/5, i)
		if i > 0 { // the first one has texts of special tokens
			withoutSpecials(&tr)
		}
		list = append(list, tr)
	}
	s := newFixedStore(list...)
	s.newExport(form.For, relabel.ExportSelection{Aggregated: true})
	x := newTestExporter(t, s)
	s.export.Form = form
	if form.Tokenizer = folder; form.For == "openai" {
		form.Tokenizer = ""
	}
	s.export.Form = form
	e, err := x.Prepare(context.Background(), s.run.Recipe, s.export)
	if err != nil {
		t.Fatal(err)
	}
	s.export.Form, x.partBytes = e.Form, 3
	return export(t, s, x).Directory
}

// withoutSpecials takes the texts of special tokens out of a trajectory.
func withoutSpecials(tr *relabel.ExportTrajectory) {
	clean := strings.NewReplacer("<|im_end|>", "end", "<|im_start|>", "start", "<|endoftext|>", "text").Replace
	action := func(a *relabel.Action) {
		a.Message.Content, a.Message.ReasoningContent = clean(a.Message.Content), clean(a.Message.ReasoningContent)
		for k := range a.Message.ToolCalls {
			a.Message.ToolCalls[k].Arguments = clean(a.Message.ToolCalls[k].Arguments)
		}
	}
	tr.Task.ProblemStatement = clean(tr.Task.ProblemStatement)
	for i := range tr.Turns {
		turn := &tr.Turns[i]
		if action(&turn.Action); turn.Label != nil {
			action(turn.Label)
		}
		for k := range turn.Observations {
			turn.Observations[k].Content = clean(turn.Observations[k].Content)
		}
	}
}

// eachRoute calls do for all routes of all trainers.
func eachRoute(t *testing.T, do func(t *testing.T, name string, route trainers.Route)) {
	for _, trainer := range trainers.All() {
		for _, route := range trainer.Routes {
			t.Run(trainer.Name+" "+string(route.View), func(t *testing.T) { do(t, trainer.Name, route) })
		}
	}
}

// studentFor returns a student that the route of a trainer accepts.
func studentFor(t *testing.T, route trainers.Route) (folder string, s *render.Student) {
	t.Helper()
	if !route.PrintsQwen3 {
		return testStudent(t)
	}
	folder = smallQwen3(t)
	s, err := render.Open(relabel.ExportForm{Tokenizer: folder})
	if err != nil {
		t.Fatal(err)
	}
	return folder, s
}

func TestExportsForEveryTrainerAreSound(t *testing.T) {
	eachRoute(t, func(t *testing.T, name string, route trainers.Route) {
		folder, student := studentFor(t, route)
		for _, beside := range [][]relabel.View{nil, {relabel.ViewMessages}, {relabel.ViewMessages, relabel.ViewLinear}} {
			views := append([]relabel.View{route.View}, beside...)
			if name == "openai" && len(beside) == 2 { // linear needs a tokenizer
				continue
			}
			slices.Sort(views)
			dir := exportFor(t, relabel.ExportForm{For: name, Views: slices.Compact(views)}, folder, 1)
			var s *render.Student
			if name != "openai" {
				s = student
			}
			r := check(t, dir, s)
			for _, p := range r.Problems {
				t.Errorf("%v: %s", views, p)
			}
			t.Log(r.Figure())
		}
	})
}

func TestACheckWarnsOfAConfigurationThatCutsRowsOrTrainsOnHistory(t *testing.T) {
	folder, student := testStudent(t)
	dir := exportFor(t, relabel.ExportForm{For: "axolotl"}, folder, 1)
	own, err := os.ReadFile(filepath.Join(dir, "axolotl.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		string(own): "",
		strings.Replace(string(own), "sequence_len: 65536", "sequence_len: 100", 1):                         "sequence_len: 100: the longest row has ",
		strings.Replace(string(own), "    type:", "    type: chat_template\n    roles_to_train: [user]", 1): "datasets[0].roles_to_train: [user]: it would train",
		"nothing": "is not a configuration of axolotl",
	} {
		r, err := verify.Check(context.Background(), dir, verify.Options{Student: student, Configuration: &verify.Configuration{Name: "a/axolotl.yaml", Text: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case want == "" && !r.Sound():
			t.Errorf("its own configuration: %v", r.Lines())
		case want != "" && (r.Sound() || !strings.Contains(strings.Join(r.Lines(), "\n"), "configuration: axolotl.yaml") || !strings.Contains(strings.Join(r.Lines(), "\n"), want)):
			t.Errorf("%s: %v", want, r.Lines())
		}
	}
}

// TestTheSameRowsForATrainerAreTheSameBytes: of all views and files, in the parts of two exports.
func TestTheSameRowsForATrainerAreTheSameBytes(t *testing.T) {
	folder, _ := testStudent(t)
	for _, name := range []string{"llama-factory", "ms-swift", "nemo-rl", "openrlhf", "openai", "axolotl"} {
		form := relabel.ExportForm{For: name, Divide: 2}
		one, two := filesBelow(t, exportFor(t, form, folder, 5)), filesBelow(t, exportFor(t, form, folder, 5))
		if !maps.Equal(one, two) {
			t.Errorf("%s: two exports of the same rows differ", name)
		}
		rows, files := 0, 0
		for path := range one {
			if strings.Contains(path, "0000") {
				files++
			}
		}
		for _, f := range readManifest(t, exportFor(t, form, folder, 5)).Files {
			rows += f.Rows
		}
		if rows == 0 || files != 6 { // three parts of two files
			t.Errorf("%s: %d rows in %d files", name, rows, files)
		}
	}
}

// TestAStudentThatATrainerWouldChangeIsRefused: ms-swift appends eos_token to rows that end with another token.
func TestAStudentThatATrainerWouldChangeIsRefused(t *testing.T) {
	folder, _ := testStudent(t)
	name := filepath.Join(folder, "tokenizer_config.json")
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := json.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	config["eos_token"] = "<|endoftext|>"
	writeJSON(t, name, config)
	s := newFixedStore()
	x := newTestExporter(t, s)
	for trainer, refused := range map[string]bool{"ms-swift": true, "openrlhf": true, "axolotl": false} {
		s.export.Form = relabel.ExportForm{For: trainer, Tokenizer: folder}
		_, err := x.Prepare(context.Background(), s.run.Recipe, s.export)
		var e *relabel.Error
		if is := errors.As(err, &e) && e.Field == "for" && strings.Contains(e.Message, "eos_token"); is != refused {
			t.Errorf("%s: %v", trainer, err)
		}
	}
}

// TestAStudentWithAnotherTemplateThanQwen3sIsRefused by a trainer that has this template built in.
func TestAStudentWithAnotherTemplateThanQwen3sIsRefused(t *testing.T) {
	s := newFixedStore()
	x := newTestExporter(t, s)
	for _, c := range []struct {
		tokenizer, options string
		refused            bool
	}{{"qwen3", "", false}, {"qwen3", `{"enable_thinking": false}`, true}, {"qwen2_5", "", true}} {
		folder := filepath.Join(prepared(t, "", "../scripts/tokenizers.sh", c.tokenizer), c.tokenizer)
		s.export.Form = relabel.ExportForm{For: "prime-rl", Tokenizer: folder, TemplateOptions: json.RawMessage(c.options)}
		_, err := x.Prepare(context.Background(), s.run.Recipe, s.export)
		var e *relabel.Error
		if is := errors.As(err, &e) && e.Field == "for" && strings.Contains(e.Message, "Qwen3"); is != c.refused || !is && err != nil {
			t.Errorf("%s %s: %v", c.tokenizer, c.options, err)
		}
	}
}

// TestTextOfSpecialTokensIsNotWrittenAsText: a trainer that encodes text would take it for the token.
func TestTextOfSpecialTokensIsNotWrittenAsText(t *testing.T) {
	folder, _ := testStudent(t)
	for _, form := range []relabel.ExportForm{{For: "trl", Views: []relabel.View{relabel.ViewPromptCompletion}}, {For: "openrlhf"}, {For: "nemo-rl"}} {
		m := readManifest(t, exportFor(t, form, folder, 1))
		if n := m.Excluded["special_token_in_text"]; n == 0 {
			t.Errorf("%s: excluded %v", form.For, m.Excluded)
		}
	}
}

func TestARowThatAlreadyBeginsWithBOSIsRefusedWhereTheTrainerAddsOne(t *testing.T) {
	for _, begins := range []bool{false, true} {
		form, err := trainers.Resolve(relabel.ExportForm{For: "ms-swift"})
		if err != nil {
			t.Fatal(err)
		}
		if err := checkStudent(form, &render.Student{Stop: "</s>", EOS: "</s>", BeginsWithBOS: begins}); (err != nil) != begins {
			t.Errorf("begins with BOS: %v: %v", begins, err)
		}
	}
}

// TestServedIDsAreNotTakenBesideText, which the trainer encodes itself.
func TestServedIDsAreNotTakenBesideText(t *testing.T) {
	id := relabel.NewID()
	l := &labelled{ExportTrajectory: relabel.ExportTrajectory{Student: relabel.Policy{ID: id}}}
	turn := relabel.Turn{T: 1, Label: &relabel.Action{PolicyID: id, PromptTokenIDs: []int32{1, 2}}}
	for view, taken := range map[relabel.View]int{relabel.ViewLinear: 2, relabel.ViewPromptCompletion: 0} {
		b := &selector{form: relabel.ExportForm{Views: []relabel.View{view}}}
		if got := b.servedPrompt(l, turn); len(got) != taken {
			t.Errorf("%s: %v", view, got)
		}
	}
}

// TestALabelThatMergesWithThePromptIsRefusedAsText: encoded as a whole, line breaks at the start of a label join that of the header.
func TestALabelThatMergesWithThePromptIsRefusedAsText(t *testing.T) {
	student, err := render.Open(relabel.ExportForm{Tokenizer: tokenizerFolder(t, "qwen2_5")})
	if err != nil {
		t.Fatal(err)
	}
	for text, refused := range map[string]bool{"Done.": false, "\n\nDone.": true} {
		c := student.Converse([]relabel.Message{{Role: relabel.RoleSystem, Content: "s"}, {Role: relabel.RoleUser, Content: "u"}}, nil)
		prompt, _, err := c.Prompt()
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.Label(relabel.Message{Role: relabel.RoleAssistant, Content: text})
		if err != nil {
			t.Fatal(err)
		}
		var refusal *render.Refusal
		if err := c.CheckText(prompt, answer); errors.As(err, &refusal) && refusal.Reason == render.MergesWithPrompt != refused || !errors.As(err, &refusal) == refused {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPackedRowsOfAStudentWithRecurrentLayersAreRefusedForTrainers(t *testing.T) {
	packed := relabel.ExportForm{For: "trl", Views: []relabel.View{relabel.ViewPacked}}
	for config, refused := range map[string]bool{`{"model_type":"qwen3_next"}`: true, `{"model_type":"qwen2"}`: false} {
		files := relabel.TokenizerFiles{relabel.ModelConfig: []byte(config)}
		var e *relabel.Error
		if _, err := checkModel(packed, files); errors.As(err, &e) != refused || refused && e.Field != "for" {
			t.Errorf("%s: %v", config, err)
		}
	}
}
