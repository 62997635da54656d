package scripted

import (
	"encoding/json"
	"regexp"
	"strings"

	"relabel"
)

// history is a conversation as the scripted models read it.
type history struct {
	opening string // what stands before the first action
	steps   []step // the calls of all actions, whoever took them
	actions int
	last    action // the latest action, as it was written
}

// step is one call with what came of it.
type step struct {
	name     string
	args     stepArgs
	observed string
}

// stepArgs are the arguments that matter; those of a malformed call stay empty.
type stepArgs struct {
	Command  string `json:"command"`
	Path     string `json:"path"`
	OldStr   string `json:"old_str"`
	NewStr   string `json:"new_str"`
	FileText string `json:"file_text"`
}

// readHistory reads a state.
func readHistory(messages []relabel.Message) history {
	var h history
	answers := map[string]string{}
	for _, m := range messages {
		if m.Role == relabel.RoleTool {
			answers[m.ToolCallID] = m.Content
		}
	}
	for _, m := range messages {
		switch {
		case m.Role == relabel.RoleAssistant:
			h.actions++
			h.last = action{thought: m.Content}
			for _, c := range m.ToolCalls {
				s := step{name: c.Name, observed: answers[c.ID]}
				if json.Unmarshal([]byte(c.Arguments), &s.args) != nil {
					s.args = stepArgs{}
				}
				h.steps = append(h.steps, s)
				h.last.calls = append(h.last.calls, call{c.Name, c.Arguments})
			}
		case h.actions == 0 && m.Role != relabel.RoleTool:
			h.opening += m.Content + "\n"
		}
	}
	return h
}

var (
	exitCode   = regexp.MustCompile(`(?i)\[?[^\[\n]*exit code:? (-?\d+)[^\n]*\]?\s*$`)
	editorDone = regexp.MustCompile(`(?i)^the file .* (was|has been) (changed|created|edited)|^file created successfully`)
)

// succeeded reports whether the observation shows success. It may err where a
// scaffold has words of its own; what depends on it is checked by git before the end.
func (s step) succeeded() bool {
	if s.name == toolEditor {
		return editorDone.MatchString(s.observed)
	}
	m := exitCode.FindStringSubmatch(s.observed)
	return m == nil || m[1] == "0"
}

// output is what a command printed, without the scaffold's line about its end.
func (s step) output() string {
	return exitCode.ReplaceAllString(s.observed, "")
}

// mentions reports whether any earlier call names a path: then it is the agent's, and
// not something that the image came with.
func (h history) mentions(name string) bool {
	unquoted := strings.NewReplacer("'", "", `"`, "", `\`, "")
	name = unquoted.Replace(strings.Trim(name, "/"))
	for _, s := range h.steps {
		if strings.Contains(unquoted.Replace(s.args.Path), name) ||
			s.name == toolBash && strings.Contains(unquoted.Replace(s.args.Command), name) {
			return true
		}
	}
	return false
}

var (
	readers = regexp.MustCompile(`^(ls|cat|head|tail|grep|wc|pwd|nl|echo|find|sed -n|git status|git diff|git log|git show|git --no-pager (diff|log|show))\b`)
	writers = regexp.MustCompile("[<>`]|\\$\\(|-delete|-exec|--output|-fprint|-ok")
	joints  = regexp.MustCompile(`\|\||&&|[|;&\n]`)
)

// readsOnly reports whether a shell command surely leaves the tree as it is.
func readsOnly(command string) bool {
	command = strings.NewReplacer("2>&1", "", "2>/dev/null", "").Replace(command)
	if writers.MatchString(command) {
		return false
	}
	for _, part := range joints.Split(command, -1) {
		if part = strings.TrimSpace(part); part != "" && !readers.MatchString(part) {
			return false
		}
	}
	return true
}
