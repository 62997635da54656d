package repair

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"relabel"
)

// simulated answers calls as a sandbox with the scaffold `bare` would, without git, bash and Python.
// It takes any function of another shape than the tasks' for a syntax error.
type simulated struct {
	task  Task
	files map[string]string
}

func newSimulated(t Task) *simulated { return &simulated{t, maps.Clone(t.Files)} }

var shape = regexp.MustCompile(`^(?:from (\w+) import (\w+)\n)?def (\w+)\(a, b\):\n    return (?:a ([-+*&|]) b|(\w+)\(a, b\))\n$`)

// value is the value of a function, by at most depth calls.
func (s *simulated) value(module, function string, a, b, depth int) (int, bool) {
	m := shape.FindStringSubmatch(s.files[module+".py"])
	switch {
	case m == nil || m[3] != function || depth == 0:
		return 0, false
	case m[5] == "":
		return apply(m[4], a, b), true
	case m[5] != m[2]:
		return 0, false
	}
	return s.value(m[1], m[2], a, b, depth-1)
}

func (s *simulated) check() string {
	for name, text := range s.files {
		if !shape.MatchString(text) {
			return "SyntaxError: " + name + " line 1"
		}
	}
	for _, c := range s.task.Checks {
		if got, ok := s.value(c.Module, c.Function, c.A, c.B, functions); !ok || got != c.Want {
			return fmt.Sprintf("FAIL %s(%d, %d): got %d, want %d", c.Function, c.A, c.B, got, c.Want)
		}
	}
	return allPassed
}

// run executes a call and reports whether it was finish.
func (s *simulated) run(c relabel.ToolCall) (observation string, finished bool) {
	var args map[string]string
	switch err := json.Unmarshal([]byte(c.Arguments), &args); {
	case err != nil:
		return "could not parse the tool call", false
	case c.Name == toolFinish:
		return "", true
	case c.Name == toolBash:
		return s.bash(args["command"]), false
	case c.Name == toolEditor:
		return s.replace(args["path"], args["old_str"], args["new_str"]), false
	}
	return "unknown tool", false
}

var grepForm = regexp.MustCompile(`^grep -n 'def (\w*)' \*\.py$`)

func (s *simulated) bash(command string) string {
	if command == "python3 check.py" {
		return s.check()
	}
	if undo := undoForm.FindStringSubmatch(command); undo != nil {
		if undo[1] == "." {
			s.files = maps.Clone(s.task.Files)
			return "Updated 1 path from the index"
		}
		if _, there := s.files[undo[1]]; !there {
			return "error: pathspec '" + undo[1] + "' did not match any file(s) known to git"
		}
		s.files[undo[1]] = s.task.Files[undo[1]]
		return "Updated 1 path from the index"
	}
	if cat := catForm.FindStringSubmatch(command); cat != nil {
		if text, there := s.files[cat[1]]; there {
			return strings.TrimRight(text, "\n")
		}
		return "cat: " + cat[1] + ": No such file or directory"
	}
	if grep := grepForm.FindStringSubmatch(command); grep != nil {
		var hits []string
		for _, name := range slices.Sorted(maps.Keys(s.files)) {
			for i, line := range strings.Split(s.files[name], "\n") {
				if strings.Contains(line, "def "+grep[1]) {
					hits = append(hits, fmt.Sprintf("%s:%d:%s", name, i+1, line))
				}
			}
		}
		if len(hits) > 0 {
			return strings.Join(hits, "\n")
		}
		return "(no output)"
	}
	return "bash: command not found"
}

func (s *simulated) replace(name, old, text string) string {
	const refused = "No replacement was performed: "
	content, there := s.files[name]
	switch count := strings.Count(content, old); {
	case !there:
		return refused + name + " does not exist"
	case old == "" || count == 0:
		return refused + "old_str not found in " + name
	case count > 1:
		return refused + "old_str is not unique in " + name
	}
	s.files[name] = strings.Replace(content, old, text, 1)
	return "The file " + name + " has been edited."
}
