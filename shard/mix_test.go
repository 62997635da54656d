package shard

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/chat"
	"relabel/conversations"
	"relabel/shard/rows"
	"relabel/shard/shardtest"
	"relabel/store"
	"relabel/store/storetest"
)

// mixRun stores a run of n tasks with an iteration of three turns each, in which the student does what say says at
// a turn of a task, and the teacher labels it so too, or with a word before it.
func mixRun(t *testing.T, s *store.Store, name string, n int, beta float64, say func(task, turn int) string) storetest.Seeded {
	t.Helper()
	ctx := t.Context()
	d := storetest.SeedWith(t, s, n, func(d *storetest.Seeded) {
		d.Run.Name, d.Iteration.Beta = name, &beta
		for i := range d.Trajectories {
			d.Trajectories[i].Executors = "sss"
		}
	})
	for i := range d.Trajectories {
		c := storetest.Claim(t, s, d.Trajectories[i].ID, "w")
		for turn := 1; turn <= 3; turn++ {
			label := called(c.Teacher.ID, "look first: "+say(i, turn))
			of := storetest.Turn(c, turn, &label)
			of.Action = called(c.Student.ID, say(i, turn))
			of.Observations = []relabel.Observation{{CallID: relabel.CallID(turn, 0), Tool: "finish", Content: fmt.Sprintf("done in %d.%02d s", turn, n)}}
			must(t, s.CommitTurn(ctx, c.Fence, of))
		}
		must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("diff --git a/a b/a\n"), Submitted: true}))
		must(t, s.BeginVerifying(ctx, c.Fence))
		must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Passed: true, Reason: "tests", Tests: map[string]relabel.TestStatus{"tests/test_a.py::test_it": relabel.TestPassed}}))
	}
	return d
}

// called is an action of a policy that says text and calls finish.
func called(policy relabel.ID, text string) relabel.Action {
	m := relabel.Message{Role: relabel.RoleAssistant, Content: text, ToolCalls: []relabel.ToolCall{{ID: "c", Name: "finish", Arguments: "{}"}}}
	return relabel.Action{PolicyID: policy, Status: relabel.Received, Raw: chat.AppendMessage(nil, m), Message: m, FinishReason: "tool_calls", Parse: relabel.ParsedOK}
}

// buildMix exports with a mix, by as many workers, which take steps in any order.
func buildMix(t *testing.T, s *store.Store, e relabel.Export, workers int) (dir string, m relabel.Manifest) {
	t.Helper()
	ctx := context.Background()
	root := t.TempDir()
	x := NewExporter(Config{Tokenizers: shardtest.Tokenizers(t), Store: s, Root: root, FolderID: "here", Log: zerolog.Nop(), Version: "test"})
	x.partBytes = 300
	e.ID = relabel.NewID()
	e, err := x.Prepare(ctx, relabel.DAgger, e)
	must(t, err)
	must(t, s.CreateExport(ctx, e))
	step := func(step relabel.ExportStep, part int) {
		if err := x.Step(ctx, relabel.ExportJob{ExportID: e.ID, Step: step, Part: part}); err != nil {
			t.Errorf("%s %d: %v", step, part, err)
		}
	}
	step(relabel.CutExport, 0)
	cut, err := s.FindExport(ctx, e.ID)
	must(t, err)
	each := func(of relabel.ExportStep) {
		parts := make(chan int, cut.Parts)
		for _, n := range rand.Perm(cut.Parts) {
			parts <- n
		}
		close(parts)
		var work sync.WaitGroup
		for range workers {
			work.Go(func() {
				for n := range parts {
					step(of, n)
				}
			})
		}
		work.Wait()
	}
	if e.Mix.Compares() {
		each(relabel.SignPart)
		step(relabel.CompareExport, 0)
	}
	each(relabel.BuildPart)
	step(relabel.FinishExport, 0)
	done, err := s.FindExport(ctx, e.ID)
	must(t, err)
	if done.State != relabel.ExportDone {
		t.Fatalf("%+v", done)
	}
	text, err := os.ReadFile(filepath.Join(done.Directory, manifestName))
	must(t, err)
	must(t, json.Unmarshal(text, &m))
	return done.Directory, m
}

// contentsOf returns the names and hashes of an export's files.
func contentsOf(t *testing.T, dir string) (all []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all = append(all, fmt.Sprintf("%s %x", name, sha256.Sum256(text)))
		return err
	}))
	return all
}

// weightsIn returns the weights of each label of the linear view, by trajectory and turn.
func weightsIn(t *testing.T, dir string, m relabel.Manifest) map[string]float32 {
	t.Helper()
	view, all := rows.FolderView(dir, m, relabel.ViewLinear), map[string]float32{}
	for n := range view.Len() {
		row, _, err := view.At(n)
		must(t, err)
		for _, s := range row.Spans {
			all[fmt.Sprintf("%s/%d", s.Trajectory, s.Turn)] = row.Weights[s.Start]
		}
	}
	return all
}

func TestAMixOfThreeRunsIsTheSameOnAnyNumberOfWorkers(t *testing.T) {
	t.Parallel()
	folder, student := testStudent(t)
	s := storetest.New(t)
	own := func(name string) func(int, int) string {
		return func(task, turn int) string { return fmt.Sprintf("%s %d %d", name, task, turn) }
	}
	a, b, c := mixRun(t, s, "a", 4, 0.5, own("a")), mixRun(t, s, "b", 3, 0.25, own("b")), mixRun(t, s, "c", 5, 0, own("c"))
	of := func(d storetest.Seeded) relabel.ExportSelection {
		return relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1, Submitted: true}
	}
	e := relabel.Export{State: relabel.ExportQueued, Selection: of(a), Form: relabel.ExportForm{Views: relabel.Views, Tokenizer: folder, Capacity: 4096},
		Mix: &relabel.Mix{Sources: []relabel.MixSource{
			{Selection: of(b), Weights: relabel.LabelWeights{Weight: new(0.5)}},
			{Selection: of(c), Weights: relabel.LabelWeights{Weight: new(3.0), Betas: []relabel.BetaWeight{{Max: 0.1, Weight: 0.5}}}}}}}
	dir, m := buildMix(t, s, e, 1)
	again, _ := buildMix(t, s, e, 3)
	if first, second := contentsOf(t, dir), contentsOf(t, again); !slices.Equal(first, second) {
		t.Errorf("one worker wrote %v, three wrote %v", first, second)
	}
	for _, p := range check(t, dir, student).Problems {
		t.Error(p)
	}
	want := map[string]float32{}
	for run, weight := range map[*storetest.Seeded]float32{&a: 1, &b: 0.5, &c: 1.5} {
		for _, tr := range run.Trajectories {
			for turn := 1; turn <= 3; turn++ {
				want[fmt.Sprintf("%s/%d", tr.ID, turn)] = weight
			}
		}
	}
	if got := weightsIn(t, dir, m); !maps.Equal(got, want) {
		t.Errorf("weights %v, want %v", got, want)
	}
	if m.Mix == nil || len(m.Mix.Sources) != 3 || m.States != 36 || m.Run != a.Run.ID.String() || len(m.Iterations) != 1 {
		t.Fatalf("%+v", m)
	}
	readme, err := os.ReadFile(filepath.Join(dir, readmeName))
	must(t, err)
	if row := fmt.Sprintf("| 1 | %s | 1 | 0.5 | 9 | ", b.Run.Name); !strings.Contains(string(readme), row) {
		t.Errorf("README.md has no %q:\n%s", row, readme)
	}
	share := 0.0
	for i, states := range []int{12, 9, 15} {
		source := m.Mix.Sources[i]
		share += source.Share
		if source.States != states || source.Iterations[0].Labels != states || source.Compared.Labels != states || source.Compared.Duplicates != 0 {
			t.Errorf("%+v", source)
		}
	}
	if perToken := m.Mix.Sources[2].Weight / float64(m.Mix.Sources[2].Iterations[0].SupervisedTokens); math.Abs(perToken-1.5) > 1e-9 || math.Abs(share-1) > 1e-9 {
		t.Errorf("%v a token, shares add up to %v", perToken, share)
	}
}

func TestAMixCountsDropsAndCapsWhatSeveralRunsHave(t *testing.T) {
	t.Parallel()
	folder, student := testStudent(t)
	s := storetest.New(t)
	same := func(task, turn int) string { return fmt.Sprintf("task %d turn %d", task, turn) }
	near := func(task, turn int) string { return fmt.Sprintf("task %d turn %d", task+100, turn) }
	a, b, c := mixRun(t, s, "a", 2, 0.5, same), mixRun(t, s, "b", 2, 0.5, same), mixRun(t, s, "c", 2, 0.5, near)
	e := relabel.Export{State: relabel.ExportQueued, Selection: relabel.ExportSelection{RunID: a.Run.ID, Iteration: 1, Submitted: true},
		Form: relabel.ExportForm{Views: []relabel.View{relabel.ViewMessages, relabel.ViewLinear}, Tokenizer: folder, Capacity: 4096}, Mix: &relabel.Mix{}}
	for _, d := range []storetest.Seeded{b, c, a} { // a is there already: its trajectories are exported once
		e.Mix.Sources = append(e.Mix.Sources, relabel.MixSource{Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1, Submitted: true}})
	}
	for _, try := range []struct {
		unique        bool
		perTask, want int
		excluded      map[string]int
	}{
		{false, 0, 18, map[string]int{}},
		{true, 0, 12, map[string]int{"duplicate": 6}},
		{false, 4, 8, map[string]int{"over_labels_per_task": 10}},
		{true, 4, 8, map[string]int{"duplicate": 6, "over_labels_per_task": 4}},
	} {
		e.Mix.Unique, e.Mix.LabelsPerTask = try.unique, try.perTask
		dir, m := buildMix(t, s, e, 2)
		for _, p := range check(t, dir, student).Problems {
			t.Error(p)
		}
		if m.States != try.want || !maps.Equal(m.Excluded, try.excluded) {
			t.Errorf("%+v: %d states, excluded %v", try, m.States, m.Excluded)
		}
		for i, want := range []relabel.ComparedLabels{{Labels: 6}, {Labels: 6, Duplicates: 6}, {Labels: 6, NearDuplicates: 6}, {Overlapping: 2}} {
			if got := *m.Mix.Sources[i].Compared; got != want {
				t.Errorf("source %d: %+v, want %+v", i, got, want)
			}
		}
		perTask := map[string]int{}
		for label := range weightsIn(t, dir, m) {
			perTask[taskOf(label, a, b, c)]++
		}
		for task, n := range perTask {
			if try.perTask > 0 && n != try.perTask {
				t.Errorf("%+v: %d labels of %s", try, n, task)
			}
		}
	}
}

// taskOf returns the instance id of the task of a label, <trajectory>/<turn>.
func taskOf(label string, of ...storetest.Seeded) string {
	trajectory, _, _ := strings.Cut(label, "/")
	for _, d := range of {
		for i, tr := range d.Trajectories {
			if tr.ID.String() == trajectory {
				return d.Tasks[i].InstanceID
			}
		}
	}
	return ""
}

func TestASampledMixHasLabelsByProbability(t *testing.T) {
	t.Parallel()
	folder, student := testStudent(t)
	s := storetest.New(t)
	a := mixRun(t, s, "a", 20, 0.5, func(task, turn int) string { return fmt.Sprintf("a %d %d", task, turn) })
	b := mixRun(t, s, "b", 20, 0.5, func(task, turn int) string { return fmt.Sprintf("b %d %d", task, turn) })
	e := relabel.Export{State: relabel.ExportQueued, Selection: relabel.ExportSelection{RunID: a.Run.ID, Iteration: 1, Submitted: true},
		Form: relabel.ExportForm{Views: []relabel.View{relabel.ViewLinear}, Tokenizer: folder, Capacity: 4096, Bare: true},
		Mix: &relabel.Mix{Sampled: true, Sources: []relabel.MixSource{{Selection: relabel.ExportSelection{RunID: b.Run.ID, Iteration: 1, Submitted: true},
			Weights: relabel.LabelWeights{Weight: new(0.25)}}}}}
	dir, m := buildMix(t, s, e, 2)
	for _, p := range check(t, dir, student).Problems {
		t.Error(p)
	}
	// 60 labels with probability 0.25: fewer than 5 or more than 27 have a probability below 10⁻³.
	if n := m.Mix.Sources[1].States; m.Mix.Sources[0].States != 60 || n < 5 || n > 27 || m.Excluded["not_sampled"] != 60-n {
		t.Errorf("%d and %d labels, excluded %v", m.Mix.Sources[0].States, n, m.Excluded)
	}
}

func TestAMixThatRowsCannotExpressIsRefused(t *testing.T) {
	folder, _ := testStudent(t)
	x := newTestExporter(t, newFixedStore())
	half := &relabel.Mix{Weights: relabel.LabelWeights{AgeDecay: new(0.5)}}
	for field, forms := range map[string][]relabel.ExportForm{
		"mix":  {{Views: []relabel.View{relabel.ViewMessages}}, {Views: []relabel.View{relabel.ViewLinear, relabel.ViewPreference}, Tokenizer: folder}},
		"bare": {{Views: []relabel.View{relabel.ViewLinear}, Tokenizer: folder, Bare: true}},
	} {
		for _, form := range forms {
			_, err := x.Prepare(t.Context(), relabel.DAgger, relabel.Export{ID: relabel.NewID(), Form: form, Mix: half})
			var e *relabel.Error
			if !errors.As(err, &e) || e.Code != relabel.CodeInvalid || e.Field != field {
				t.Errorf("%s of %v: %v", field, form.Views, err)
			}
		}
	}
}

func TestNearDuplicatesDifferInNumbersIdsAndSpaces(t *testing.T) {
	for a, b := range map[string]string{
		`3 passed in 0.51s at 0x7f3a9c`:              `4 passed in 12.0s  at 0x1`,
		`commit 9fceb02d0ae598e95dc970b74767f19372d`: `commit abcdef1`,
		`a\nb`:      `a b`,
		`tmp1234/x`: `tmp7/x`,
	} {
		if x, y := string(withoutVolatile([]byte(a))), string(withoutVolatile([]byte(b))); x != y {
			t.Errorf("%q and %q: %q, %q", a, b, x, y)
		}
	}
	for a, b := range map[string]string{"feedback": "deadbeef", "class A": "class B", "x1y": "x1z", "ab": "a b"} {
		if x, y := string(withoutVolatile([]byte(a))), string(withoutVolatile([]byte(b))); x == y {
			t.Errorf("%q and %q are both %q", a, b, x)
		}
	}
}

func TestConversationsAreMixedBesideRuns(t *testing.T) {
	t.Parallel()
	folder, student := testStudent(t)
	s := storetest.New(t)
	a := mixRun(t, s, "a", 2, 0.5, func(task, turn int) string { return fmt.Sprintf("a %d %d", task, turn) })
	file := `{"messages":[{"role":"user","content":"What is 2+2?"},{"role":"assistant","content":"4"},{"role":"user","content":"And <|im_end|>?"},{"role":"assistant","content":"No."}]}
{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Weather?"},{"role":"assistant","content":"","tool_calls":[{"id":"x","type":"function","function":{"name":"look","arguments":{"b":1.0,"a":[2]}}}],"weight":0},{"role":"tool","tool_call_id":"x","content":"sun"},{"role":"assistant","content":"Sunny."}],"tools":[{"type":"function","function":{"name":"look","description":"d","parameters":{"type":"object"}}}]}
`
	set := relabel.ConversationSet{Name: "general", Digest: strings.Repeat("ab", 32)}
	must(t, s.CreateConversationSet(t.Context(), &set, conversations.Chunks(conversations.Read(strings.NewReader(file)), 100, &set)))
	if set.Conversations != 2 || set.Labels != 3 {
		t.Errorf("%+v", set)
	}
	e := relabel.Export{State: relabel.ExportQueued, Selection: relabel.ExportSelection{RunID: a.Run.ID, Iteration: 1, Submitted: true},
		Form: relabel.ExportForm{Views: []relabel.View{relabel.ViewMessages, relabel.ViewLinear, relabel.ViewTree}, Tokenizer: folder, Capacity: 4096},
		Mix:  &relabel.Mix{Sources: []relabel.MixSource{{Selection: relabel.ExportSelection{Conversations: &set}, Weights: relabel.LabelWeights{Weight: new(0.1)}}}}}
	dir, m := buildMix(t, s, e, 2)
	again, _ := buildMix(t, s, e, 1)
	if first, second := contentsOf(t, dir), contentsOf(t, again); !slices.Equal(first, second) {
		t.Errorf("two workers wrote %v, one wrote %v", first, second)
	}
	for _, p := range check(t, dir, student).Problems {
		t.Error(p)
	}
	general := m.Mix.Sources[1]
	if m.States != 9 || general.States != 3 || general.Excluded["label_not_selected"] != 1 || m.SpecialText == 0 || general.Parts != 2 || general.Run != "general" {
		t.Errorf("%d states, %+v", m.States, general)
	}
	light := 0
	for _, w := range weightsIn(t, dir, m) {
		if w == 0.1 {
			light++
		}
	}
	if light != 3 {
		t.Errorf("%d labels weigh 0.1", light)
	}
	for name, alter := range map[string]func(it *relabel.ManifestIteration){
		"labels": func(it *relabel.ManifestIteration) { it.Labels++ }, "tokens": func(it *relabel.ManifestIteration) { it.SupervisedTokens-- },
		"weight": func(it *relabel.ManifestIteration) { it.Weight *= 1.01 }, "factor": func(it *relabel.ManifestIteration) { it.Factor = 0.2 },
	} {
		altered := readManifest(t, again)
		alter(&altered.Mix.Sources[1].Iterations[0])
		writeJSON(t, filepath.Join(again, manifestName), altered)
		if check(t, again, student).Sound() {
			t.Errorf("other %s pass", name)
		}
	}
	view := rows.FolderView(dir, m, relabel.ViewMessages)
	row, _, err := view.At(view.Len() - 1)
	must(t, err)
	want := `[{"role":"system","content":"Be brief."},{"role":"user","content":"Weather?"},{"role":"assistant","content":"","tool_calls":[{"id":"call_1_0","type":"function","function":{"name":"look","arguments":"{\"b\":1.0,\"a\":[2]}"}}]},{"role":"tool","content":"sun","tool_call_id":"call_1_0"}]`
	if string(row.Messages) != want {
		t.Errorf("%s", row.Messages)
	}
}

// Weights in files are of single precision: a product of factors must not become 0 or infinite there.
func TestFactorsOutsideOfTheirBoundsAreRefused(t *testing.T) {
	beta, tiny, huge := 0.5, 1e-40, 1000.0
	of := func(n int, w relabel.LabelWeights) error {
		b := &selector{mixing: mixing{weights: w}, sel: relabel.ExportSelection{Iteration: n}}
		return b.checkFactor(relabel.Iteration{Number: 1, Beta: &beta})
	}
	many := slices.Repeat([]relabel.BetaWeight{{Max: 1, Weight: 1000}}, 3)
	for name, err := range map[string]error{
		"tiny": of(1, relabel.LabelWeights{Weight: &tiny}), "huge": of(1, relabel.LabelWeights{Betas: many}), "old": of(500, relabel.LabelWeights{AgeDecay: &beta}),
	} {
		if relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "iteration 1") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := of(1, relabel.LabelWeights{Weight: &huge}); err != nil {
		t.Error(err)
	}
}
