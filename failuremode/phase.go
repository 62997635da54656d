package failuremode

import (
	"encoding/json"
	"regexp"
	"strings"

	"relabel"
	"relabel/chat"
)

var (
	// runsTests matches commands that run tests.
	runsTests = regexp.MustCompile(`\b(?:pytest|py\.test|unittest|tox|nox|runtests(?:\.py)?|check\.py|bin/test|go test|cargo test|mvn\b.*\btest|gradlew?\b.*\btest|make (?:test|check)|(?:npm|yarn|pnpm)\b.*\btest|jest|vitest|mocha|phpunit|rspec)\b`)
	// changesFiles matches commands that change files: editors of streams, patches, git's, copies,
	// removals, and output into a file that is not below /dev or /tmp.
	changesFiles = regexp.MustCompile(`\b(?:sed|perl)\b[^|;&]*\s-(?:[a-zA-Z]*i|-in-place)|\bgit (?:apply|checkout|restore|stash|reset|revert|mv|rm)\b|\bpatch\b\s+-|(?:^|[;&|]\s*)(?:mv|cp|rm|touch|mkdir|tee)\s|[^0-9&>=<-]>{1,2}\s*[^&\s>/]|[^0-9&>=<-]>{1,2}\s*/(?:[^dt]|d[^e]|t[^m])`)
)

// toolName matches what a tool may be called; an answer that was cut by length may call any name.
var toolName = regexp.MustCompile(`^[\w.-]{1,64}$`)

// phaseOf returns the first called tool of an action, and its phase. A command that runs tests is a
// test even if it also changes files.
func phaseOf(a relabel.Action) (tool string, phase relabel.ActionPhase) {
	if len(a.Message.ToolCalls) == 0 {
		return "", relabel.PhaseNoCall
	}
	call := a.Message.ToolCalls[0]
	if a.Parse == relabel.UnknownTool || !toolName.MatchString(call.Name) {
		return "unknown", relabel.PhaseExplore
	}
	switch {
	case call.Name == "finish":
		return call.Name, relabel.PhaseFinish
	case editedPath(call) != "":
		return call.Name, relabel.PhaseEdit
	}
	var args struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal([]byte(call.Arguments), &args) // malformed arguments explore nothing and change nothing
	switch {
	case strings.HasPrefix(call.Name, "str_replace"):
		return call.Name, relabel.PhaseExplore
	case runsTests.MatchString(args.Command):
		return call.Name, relabel.PhaseTest
	case changesFiles.MatchString(args.Command):
		return call.Name, relabel.PhaseEdit
	}
	return call.Name, relabel.PhaseExplore
}

// Comparisons sums the turns of a trajectory that the student executed and that have a label.
type Comparisons struct {
	order []relabel.TurnComparison // keys, in the order of their first turn
	sums  map[relabel.TurnComparison]*relabel.TurnComparison
}

// Add adds a turn. It ignores turns of the teacher and those without a label.
func (c *Comparisons) Add(turn relabel.Turn) {
	if turn.Executor != relabel.Student || turn.Label == nil || turn.Label.Status != relabel.Received || turn.Action.Status != relabel.Received {
		return
	}
	var key relabel.TurnComparison
	key.StudentTool, key.StudentPhase = phaseOf(turn.Action)
	key.TeacherTool, key.TeacherPhase = phaseOf(*turn.Label)
	if c.sums == nil {
		c.sums = map[relabel.TurnComparison]*relabel.TurnComparison{}
	}
	sum, known := c.sums[key]
	if !known {
		sum = new(key)
		c.sums[key] = sum
		c.order = append(c.order, key)
	}
	sum.Turns++
	if chat.Agree(turn.Action.Message, turn.Label.Message) {
		sum.Agreed++
	}
}

// List returns the sums.
func (c *Comparisons) List() (all []relabel.TurnComparison) {
	for _, key := range c.order {
		all = append(all, *c.sums[key])
	}
	return all
}
