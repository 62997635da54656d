package web

import "relabel"

// Means describes a row of the view.
func (v viewRows) Means() string {
	return map[relabel.View]string{
		relabel.ViewMessages: "a labelled state as chat messages",
		relabel.ViewLinear:   "one sequence: a trunk with its labels, or a state with one",
		relabel.ViewPacked:   "a bin of sequences",
		relabel.ViewTree:     "a bin of token trees",
		relabel.ViewArrow:    "one sequence, for load_from_disk",
		relabel.ViewChat:     "a conversation with the messages that are trained on",

		relabel.ViewPreference:       "a state with its label and the executed action, which differs",
		relabel.ViewPromptCompletion: "a state and its label, as messages or text",
	}[v.View]
}

// Means describes why states were excluded.
func (c excludedCount) Means() string {
	if name, is := relabel.CutBenchmarkReason(c.Reason); is {
		return "the benchmark or exclusion list reserves the task: --allow-benchmark " + name + " of an export includes it"
	}
	return excludedWords[c.Reason]
}

var excludedWords = map[string]string{
	"not_submitted":             "the selection asked for valid submissions",
	"duplicate":                 "an earlier label of the mix has the same state and the same label",
	"over_labels_per_task":      "the mix has a maximum of labels per task, and the task has these without it",
	"not_sampled":               "the mix samples labels by their weights, and this one was not drawn",
	"equal_rewards":             "all of its group (the trajectories of its task in its iteration) have the same reward",
	"group_too_small":           "its group (the trajectories of its task in its iteration) has fewer than two members",
	"ids_not_served":            "the student’s server returned no ids of its action",
	"score_missing":             "teacher or student did not score the action",
	"score_invalid":             "the scores do not fit the action’s tokens",
	"score_impossible":          "a token has no probability",
	"no_reward":                 "it was submitted and has no verdict, and the selection asked for groups with mixed rewards",
	"cut_by_rule":               "the selection asked for valid submissions or verdicts, and the label rule ended the rollout before them",
	"not_verified":              "the selection relies on verdicts, and its iteration did not verify it: grade it with run verify",
	"verdict_outdated":          "the selection asked for verdicts of newer protections: grade the run again",
	"not_resolved":              "the selection asked for resolved trajectories",
	"no_hit":                    "the selection asked for answers that name a gold location",
	"score_too_low":             "the selection asked for a higher score",
	"ended_otherwise":           "the selection asked for other ends",
	"over_max_labels":           "the export has its number of labels without it",
	"special_token_in_text":     "the trainer would encode text in it as a special token",
	"not_plain_messages":        "no plain messages render to it, which the trainer needs",
	"label_merges_with_prompt":  "encoded as one text, prompt and label share a token",
	"label_executed":            "the selection asked for states whose label was not executed",
	"label_not_executed":        "the selection asked for states whose label was executed",
	"secret":                    "its state or its label has a secret: a key, a token or a password",
	"flagged":                   "a review’s flag excludes it",
	"failure_mode":              "the selection excludes its failure mode",
	"failure_mode_missing":      "the selection excludes failure modes, and its mode was not computed",
	"trajectory_failed":         "environment, endpoint or verifier failed, not the agent",
	"trajectory_cancelled":      "it was cancelled before it was done",
	"not_done":                  "it was not finished when the export was cut",
	"benchmark":                 "a named benchmark or an exclusion list reserves the task, and the export does not allow it",
	"held_out":                  "held-out tasks are never exported",
	"evaluation":                "evaluations are never exported",
	"label_missing":             "the teacher’s action is missing",
	"label_not_selected":        "the label rule did not ask the teacher at the state",
	"label_cut_by_length":       "the label has no end",
	"label_refused":             "the teacher refused",
	"label_no_call":             "the label has no call",
	"label_malformed_arguments": "the label’s arguments cannot be executed",
	"label_unknown_tool":        "the label calls an unknown tool",
	"label_not_text":            "the label has bytes that are not text",
	"label_unparsed":            "the label’s calls could not be parsed",
	"state_too_large":           "the state is over 12 MiB",
	"too_long":                  "longer than the maximum length",
	"label_not_continuing":      "the template renders the label so that it does not continue its prompt",
	"label_without_stop":        "the template renders the label without an end",
	"template_refused":          "the template refuses the state or the label",
	"arguments_not_json":        "the template needs objects, and arguments are malformed",
	"lone_surrogate":            "half of a surrogate pair, which has no token",
	"special_token_escaped":     "text of a special token cannot be distinguished from the token",
	"reasoning_not_rendered":    "reasoning is kept, but the template drops it",
}

// Opens reports whether the viewer can show a row of the view.
func (v viewRows) Opens() bool { return v.Rows > 0 }
