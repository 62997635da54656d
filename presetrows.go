package relabel

import (
	"cmp"
	"fmt"
)

// PresetRow is a setting of a run beside the paper's.
type PresetRow struct {
	Setting string `json:"setting" doc:"The setting, in the paper's words."`
	Value   string `json:"value" doc:"What the run has, or what its trainer should use."`
	Paper   string `json:"paper" doc:"What the paper has."`
	Where   string `json:"where" doc:"Where the paper says so."`
	By      string `json:"by" doc:"What applies it: run, export, policies, trainer, or – where nothing does."`
	Differs bool   `json:"differs" doc:"Whether the run has another value than the paper."`
}

// paperScaffold is the scaffold of all trajectories of the paper (4.1).
const paperScaffold = "openhands"

// column is a column of the paper's table 5.
type column struct {
	data, source, filtering, tasks, generations, rounds, epochs, batch, rate, warmup, retained string
	of                                                                                         int // tasks of the data
}

// The columns of table 5, with the words of F.2 where a cell is empty. SFT rolls out every task once
// (F.2); the policy gradient has no epochs.
var (
	columnSFT = column{data: "SWE-Gym, 2,338 tasks", of: 2338, source: "teacher policy", filtering: "passing patches", tasks: "all", generations: "1", rounds: "1", epochs: "3",
		batch: "16", rate: "cosine, 1e-5 → 1e-6", warmup: "0.1", retained: "684"}
	columnOnline = column{data: "SWE-Gym, 2,338 tasks", of: 2338, source: "mixture / student policy", filtering: "valid submissions", tasks: "512", generations: "1", rounds: "5", epochs: "3",
		batch: "16", rate: "constant 3e-6", warmup: "–", retained: "varies by batch"}
	columnGRPO = column{data: "SkyRL-v0, 293 tasks", of: 293, source: "student policy", filtering: "executable feedback", tasks: "32", generations: "8", rounds: "3 passes", epochs: "–",
		batch: "32", rate: "constant 1e-6", warmup: "–", retained: "–"}
)

// PresetRows lists the settings of a run with a preset and that many tasks: the lines of table 5 in its
// order, then those of F.1; or those of 3.3 and 4.4 of ToolTrain. It returns none without a preset.
func (r Run) PresetRows(tasks int) []PresetRow {
	p, err := FindPreset(r.Preset)
	if err != nil || r.Trainer == nil {
		return nil
	}
	if p.Kind == Localise {
		return r.searchRows(p, tasks)
	}
	return append(r.tableRows(p, tasks), r.configurationRows(p)...)
}

// tableRows are the lines of table 5.
func (r Run) tableRows(p Preset, tasks int) []PresetRow {
	const table, both = "table 5", "table 5, F.2"
	online := "table 5, F.1"
	if p.Recipe == SFT { // its cells are empty
		online = "F.2"
	}
	t := *r.Trainer
	rows := []PresetRow{
		{Setting: "training data", Value: grouped(tasks) + " tasks", Paper: p.paper.data, Where: "table 5, 4.1", By: "run", Differs: tasks != p.paper.of},
		{Setting: "trajectory source", Value: source(r.Recipe), Paper: p.paper.source, Where: table, By: "run"},
		{Setting: "filtering", Value: filtering(r.Recipe), Paper: p.paper.filtering, Where: both, By: "export"},
		r.tasksRow(p, tasks, online),
		same("generations per task", fmt.Sprint(max(r.Generations, 1)), p.paper.generations, both, "run"),
		same("online iterations", fmt.Sprint(r.Rounds), p.paper.rounds, online, "run"),
		same("epochs per batch", orNone(t.Epochs), p.paper.epochs, both, "trainer"),
		same("batch size", fmt.Sprint(t.BatchSize), p.paper.batch, both, "trainer"),
		same("learning rate", t.Rate(), p.paper.rate, both, "trainer"),
		same("warmup ratio", orNone(t.WarmupRatio), p.paper.warmup, both, "trainer"),
		{Setting: "retained trajectories", Value: "counted by each export", Paper: p.paper.retained, Where: table, By: "–"},
		{Setting: "GPUs", Value: "yours", Paper: "4 A100", Where: table, By: "–"},
	}
	if p.Passes > 0 {
		rows[5].Value, rows[5].Differs = r.passes(p, tasks)
	}
	return rows
}

// passes describes the rounds that cover the passes of a preset over the tasks, and says whether they do not.
func (r Run) passes(p Preset, tasks int) (value string, differs bool) {
	passes := "passes"
	if p.Passes == 1 {
		passes = "pass"
	}
	want := p.rounds(r.TasksPerRound, tasks)
	if r.Rounds == want {
		return fmt.Sprintf("%d, %d %s over %s tasks", r.Rounds, p.Passes, passes, grouped(tasks)), false
	}
	return fmt.Sprintf("%d; %d %s over %s tasks are %d", r.Rounds, p.Passes, passes, grouped(tasks), want), true
}

// tasksRow has the tasks of a round, and says if there are too few.
func (r Run) tasksRow(p Preset, tasks int, where string) PresetRow {
	return r.enoughTasks(same("tasks per online batch", orAll(r.TasksPerRound), p.paper.tasks, where, "run"), tasks)
}

// enoughTasks is a row with the tasks of a round, marked if there are too few.
func (r Run) enoughTasks(row PresetRow, tasks int) PresetRow {
	if r.TasksPerRound > tasks {
		row.Differs = true
		row.Value += fmt.Sprintf("; only %s can be drawn: each iteration needs a number", grouped(tasks))
	}
	return row
}

// configurationRows are the lines of F.1, and how tasks are drawn.
func (r Run) configurationRows(p Preset) []PresetRow {
	const where = "F.1"
	rows := []PresetRow{
		{Setting: "training data of a round", Value: r.Trainer.Data, Paper: "fresh", Where: "F.1, F.2", By: "export", Differs: r.Trainer.Data != "fresh"},
	}
	if r.Beta != nil {
		rows = append(rows, same("teacher mixture βi", betaText(*r.Beta), betaText(PaperBeta), where, "run"))
	}
	if r.Rho != nil {
		rows = append(rows, same("student prefix κ ~ ρi", r.Rho.Text(), PaperRho.Text(), where, "run"))
	}
	if r.Recipe == DAgger || r.Recipe == AggreVaTe {
		rows = append(rows, same("labels of the teacher", labelled(r.LabelRule), labelled(LabelAll), "3.2, F.2", "run"))
	}
	if p.reliesOnVerdicts() {
		rows = append(rows, same("verification", verified(r.Verify), verified(VerifyAll), "F.2", "run"))
	} else {
		rows = append(rows, PresetRow{Setting: "verification", Value: verified(r.Verify), Paper: "not needed", Where: "F.2", By: "run"})
	}
	return append(rows,
		same("scaffold", r.Scaffold, paperScaffold, "4.1, G.1", "run"),
		PresetRow{Setting: "sampling", Value: PaperSampling.String(), Paper: PaperSampling.String(), Where: where, By: "policies"},
		PresetRow{Setting: "evaluation", Value: "greedy", Paper: "greedy", Where: where, By: "run"},
		same("maximum context, tokens", grouped(r.Limits.MaxContextTokens), grouped(PaperLimits.MaxContextTokens), where, "run"),
		same("maximum turns", fmt.Sprint(r.Limits.MaxTurns), fmt.Sprint(PaperLimits.MaxTurns), where, "run"),
		PresetRow{Setting: "tasks of a round", Value: drawing(r.Draw), Paper: "not said", Where: "–", By: "run"},
	)
}

// same is a row whose value should be the paper's.
func same(setting, value, paper, where, by string) PresetRow {
	return PresetRow{Setting: setting, Value: value, Paper: paper, Where: where, By: by, Differs: value != paper}
}

// labelled says at which states a label rule asks the teacher.
func labelled(rule LabelRule) string {
	if rule == "" || rule == LabelAll {
		return "every visited state"
	}
	return string(rule)
}

// verified says which trajectories are verified.
func verified(policy VerifyPolicy) string { return string(cmp.Or(policy, VerifyAll)) }

func orAll(n int) string {
	if n == 0 {
		return "all"
	}
	return fmt.Sprint(n)
}

func orNone[T int | float64](x T) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprint(x)
}

// source says whose states a recipe trains on.
func source(recipe Recipe) string {
	return cmp.Or(map[Recipe]string{SFT: "teacher policy", DAgger: "mixture policy", AggreVaTe: "mixture policy"}[recipe], "student policy")
}

// filtering is the default selection of exports of a recipe.
func filtering(recipe Recipe) string {
	return cmp.Or(map[Recipe]string{SFT: "passing patches", GRPO: "executable feedback"}[recipe], "valid submissions")
}

func drawing(mode DrawMode) string {
	if mode == DrawPermutation {
		return "without replacement, then a new permutation"
	}
	return "drawn anew from all tasks"
}
