package judge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"unicode/utf8"

	"relabel"
)

// Record is a trajectory as a judge may see it.
type Record struct {
	ID       relabel.ID // random, so that no text of the trajectory can know the record's number
	Task     relabel.Task
	Evidence relabel.FailureEvidence
	Turns    []relabel.Turn // all, in order
	Gold     bool           // the gold patch is shown if the task has one
}

// Number is the random number of the record's first and last lines.
func (r Record) Number() string {
	sum := sha256.Sum256([]byte("relabel/judge/" + r.ID.String()))
	return hex.EncodeToString(sum[:16])
}

// The lines of a record.
type (
	taskLine struct {
		Repository string  `json:"repository"`
		Statement  excerpt `json:"problem_statement"`
		Gold       excerpt `json:"gold_patch,omitzero"`
	}
	outcomeLine struct {
		Submitted bool    `json:"submitted"`
		End       string  `json:"rollout_ended_by"`
		Turns     int     `json:"turns"`
		Patch     excerpt `json:"patch"`
		Verdict   string  `json:"tests,omitempty"` // why the submission did not pass
		Output    excerpt `json:"output_of_tests,omitzero"`
	}
	turnLine struct {
		Turn    int      `json:"turn"`
		Thought excerpt  `json:"thought,omitzero"`
		Text    excerpt  `json:"text,omitzero"`
		Calls   []call   `json:"calls"`
		Results []result `json:"results"`
	}
	call struct {
		Tool      excerpt `json:"tool"`
		Arguments excerpt `json:"arguments"`
	}
	result struct {
		Output   excerpt `json:"output"`
		ExitCode *int    `json:"exit_code,omitempty"`
		Failed   bool    `json:"tool_refused_or_failed,omitempty"`
	}
	hiddenLine struct {
		Hidden struct {
			From int `json:"from"`
			To   int `json:"to"`
		} `json:"hidden_turns"`
	}
)

// excerpt is a text, or its beginning and end with the length of what is omitted between them.
type excerpt struct {
	Beginning string `json:"beginning"`
	Omitted   int    `json:"omitted_bytes"`
	End       string `json:"end"`
}

// MarshalJSON writes a whole text as a string.
func (e excerpt) MarshalJSON() ([]byte, error) {
	type parts excerpt
	if e.Omitted == 0 {
		return json.Marshal(e.Beginning)
	}
	return json.Marshal(parts(e))
}

// controlToken is a text that some tokenizers read as a control token.
var controlToken = regexp.MustCompile(`\[(/?[A-Za-z]?[A-Z_]+)\]`)

// line is a JSON value in one line. The encoder escapes <, > and line breaks, this function [INST] and
// the like: a server that looks for control tokens in the text of a message finds none.
func line(v any) []byte {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("a line of a record cannot be encoded: %v", err))
	}
	return append(controlToken.ReplaceAll(encoded, []byte(`\u005b$1]`)), '\n')
}

// writer makes lines whose texts have at most limit bytes; those of task and outcome four times as many.
type writer struct {
	limit     int // 0: none
	shortened int // texts whose middle is omitted
}

// text shortens a text to limit bytes, half of them from each end, without the parts of a character.
func (w *writer) text(s string, limit int) excerpt {
	if limit == 0 || len(s) <= limit {
		return excerpt{Beginning: s}
	}
	w.shortened++
	head, tail := limit/2, len(s)-limit/2
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return excerpt{s[:head], tail - head, s[tail:]}
}

// head are the lines of task and outcome.
func (w *writer) head(r Record) []byte {
	long := 4 * w.limit
	task := taskLine{Repository: r.Task.Repo, Statement: w.text(r.Task.ProblemStatement, long)}
	if r.Gold && r.Evidence.GoldPatch != "" {
		task.Gold = w.text(r.Evidence.GoldPatch, long)
	}
	tr := r.Evidence.Trajectory
	outcome := outcomeLine{Submitted: submitted(tr), End: string(tr.EndReason), Turns: len(r.Turns), Patch: w.text(string(r.Evidence.Patch), long)}
	if v := r.Evidence.Verdict; v != nil && outcome.Submitted {
		outcome.Verdict, outcome.Output = string(v.Reason), w.text(string(v.Output), long)
	}
	return append(line(task), line(outcome)...)
}

func submitted(tr relabel.Trajectory) bool { return tr.Submitted != nil && *tr.Submitted }

// turn is the line of a turn.
func (w *writer) turn(t relabel.Turn) []byte {
	m := t.Action.Message
	l := turnLine{Turn: t.T, Thought: w.text(m.ReasoningContent, w.limit), Text: w.text(m.Content, w.limit), Calls: []call{}, Results: []result{}}
	for _, c := range m.ToolCalls {
		l.Calls = append(l.Calls, call{w.text(c.Name, w.limit), w.text(c.Arguments, w.limit)})
	}
	for _, o := range t.Observations {
		l.Results = append(l.Results, result{w.text(o.Content, w.limit), o.ExitCode, o.Failed})
	}
	return line(l)
}

// hidden is the line of turns that are not shown; nil for none.
func hidden(from, to int) []byte {
	if from > to {
		return nil
	}
	var l hiddenLine
	l.Hidden.From, l.Hidden.To = from, to
	return line(l)
}

// framed puts the lines of a record between its first and last line.
func framed(r Record, lines []byte) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "RECORD %s\n%sEND RECORD %s\n", r.Number(), lines, r.Number())
	return b.String()
}
