package judge

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"relabel"
	"relabel/chat"
)

// Bounds of an answer.
const (
	mostExplanation = 2000 // characters
	mostCited       = 20   // turns
	mostQuoted      = 60   // characters of a wrong value in a reason
)

// fence is a code block around the whole answer.
var fence = regexp.MustCompile("(?s)^```(?:json)?\\s*\n(.*)\n\\s*```$")

// fields are the fields of an answer.
var fields = []string{"mode", "tool_use_error", "explanation", "turns"}

// Read reads a judge's answer about what it was shown. An error says what is wrong with it: the answer is
// invalid.
func Read(answer string, shown Shown) (relabel.Judgement, error) {
	var j relabel.Judgement
	text := strings.TrimSpace(answer)
	if block := fence.FindStringSubmatch(text); block != nil {
		text = block[1]
	}
	values, err := readFields(text)
	if err != nil {
		return j, err
	}
	for i, into := range []any{&j.Mode, &j.ToolUseError, &j.Explanation, &j.Turns} {
		if string(values[i]) == "null" || json.Unmarshal(values[i], into) != nil {
			return j, fmt.Errorf("%s has a value of the wrong type", fields[i])
		}
	}
	return j, check(&j, shown)
}

// readFields returns the values of the fields, which an answer has once each, without others.
func readFields(text string) ([]json.RawMessage, error) {
	all, ok := chat.ReadArguments(text)
	if !ok {
		return nil, fmt.Errorf("the answer is not one JSON object")
	}
	values := make([]json.RawMessage, len(fields))
	for _, field := range all {
		i := slices.Index(fields, field.Name)
		switch {
		case i < 0:
			return nil, fmt.Errorf("there is no field %s", quoted(field.Name))
		case values[i] != nil:
			return nil, fmt.Errorf("%s is there twice", field.Name)
		}
		values[i] = field.Value
	}
	if i := slices.IndexFunc(values, func(v json.RawMessage) bool { return v == nil }); i >= 0 {
		return nil, fmt.Errorf("%s is missing", fields[i])
	}
	return values, nil
}

func visible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// check checks an answer against what was shown, and sorts its turns.
func check(j *relabel.Judgement, shown Shown) error {
	modes, other := relabel.NotSubmittedModes, relabel.SubmittedModes
	if shown.Submitted {
		modes, other = other, modes
	}
	switch {
	case slices.Contains(other, j.Mode):
		return fmt.Errorf("the mode %s is not one of a trajectory with submitted %t", j.Mode, shown.Submitted)
	case !slices.Contains(modes, j.Mode):
		return fmt.Errorf("there is no mode %s", quoted(string(j.Mode)))
	case j.Mode == relabel.ModeWrongFile && !shown.Gold:
		return fmt.Errorf("wrong_file needs a gold patch, and none was shown")
	case !strings.ContainsFunc(j.Explanation, visible):
		return fmt.Errorf("explanation is empty")
	case utf8.RuneCountInString(j.Explanation) > mostExplanation:
		return fmt.Errorf("explanation has more than %d characters", mostExplanation)
	case len(j.Turns) > mostCited:
		return fmt.Errorf("turns has more than %d numbers", mostCited)
	case len(j.Turns) == 0 && shown.TurnsTotal > 0:
		return fmt.Errorf("turns is empty")
	}
	for _, t := range j.Turns {
		switch {
		case t < 1 || t > shown.TurnsTotal:
			return fmt.Errorf("there is no turn %d", t)
		case shown.From <= t && t <= shown.To:
			return fmt.Errorf("turn %d was not shown", t)
		}
	}
	slices.Sort(j.Turns)
	j.Turns = slices.Compact(j.Turns)
	return nil
}

func quoted(s string) string {
	if utf8.RuneCountInString(s) > mostQuoted {
		s = string([]rune(s)[:mostQuoted]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
