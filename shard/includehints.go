package shard

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"relabel/shard/render"
)

// includeHints gives, for each reason, the command option and the REST field that would
// include the excluded states. Reasons that no option affects are not listed.
var includeHints = map[Reason]struct{ option, field string }{
	NotSubmitted:                    {"--no-submitted", `"submitted": false`},
	NotResolved:                     {"--no-resolved", `"resolved": false`},
	EqualRewards:                    {"--no-mixed-rewards", `"mixed_rewards": false`},
	GroupTooSmall:                   {"--no-mixed-rewards", `"mixed_rewards": false`},
	ScoreMissing:                    {"after run score", "after POST /v1/runs/{id}/scores"},
	NoReward:                        {"--no-mixed-rewards", `"mixed_rewards": false`},
	EndedOtherwise:                  {"no --end-reason", `no "end_reasons"`},
	OverMaxLabels:                   {"a larger --max-labels", `"max_labels"`},
	LabelExecuted:                   {"--agreement any", `"agreement": "any"`},
	LabelNotExecuted:                {"--agreement any", `"agreement": "any"`},
	Flagged:                         {"no --exclude-flag", `no "exclude_flags"`},
	HasFailureMode:                  {"no --exclude-flag mode:…", `no mode:… in "exclude_flags"`},
	NoFailureMode:                   {"a later export", "a later export"},
	LabelMissing:                    {"--label-policy POLICY", `"label_policy": "POLICY"`},
	TooLong:                         {"a larger --max-length or --capacity, --too-long cut", `"max_length", "capacity", "too_long": "cut"`},
	Reason(render.ArgumentsNotJSON): {"--arguments string", `"arguments": "string"`},
	Reason(render.ReasoningDropped): {"--reasoning template", `"reasoning": "template"`},
	TrajectoryFailed:                {"after run retry", "after POST /v1/iterations/{id}/retry"},
}

// reasonsText formats counts by reason, sorted by reason, each with the option that would
// include it.
func reasonsText(counts map[string]int) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		text := fmt.Sprintf("%d × %s", counts[reason], reason)
		if by, there := includeHints[Reason(reason)]; there {
			text += fmt.Sprintf(" (included with %s; REST: %s)", by.option, by.field)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
