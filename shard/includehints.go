package shard

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"relabel"
	"relabel/shard/render"
)

// hint names what includes states: an option of the command line, and a REST field or operation.
type hint struct{ option, field string }

var runVerify = hint{"run verify", "POST /v1/runs/{id}/verify"}

// includeHints gives, for each reason, the command option and the REST field that would
// include the excluded states. Reasons that no option affects are not listed.
var includeHints = map[Reason]hint{
	NotSubmitted:                    {"--no-submitted", `"submitted": false`},
	CutByRule:                       {"--no-submitted and no filter by verdicts", `"submitted": false and no filter by verdicts`},
	NotResolved:                     {"--no-resolved", `"resolved": false`},
	NoHit:                           {"--no-hit", `"hit": false`},
	ScoreTooLow:                     {"a smaller --min-score", `"min_score"`},
	EqualRewards:                    {"--no-mixed-rewards", `"mixed_rewards": false`},
	GroupTooSmall:                   {"--no-mixed-rewards", `"mixed_rewards": false`},
	ScoreMissing:                    {"run score", "POST /v1/runs/{id}/scores"},
	NoReward:                        runVerify,
	NotVerified:                     runVerify,
	VerdictOutdated:                 runVerify,
	EndedOtherwise:                  {"no --end-reason", `no "end_reasons"`},
	OverMaxLabels:                   {"a larger --max-labels", `"max_labels"`},
	Duplicate:                       {`no "unique" in --mix`, `no "unique" in "mix"`},
	OverLabelsPerTask:               {`a larger "labels_per_task" in --mix`, `"labels_per_task" in "mix"`},
	NotSampled:                      {`larger weights, or no "sampled", in --mix`, `weights and "sampled" in "mix"`},
	LabelExecuted:                   {"--agreement any", `"agreement": "any"`},
	LabelNotExecuted:                {"--agreement any", `"agreement": "any"`},
	HasSecret:                       {"no --exclude-secrets", `"exclude_secrets": false`},
	Flagged:                         {"no --exclude-flag", `no "exclude_flags"`},
	HasFailureMode:                  {"no --exclude-flag mode:…", `no mode:… in "exclude_flags"`},
	NoFailureMode:                   {"a later export", "a later export"},
	LabelMissing:                    {"--label-policy POLICY", `"label_policy": "POLICY"`},
	TooLong:                         {"a larger --max-length or --capacity, --too-long cut", `"max_length", "capacity", "too_long": "cut"`},
	Reason(render.ArgumentsNotJSON): {"--arguments string", `"arguments": "string"`},
	Reason(render.ReasoningDropped): {"--reasoning template", `"reasoning": "template"`},
	TrajectoryFailed:                {"run retry", "POST /v1/iterations/{id}/retry"},
}

// hintFor returns the hint for a counted reason. That for a task of a benchmark names the benchmark.
func hintFor(reason string) (h hint, there bool) {
	if name, is := relabel.CutBenchmarkReason(reason); is {
		return hint{"--allow-benchmark " + name, fmt.Sprintf(`"allow_benchmarks": [%q]`, name)}, true
	}
	h, there = includeHints[Reason(reason)]
	return h, there
}

// refusesHint reports whether a run or its exports refuse what a reason's hint names.
func refusesHint(run relabel.Run, reason Reason) bool {
	switch reason {
	case EqualRewards, GroupTooSmall:
		return run.Recipe == relabel.GRPO
	case LabelMissing:
		return run.Recipe.OnPolicy()
	case NoReward, NotVerified:
		return run.TaskKind == relabel.Localise || run.TaskKind == relabel.Terminal // they are not graded again
	}
	return false
}

// reasonsText formats counts by reason, sorted by reason, each with the option that would
// include it in an export of the run.
func reasonsText(run relabel.Run, counts map[string]int) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		text := fmt.Sprintf("%d × %s", counts[reason], reason)
		if by, there := hintFor(reason); there && !refusesHint(run, Reason(reason)) {
			text += fmt.Sprintf(" (to include them: %s; REST: %s)", by.option, by.field)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
