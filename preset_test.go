package relabel

import (
	"cmp"
	"errors"
	"slices"
	"testing"
)

// runFrom is a run of n tasks with a preset.
func runFrom(t *testing.T, preset string, n int, over Run) Run {
	t.Helper()
	p, err := FindPreset(preset)
	if err != nil {
		t.Fatal(err)
	}
	over.TaskKind, over.Limits, over.Scaffold = cmp.Or(p.Kind, Repair), p.Limits(cmp.Or(p.Kind, Repair)), cmp.Or(over.Scaffold, map[TaskKind]string{Localise: searchScaffold}[p.Kind], paperScaffold)
	run, err := p.Fill(over, n)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// Lines of the paper: table 5 (with F.2 where a cell is empty), then F.1.
func paperLines(data, source, filtering, tasks, generations, rounds, epochs, batch, rate, warmup, retained string, schedule ...string) []string {
	lines := []string{"training data: " + data, "trajectory source: " + source, "filtering: " + filtering, "tasks per online batch: " + tasks, "generations per task: " + generations,
		"online iterations: " + rounds, "epochs per batch: " + epochs, "batch size: " + batch, "learning rate: " + rate, "warmup ratio: " + warmup,
		"retained trajectories: " + retained, "GPUs: 4 A100", "training data of a round: fresh"}
	lines = append(lines, schedule...)
	return append(lines, "scaffold: openhands", "sampling: temperature 0.7, top_p 0.9", "evaluation: greedy", "maximum context, tokens: 65,536", "maximum turns: 100", "tasks of a round: not said")
}

func TestPresetsAgreeWithThePaperLineByLine(t *testing.T) {
	const beta = "teacher mixture βi: max(0.6, 1 − 0.2·(i−1))"                // F.1: β1 = 1.0, −0.2 an iteration, at least 0.6
	const labels = "labels of the teacher: every visited state"               // 3.2, F.2
	const passing, unneeded = "verification: all", "verification: not needed" // F.2
	const rho = "student prefix κ ~ ρi: shifting, 0 to 40"                    // F.1: Unif{0..40}, mass moving to longer prefixes
	online := func(schedule ...string) []string {
		return paperLines("SWE-Gym, 2,338 tasks", "mixture / student policy", "valid submissions", "512", "1", "5", "3", "16", "constant 3e-6", "–", "varies by batch", schedule...)
	}
	for preset, want := range map[string][]string{
		"sft-paper":       paperLines("SWE-Gym, 2,338 tasks", "teacher policy", "passing patches", "all", "1", "1", "3", "16", "cosine, 1e-5 → 1e-6", "0.1", "684", passing),
		"dagger-paper":    online(beta, labels, unneeded),
		"aggrevate-paper": online(rho, labels, unneeded),
		"opd-paper":       online(unneeded),
		"grpo-paper":      paperLines("SkyRL-v0, 293 tasks", "student policy", "executable feedback", "32", "8", "3 passes", "–", "32", "constant 1e-6", "–", "–", passing),
	} {
		tasks := 2338
		if preset == "grpo-paper" {
			tasks = 293
		}
		run := runFrom(t, preset, tasks, Run{})
		var got []string
		for _, row := range run.PresetRows(tasks) {
			got = append(got, row.Setting+": "+row.Paper)
			if row.Differs || row.Where == "" || row.By == "" {
				t.Errorf("%s: %+v", preset, row)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", preset, got, want)
		}
	}
}

// TestPresetsSetWhatTheyPrint compares the values of runs, which rows could hide.
func TestPresetsSetWhatTheyPrint(t *testing.T) {
	for preset, want := range map[string]Run{
		"sft-paper":       {Recipe: SFT, Generations: 1, Rounds: 1},
		"dagger-paper":    {Recipe: DAgger, TasksPerRound: 512, Generations: 1, Rounds: 5},
		"aggrevate-paper": {Recipe: AggreVaTe, TasksPerRound: 512, Generations: 1, Rounds: 5},
		"opd-paper":       {Recipe: OPD, TasksPerRound: 512, Generations: 1, Rounds: 5},
		"grpo-paper":      {Recipe: GRPO, TasksPerRound: 32, Generations: 8, Rounds: 28}, // 3·293 tasks, 32 a round
	} {
		got := runFrom(t, preset, 293, Run{})
		if got.Recipe != want.Recipe || got.TasksPerRound != want.TasksPerRound || got.Generations != want.Generations || got.Rounds != want.Rounds || got.Draw != DrawPermutation ||
			got.Preset != preset || (got.Beta != nil) != (want.Recipe == DAgger) || (got.Rho != nil) != (want.Recipe == AggreVaTe) {
			t.Errorf("%s: %+v", preset, got)
		}
	}
	if b := *runFrom(t, "dagger-paper", 1, Run{}).Beta; b.Kind != "linear" || b.Start != 1 || b.Step != 0.2 || b.Floor != 0.6 {
		t.Errorf("β: %+v", b)
	}
	online := Trainer{Epochs: 3, BatchSize: 16, Schedule: "constant", LearningRate: 3e-6, Data: "fresh"}
	for preset, want := range map[string]Trainer{
		"sft-paper":    {Epochs: 3, BatchSize: 16, Schedule: "cosine", LearningRate: 1e-5, MinLearningRate: 1e-6, WarmupRatio: 0.1, Data: "fresh"},
		"dagger-paper": online, "aggrevate-paper": online, "opd-paper": online,
		"grpo-paper": {BatchSize: 32, Schedule: "constant", LearningRate: 1e-6, Data: "fresh"},
	} {
		if got := *runFrom(t, preset, 1, Run{}).Trainer; got != want {
			t.Errorf("%s: %+v", preset, got)
		}
	}
}

func TestExplicitValuesOverrideAPresetAndTheRowsSaySo(t *testing.T) {
	own := Run{TasksPerRound: 100, Rounds: 9, Draw: DrawAnew, Beta: &BetaSchedule{Kind: "constant", Start: 0.5}}
	run := runFrom(t, "dagger-paper", 2338, own)
	if run.TasksPerRound != 100 || run.Rounds != 9 || run.Draw != DrawAnew || run.Beta != own.Beta || run.Generations != 1 {
		t.Errorf("%+v", run)
	}
	run.Limits.MaxTurns = 200
	var differ []string
	for _, row := range run.PresetRows(2338) {
		if row.Differs {
			differ = append(differ, row.Setting+": "+row.Value)
		}
	}
	want := []string{"tasks per online batch: 100", "online iterations: 9", "teacher mixture βi: constant 0.5", "maximum turns: 200"}
	if !slices.Equal(differ, want) {
		t.Errorf("got %q, want %q", differ, want)
	}
	p, _ := FindPreset("dagger-paper")
	var e *Error
	if _, err := p.Fill(Run{Recipe: SFT}, 1); !errors.As(err, &e) || e.Field != "recipe" {
		t.Error(err)
	}
	for _, name := range []string{"sft-paper", "grpo-paper"} {
		p, _ := FindPreset(name)
		if _, err := p.Fill(Run{Verify: VerifyNone}, 1); !errors.As(err, &e) || e.Field != "verify" {
			t.Errorf("%s without verdicts: %v", name, err)
		}
	}
	if rows := (Run{}).PresetRows(1); rows != nil {
		t.Errorf("without a preset: %v", rows)
	}
}

// TestRowsMarkEachChangeOfTheExperiment changes what table 5 and F.1 do not list in one row each.
func TestRowsMarkEachChangeOfTheExperiment(t *testing.T) {
	for _, c := range []struct {
		preset string
		tasks  int
		over   Run
		want   []string
	}{
		{"dagger-paper", 600, Run{LabelRule: "every:4", Verify: VerifyNone, Scaffold: "bare"}, []string{"training data: 600 tasks", "labels of the teacher: every:4", "scaffold: bare"}},
		{"aggrevate-paper", 2338, Run{LabelRule: LabelAll, Verify: VerifyAll}, nil},
		{"sft-paper", 2337, Run{Verify: "sample:9"}, []string{"training data: 2,337 tasks", "verification: sample:9"}},
		{"grpo-paper", 293, Run{Verify: "sample:9"}, []string{"verification: sample:9"}},
	} {
		var differ []string
		for _, row := range runFrom(t, c.preset, c.tasks, c.over).PresetRows(c.tasks) {
			if row.Differs {
				differ = append(differ, row.Setting+": "+row.Value)
			}
		}
		if !slices.Equal(differ, c.want) {
			t.Errorf("%s: got %q, want %q", c.preset, differ, c.want)
		}
	}
}

func TestAPresetRefusesAPolicyThatSamplesOtherwise(t *testing.T) {
	p, _ := FindPreset("dagger-paper")
	for name, c := range map[string]struct {
		sampling Sampling
		sound    bool
	}{
		"not pinned":  {PaperSampling, true},
		"pinned":      {PaperSampling.Pinned(ServerVLLM), true},
		"max tokens":  {Sampling{Temperature: 0.7, TopP: 0.9, MaxTokens: 4096}, true},
		"temperature": {Sampling{Temperature: 1, TopP: 0.9}, false},
		"top-p":       {Sampling{Temperature: 0.7, TopP: 1}, false},
		"top-k":       {Sampling{Temperature: 0.7, TopP: 0.9, TopK: new(20)}, false},
		"penalty":     {Sampling{Temperature: 0.7, TopP: 0.9, RepetitionPenalty: new(1.05)}, false},
	} {
		err := p.CheckSampling(Policy{Name: "s", Version: 1, Sampling: c.sampling}, "student")
		var e *Error
		if c.sound != (err == nil) || err != nil && (!errors.As(err, &e) || e.Field != "student" || e.Code != CodeInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMoreTasksPerRoundThanThereAreIsMarked(t *testing.T) {
	const setting = "tasks per online batch"
	for _, row := range runFrom(t, "dagger-paper", 5, Run{}).PresetRows(5) {
		if row.Setting == setting && (!row.Differs || row.Value != "512; only 5 can be drawn: each iteration needs a number") {
			t.Errorf("%+v", row)
		}
	}
	for _, row := range runFrom(t, "dagger-paper", 512, Run{}).PresetRows(512) {
		if row.Setting == setting && row.Differs {
			t.Errorf("%+v", row)
		}
	}
}

func TestPresetsOfToolTrainAgreeWithItsPaperLineByLine(t *testing.T) {
	common := func(rows ...string) []string {
		return append(rows, "maximum turns: 100 | not said", "evaluation: greedy | not said", "tasks of a round: without replacement, then a new permutation | not said")
	}
	for preset, c := range map[string]struct {
		tasks int
		want  []string
	}{
		"tooltrain-sft-paper": {10_000, common("training data: 10,000 tasks | 10,000 issues", "trajectory source: teacher policy | Claude-3.7-Sonnet", "filtering: at least one hit | at least one hit", "tasks per round: all | all",
			"generations per task: 1 | not said", "rounds: 1 | 1", "epochs: 3 | 3", "batch size: 128 | 128", "learning rate: cosine, 1e-5 → 1e-6 | not said", "verification: all | all", "scaffold: reposearcher | reposearcher",
			"sampling: the policy's | not said", "maximum context, tokens: 65,536 | not said")},
		"tooltrain-paper": {18_000, common("training data: 18,000 tasks | 18,000 issues", "trajectory source: student policy | the model itself", "filtering: groups with different scores | not said", "tasks per round: 128 | 128",
			"generations per task: 8 | not said", "rounds: 141, 1 pass over 18,000 tasks | 1 epoch", "epochs: – | –", "batch size: 128 | 128", "learning rate: constant 1e-6 | not said", "verification: all | all", "scaffold: reposearcher | reposearcher",
			"algorithm: grpo | not said", "reward: nDCG@5 | nDCG@k, k not said", "sampling: temperature 1, top_p 1 | temperature 1.0", "maximum prompt, tokens: 12,288 | 12k", "maximum response, tokens: 20,480 | 20k", "maximum context, tokens: 32,768 | 12k + 20k")},
	} {
		run := runFrom(t, preset, c.tasks, Run{})
		var got []string
		for _, row := range run.PresetRows(c.tasks) {
			got = append(got, row.Setting+": "+row.Value+" | "+row.Paper)
			if row.Differs || row.Where == "" || row.By == "" || (row.Paper == unsaid) != (row.Where == "–") {
				t.Errorf("%s: %+v", preset, row)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", preset, got, c.want)
		}
		run.Limits.MaxResponseTokens, run.Rounds, run.Scaffold = 1, 2, "other"
		if n := len(slices.DeleteFunc(run.PresetRows(c.tasks), func(r PresetRow) bool { return !r.Differs })); n != map[string]int{"tooltrain-paper": 3, "tooltrain-sft-paper": 2}[preset] {
			t.Errorf("%s: %d rows differ", preset, n)
		}
	}
	rl := runFrom(t, "tooltrain-paper", 18_000, Run{})
	if l := rl.Limits; rl.Recipe != GRPO || l.MaxPromptTokens != 12288 || l.MaxResponseTokens != 20480 || l.MaxContextTokens != 32768 || l.ScoreDepth != 5 || rl.Generations != 8 || rl.TasksPerRound != 128 || rl.Rounds != 141 {
		t.Errorf("%+v", rl)
	}
	if sft := runFrom(t, "tooltrain-sft-paper", 10, Run{}); sft.Recipe != SFT || sft.Trainer.Epochs != 3 || sft.Limits != Localise.DefaultLimits() || sft.Rounds != 1 {
		t.Errorf("%+v", sft)
	}
}

func TestPresetsRefuseTasksOfAnotherKind(t *testing.T) {
	for _, p := range Presets {
		other := map[TaskKind]TaskKind{"": Localise, Localise: Repair}[p.Kind]
		var e *Error
		if _, err := p.Fill(Run{TaskKind: other}, 1); !errors.As(err, &e) || e.Field != "preset" || e.Code != CodeInvalid {
			t.Errorf("%s with tasks to %s: %v", p.Name, other, err)
		}
	}
}

func TestToolTrainSamplesAtTemperatureOne(t *testing.T) {
	p, _ := FindPreset("tooltrain-paper")
	if err := p.CheckSampling(Policy{Sampling: Sampling{Temperature: 1, TopP: 1}.Pinned(ServerVLLM)}, "student"); err != nil {
		t.Error(err)
	}
	if err := p.CheckSampling(Policy{Sampling: PaperSampling}, "student"); err == nil {
		t.Error("temperature 0.7 passes")
	}
	p, _ = FindPreset("tooltrain-sft-paper")
	if err := p.CheckSampling(Policy{Sampling: PaperSampling}, "teacher"); err != nil {
		t.Errorf("its paper does not say how the teacher samples: %v", err)
	}
}
