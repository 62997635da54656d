package relabel

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// DrawMode says how the iterations of a run draw their tasks.
type DrawMode string

// The modes.
const (
	DrawAnew        DrawMode = "anew"        // from all tasks in every iteration
	DrawPermutation DrawMode = "permutation" // without replacement: along a seeded permutation, then along the next one
)

// Walk is the place of an iteration in the permutations of its run's tasks.
type Walk struct {
	Permutation int  `json:"permutation" doc:"Number of the permutation that its last task is from, from 1."`
	Restarted   bool `json:"restarted" doc:"Whether that permutation began in this iteration, because the one before was exhausted."`
	Drawn       int  `json:"drawn" doc:"Tasks of the permutation that are drawn, with this iteration's."`
	Of          int  `json:"of" doc:"Tasks that the permutation has."`
}

// Text describes the place of an iteration, for people.
func (w Walk) Text() string {
	text := fmt.Sprintf("%s of %s tasks of permutation %d drawn", grouped(w.Drawn), grouped(w.Of), w.Permutation)
	if w.Restarted {
		text += ", which began in this iteration: the one before is exhausted"
	}
	return text
}

// WalkedDraw is the draw of an earlier iteration along a permutation.
type WalkedDraw struct {
	Walk      Walk
	Instances []string
}

// Preset is an experiment of a paper: what a run takes from it unless a request has other values.
type Preset struct {
	Name   string
	Recipe Recipe
	Kind   TaskKind // of its tasks; "" means repair
	Beta   *BetaSchedule
	Rho    *RhoSchedule
	// Tasks per round, rollouts per task, and rounds; 0: all tasks. Passes over all tasks give the
	// number of rounds where that depends on the number of tasks.
	TasksPerRound, Generations, Rounds, Passes int
	Trainer                                    Trainer

	limits   *RunLimits // nil: the defaults of the kind
	sampling *Sampling  // of the policies that act; nil: the paper does not say
	paper    column     // of table 5
	search   searchPaper
}

// Trainer is the configuration of the training that follows each round. relabel stores it and writes
// it into exports; the trainer applies it.
type Trainer struct {
	Epochs          int     `json:"epochs,omitempty" doc:"Epochs over each exported batch; absent: not given, as the policy gradient has none."`
	BatchSize       int     `json:"batch_size" doc:"Trajectories in a batch."`
	Schedule        string  `json:"schedule" doc:"Schedule of the learning rate: constant or cosine."`
	LearningRate    float64 `json:"learning_rate" doc:"Learning rate, the highest one of cosine."`
	MinLearningRate float64 `json:"min_learning_rate,omitempty" doc:"Last learning rate of cosine."`
	WarmupRatio     float64 `json:"warmup_ratio,omitempty" doc:"Share of the steps over which the learning rate rises; absent: none."`
	Data            string  `json:"data" doc:"fresh: the last round's data. aggregated: the data of all rounds."`
}

// Rate is the learning rate with its schedule, for people.
func (t Trainer) Rate() string {
	if t.Schedule == "cosine" {
		return "cosine, " + rate(t.LearningRate) + " → " + rate(t.MinLearningRate)
	}
	return t.Schedule + " " + rate(t.LearningRate)
}

// rate writes 3e-6 without the zero of 3e-06.
func rate(x float64) string {
	return strings.Replace(strconv.FormatFloat(x, 'e', -1, 64), "e-0", "e-", 1)
}

// trainerOnline is the training of the paper's own methods and of OPD (F.2, table 5).
var trainerOnline = Trainer{Epochs: 3, BatchSize: 16, Schedule: "constant", LearningRate: 3e-6, Data: "fresh"}

// toolTrainLimits are those of the paper of ToolTrain (4.4): 12k tokens of the first prompt, and 20k of all
// that follows, observations included.
var toolTrainLimits = func() RunLimits {
	limits := Localise.DefaultLimits()
	limits.MaxPromptTokens, limits.MaxResponseTokens, limits.MaxContextTokens = 12288, 20480, 32768
	return limits
}()

// toolTrainSampling is the sampling of the paper of ToolTrain in reinforcement learning (4.4). It names the
// temperature alone.
var toolTrainSampling = Sampling{Temperature: 1, TopP: 1}

// Presets are the experiments of the paper, in the order of its table 5, and then the two stages of ToolTrain
// (3.3, 4.4), whose tasks are to localise. ToolTrain names no group size and no learning rate: these are ours.
var Presets = []Preset{
	{Name: "sft-paper", Recipe: SFT, Generations: 1, Rounds: 1, sampling: &PaperSampling, paper: columnSFT,
		Trainer: Trainer{Epochs: 3, BatchSize: 16, Schedule: "cosine", LearningRate: 1e-5, MinLearningRate: 1e-6, WarmupRatio: 0.1, Data: "fresh"}},
	{Name: "dagger-paper", Recipe: DAgger, Beta: &PaperBeta, TasksPerRound: 512, Generations: 1, Rounds: 5, Trainer: trainerOnline, sampling: &PaperSampling, paper: columnOnline},
	{Name: "aggrevate-paper", Recipe: AggreVaTe, Rho: &PaperRho, TasksPerRound: 512, Generations: 1, Rounds: 5, Trainer: trainerOnline, sampling: &PaperSampling, paper: columnOnline},
	{Name: "opd-paper", Recipe: OPD, TasksPerRound: 512, Generations: 1, Rounds: 5, Trainer: trainerOnline, sampling: &PaperSampling, paper: columnOnline},
	{Name: "grpo-paper", Recipe: GRPO, TasksPerRound: 32, Generations: 8, Passes: 3, sampling: &PaperSampling, paper: columnGRPO,
		Trainer: Trainer{BatchSize: 32, Schedule: "constant", LearningRate: 1e-6, Data: "fresh"}},
	{Name: "tooltrain-sft-paper", Recipe: SFT, Kind: Localise, Generations: 1, Rounds: 1, search: searchSFT,
		Trainer: Trainer{Epochs: 3, BatchSize: 128, Schedule: "cosine", LearningRate: 1e-5, MinLearningRate: 1e-6, WarmupRatio: 0.1, Data: "fresh"}},
	{Name: "tooltrain-paper", Recipe: GRPO, Kind: Localise, TasksPerRound: 128, Generations: 8, Passes: 1, limits: &toolTrainLimits, sampling: &toolTrainSampling, search: searchRL,
		Trainer: Trainer{BatchSize: 128, Schedule: "constant", LearningRate: 1e-6, Data: "fresh"}},
}

// FindPreset finds a preset by its name. CodeInvalid if there is none.
func FindPreset(name string) (Preset, error) {
	i := slices.IndexFunc(Presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, Errorf(CodeInvalid, "%q is not a preset", name).On("preset")
	}
	return Presets[i], nil
}

// Limits are the limits of a run with tasks of the kind that has the preset, or none (the zero Preset).
func (p Preset) Limits(kind TaskKind) RunLimits {
	if p.limits != nil && kind == p.Kind {
		return *p.limits
	}
	return kind.DefaultLimits()
}

// fits reports whether a preset is for tasks of the kind. Those for tasks to repair are for all tasks in containers.
func (p Preset) fits(kind TaskKind) bool {
	return (p.Kind == Localise) == (kind == Localise)
}

// Fill gives a run that may draw that many tasks the values of p where it has none. CodeInvalid if the run has
// tasks of another kind or another recipe, or verifies nothing although exports rely on verdicts.
func (p Preset) Fill(run Run, tasks int) (Run, error) {
	if !p.fits(cmp.Or(run.TaskKind, Repair)) {
		return run, Errorf(CodeInvalid, "%s is for %s; the task set has %s", p.Name, cmp.Or(p.Kind, Repair).Words(), run.TaskKind.Words()).On("preset")
	}
	if run.Recipe != "" && run.Recipe != p.Recipe {
		return run, Errorf(CodeInvalid, "is %s; the preset %s is of the recipe %s", run.Recipe, p.Name, p.Recipe).On("recipe")
	}
	if p.reliesOnVerdicts() && run.Verify == VerifyNone {
		return run, Errorf(CodeInvalid, "is none; exports of the preset %s rely on verdicts: give all or sample:N", p.Name).On("verify")
	}
	run.Preset, run.Recipe, run.Trainer = p.Name, p.Recipe, &p.Trainer
	if run.Beta == nil {
		run.Beta = p.Beta
	}
	if run.Rho == nil {
		run.Rho = p.Rho
	}
	if run.Draw == "" {
		run.Draw = DrawPermutation
	}
	if run.TasksPerRound == 0 {
		run.TasksPerRound = p.TasksPerRound
	}
	if run.Generations == 0 {
		run.Generations = p.Generations
	}
	if run.Rounds == 0 {
		run.Rounds = p.rounds(run.TasksPerRound, tasks)
	}
	return run, nil
}

// reliesOnVerdicts reports whether the recipe selects or weighs trajectories by their verdicts.
func (p Preset) reliesOnVerdicts() bool { return p.Recipe == SFT || p.Recipe == GRPO }

// rounds is the number of rounds, which may follow from the passes over all tasks.
func (p Preset) rounds(perRound, tasks int) int {
	if p.Passes == 0 || perRound == 0 {
		return p.Rounds
	}
	return (p.Passes*tasks + perRound - 1) / perRound
}

// CheckSampling returns a CodeInvalid error on field if a policy of a run with a preset does not sample
// as those of its paper do: F.1, or 4.4 of ToolTrain, and nothing else that shapes the distribution. A setting
// that is not sent is not checked.
func (p Preset) CheckSampling(policy Policy, field string) error {
	if p.sampling == nil {
		return nil
	}
	s, want := policy.Sampling, *p.sampling
	other := s.Temperature != want.Temperature || s.TopP != want.TopP ||
		differs(s.TopK, NeutralTopK) || differs(s.MinP, NeutralMinP) || differs(s.RepetitionPenalty, NeutralRepetitionPenalty) ||
		differs(s.PresencePenalty, NeutralPenalty) || differs(s.FrequencyPenalty, NeutralPenalty)
	if !other {
		return nil
	}
	return Errorf(CodeInvalid, "%s@%d samples with %s; the preset %s needs %s and neutral values elsewhere (%s): register a version of the policy that samples so",
		policy.Name, policy.Version, s, p.Name, want, p.samplingSection()).On(field)
}

// samplingSection is where its paper says how policies sample.
func (p Preset) samplingSection() string {
	if p.Kind == Localise {
		return "ToolTrain 4.4"
	}
	return "paper F.1"
}

// Source says where its paper has the trainer's configuration.
func (p Preset) Source() string {
	if p.Kind == Localise {
		return "ToolTrain 4.4; its learning rate is not said, and this one is ours"
	}
	return "table 5, F.1, F.2"
}

func differs[T comparable](setting *T, neutral T) bool { return setting != nil && *setting != neutral }

// grouped writes an integer with commas between thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// betaText writes a schedule of β as the paper does, or names its kind.
func betaText(b BetaSchedule) string {
	switch b.Kind {
	case "linear":
		return fmt.Sprintf("max(%v, %v − %v·(i−1))", b.Floor, b.Start, b.Step)
	case "exponential":
		return fmt.Sprintf("max(%v, %v·%v^(i−1))", b.Floor, b.Start, b.Decay)
	case "list":
		return fmt.Sprintf("list %v", b.Values)
	}
	return fmt.Sprintf("constant %v", b.Start)
}

// Text describes the schedule in a few words.
func (r RhoSchedule) Text() string {
	switch r.Kind {
	case "list":
		return fmt.Sprintf("list %v", r.Values)
	case "constant":
		return fmt.Sprintf("= %d", r.Max)
	case "ranges":
		return fmt.Sprintf("ranges %v", r.Ranges)
	case "weights":
		return fmt.Sprintf("weights of %d iterations", len(r.Weights))
	}
	return fmt.Sprintf("%s, 0 to %d", r.Kind, r.Max)
}
