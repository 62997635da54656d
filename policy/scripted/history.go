package scripted

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"relabel"
	"relabel/gitdiff"
)

// history is a conversation as the scripted models read it.
type history struct {
	opening string // the text before the first action
	steps   []step // the calls of all actions, whoever took them
	actions int
	last    []call // of the latest action, as written
}

// step is one call with its observation.
type step struct {
	id       string
	name     string
	args     arguments // empty if malformed
	observed string
}

// arguments are those that matter here.
type arguments struct {
	Command  string `json:"command"`
	Path     string `json:"path"`
	OldStr   string `json:"old_str"`
	NewStr   string `json:"new_str"`
	FileText string `json:"file_text"`
}

// readHistory reads a state.
func readHistory(messages []relabel.Message) (h history) {
	for _, m := range messages {
		switch {
		case m.Role == relabel.RoleAssistant:
			h.actions++
			h.last = nil
			for _, c := range m.ToolCalls {
				s := step{id: c.ID, name: c.Name}
				if json.Unmarshal([]byte(c.Arguments), &s.args) != nil {
					s.args = arguments{}
				}
				h.steps = append(h.steps, s)
				h.last = append(h.last, call{c.Name, c.Arguments})
			}
		case m.Role == relabel.RoleTool:
			if i := slices.IndexFunc(h.steps, func(s step) bool { return s.id == m.ToolCallID }); i >= 0 {
				h.steps[i].observed = m.Content
			}
		case h.actions == 0:
			h.opening += m.Content + "\n"
		}
	}
	return h
}

var (
	exitCode   = regexp.MustCompile(`(?i)\[?[^\[\n]*exit code:? (-?\d+)[^\n]*\]?\s*$`)
	editorDone = regexp.MustCompile(`(?i)^the file .* (was|has been) (changed|created|edited)|^file created successfully`)
	reading    = regexp.MustCompile("^((ls|cat|head|tail|grep|wc|find|sed -n|git (--no-pager )?(status|diff|log|show))\\b[^<>`$;&|\n]*([|] *|$))+$")
	writing    = regexp.MustCompile(`-delete|-exec|--output|-fprint|-ok`)
)

// succeeded reports whether the observation shows success. It may be wrong with the wording of
// another scaffold; the teacher reviews the tree with git before it finishes.
func (s step) succeeded() bool {
	if s.name == toolEditor {
		return editorDone.MatchString(s.observed)
	}
	m := exitCode.FindStringSubmatch(s.observed)
	return m == nil || m[1] == "0"
}

// readsOnly reports whether a shell command surely does not change the tree.
func readsOnly(command string) bool {
	return reading.MatchString(command) && !writing.MatchString(command)
}

// ran reports whether a command ran.
func (h history) ran(command string) bool {
	return slices.ContainsFunc(h.steps, func(s step) bool { return s.name == toolBash && s.args.Command == command })
}

// viewed reports whether the editor showed a path.
func (h history) viewed(path string) bool {
	return slices.ContainsFunc(h.steps, func(s step) bool {
		return s.name == toolEditor && s.args.Command == "view" && s.args.Path == path
	})
}

var unquoted = strings.NewReplacer("'", "", `"`, "", `\`, "")

// mentions reports whether a call names a path: then the file is the agent's, not the image's.
func (h history) mentions(path string) bool {
	path = unquoted.Replace(strings.Trim(path, "/"))
	return slices.ContainsFunc(h.steps, func(s step) bool {
		return strings.Contains(unquoted.Replace(s.args.Path+"\n"+s.args.Command), path)
	})
}

// litter returns the untracked files in the output of show that calls created.
func (h history) litter(e *entry, shown string) (names []string) {
	status, _, _ := strings.Cut("\n"+exitCode.ReplaceAllString(shown, ""), "\ndiff --git ")
	for line := range strings.SplitSeq(status, "\n") {
		name, untracked := strings.CutPrefix(line, "?? ")
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain
		}
		if untracked && !e.touches(name) && h.mentions(name) {
			names = append(names, name)
		}
	}
	return names
}

// touches reports whether the gold patch changes a path.
func (e *entry) touches(path string) bool {
	return slices.ContainsFunc(e.files, func(f gitdiff.File) bool { return f.New == path || f.Old == path })
}
