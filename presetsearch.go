package relabel

import (
	"cmp"
	"fmt"
)

// searchPaper is what the paper of ToolTrain says of one of its two stages.
type searchPaper struct {
	data, source, filtering, filteringAt, tasks, rounds, epochs string
	of                                                          int // tasks of the data
}

// The stages of ToolTrain (3.3, 4.4).
var (
	searchSFT = searchPaper{data: "10,000 issues", of: 10_000, source: "Claude-3.7-Sonnet", filtering: "at least one hit", filteringAt: "3.3.1", tasks: "all", rounds: "1", epochs: "3"}
	searchRL  = searchPaper{data: "18,000 issues", of: 18_000, source: "the model itself", filtering: unsaid, filteringAt: "–", tasks: "128", rounds: "1 epoch", epochs: "–"}
)

// unsaid stands for what a paper does not say: then the value is relabel's choice.
const unsaid = "not said"

// searchRows are the settings of a run with a preset of ToolTrain beside those of its paper.
func (r Run) searchRows(p Preset, tasks int) []PresetRow {
	const where = "4.4"
	t := *r.Trainer
	rows := []PresetRow{
		{Setting: "training data", Value: grouped(tasks) + " tasks", Paper: p.search.data, Where: where, By: "run", Differs: tasks != p.search.of},
		{Setting: "trajectory source", Value: source(r.Recipe), Paper: p.search.source, Where: "3.3, 4.4", By: "run"},
		{Setting: "filtering", Value: searchFiltering(r.Recipe), Paper: p.search.filtering, Where: p.search.filteringAt, By: "export"},
		r.enoughTasks(same("tasks per round", orAll(r.TasksPerRound), p.search.tasks, where, "run"), tasks),
		ours("generations per task", fmt.Sprint(max(r.Generations, 1)), "run"),
		same("rounds", fmt.Sprint(r.Rounds), p.search.rounds, where, "run"),
		same("epochs", orNone(t.Epochs), p.search.epochs, where, "trainer"),
		same("batch size", fmt.Sprint(t.BatchSize), "128", where, "trainer"),
		ours("learning rate", t.Rate(), "trainer"),
		same("verification", verified(r.Verify), verified(VerifyAll), "3.3", "run"),
		same("scaffold", r.Scaffold, searchScaffold, "3.1", "run"),
	}
	if p.Passes > 0 {
		rows[5].Value, rows[5].Differs = r.passes(p, tasks)
	}
	if p.limits != nil {
		rows = append(rows, r.searchLimits(p)...)
	} else {
		rows = append(rows, ours("sampling", "the policy's", "policies"), ours("maximum context, tokens", grouped(r.Limits.MaxContextTokens), "run"))
	}
	return append(rows,
		ours("maximum turns", fmt.Sprint(r.Limits.MaxTurns), "run"),
		ours("evaluation", "greedy", "run"),
		ours("tasks of a round", drawing(r.Draw), "run"))
}

// searchScaffold is the scaffold of all trajectories of ToolTrain.
const searchScaffold = "reposearcher"

// searchLimits are the settings of reinforcement learning alone.
func (r Run) searchLimits(p Preset) []PresetRow {
	const where = "4.4"
	limit := func(setting string, value, want int, paper string) PresetRow {
		return PresetRow{Setting: setting, Value: grouped(value), Paper: paper, Where: where, By: "run", Differs: value != want}
	}
	return []PresetRow{
		ours("algorithm", string(r.Recipe), "run"),
		{Setting: "reward", Value: fmt.Sprintf("nDCG@%d", r.Limits.ScoreDepth), Paper: "nDCG@k, k not said", Where: "3.3.2", By: "run"},
		{Setting: "sampling", Value: p.sampling.String(), Paper: "temperature 1.0", Where: where, By: "policies"},
		limit("maximum prompt, tokens", r.Limits.MaxPromptTokens, p.limits.MaxPromptTokens, "12k"),
		limit("maximum response, tokens", r.Limits.MaxResponseTokens, p.limits.MaxResponseTokens, "20k"),
		limit("maximum context, tokens", r.Limits.MaxContextTokens, p.limits.MaxContextTokens, "12k + 20k"),
	}
}

// ours is a row whose value the paper does not have.
func ours(setting, value, by string) PresetRow {
	return PresetRow{Setting: setting, Value: value, Paper: unsaid, Where: "–", By: by}
}

// searchFiltering is the default selection of exports of a recipe, of tasks to localise.
func searchFiltering(recipe Recipe) string {
	return cmp.Or(map[Recipe]string{SFT: "at least one hit", GRPO: "groups with different scores"}[recipe], "valid submissions")
}
