// Package openhands is the OpenHands-style scaffold (paper appendix G): three tools, execute_bash,
// str_replace_editor and finish, for a sandbox with the task's repository. The texts are this
// project's own versions of the paper's; a run may replace them.
package openhands

import (
	_ "embed"
	"encoding/json"
	"strings"

	"relabel"
)

// Name is the value of a run's Scaffold for this scaffold.
const Name = "openhands"

// The names of the tools, as models call them.
const (
	toolBash   = "execute_bash"
	toolEditor = "str_replace_editor"
	toolFinish = "finish"
)

//go:embed texts/system.txt
var systemText string

//go:embed texts/first.txt
var firstText string

//go:embed texts/execute_bash.txt
var bashText string

//go:embed texts/str_replace_editor.txt
var editorText string

//go:embed texts/finish.txt
var finishText string

// The parameters of the tools as JSON Schema. They are text because the model sees the order of the
// keys (paper G.2).
const (
	bashSchema = `{"type":"object","properties":{` +
		`"command":{"type":"string","description":"The command, as bash -c takes it."}` +
		`},"required":["command"]}`
	editorSchema = `{"type":"object","properties":{` +
		`"command":{"type":"string","enum":["view","create","str_replace","insert"],"description":"What to do."},` +
		`"path":{"type":"string","description":"Absolute path of the file or folder."},` +
		`"file_text":{"type":"string","description":"For create: the content of the new file."},` +
		`"old_str":{"type":"string","description":"For str_replace: the text to replace; it occurs exactly once."},` +
		`"new_str":{"type":"string","description":"For str_replace: the new text, nothing to delete the old. For insert: the text to put in."},` +
		`"insert_line":{"type":"integer","description":"For insert: the line after which new_str goes, 0 for the top."},` +
		`"view_range":{"type":"array","items":{"type":"integer"},"description":"For view of a file, if wanted: the first and the last line, such as [11, 20], or [11, -1] up to the end."}` +
		`},"required":["command","path"]}`
	finishSchema = `{"type":"object","properties":{` +
		`"message":{"type":"string","description":"In short, what was done."}` +
		`},"required":["message"]}`
)

// DefaultPrompts are the default texts of a run: system prompt, first user message and the three tools
// (paper G.1 to G.3).
func DefaultPrompts() relabel.Prompts {
	return relabel.Prompts{
		System: systemText,
		First:  firstText,
		Tools: []relabel.Tool{
			{Name: toolBash, Description: bashText, Parameters: bashSchema},
			{Name: toolEditor, Description: editorText, Parameters: editorSchema},
			{Name: toolFinish, Description: finishText, Parameters: finishSchema},
		},
	}
}

// CheckPrompts checks a run's own texts: the first message needs a problem statement, and the tools
// must be the scaffold's, contain finish, and have parameters that are a JSON object. Errors are
// CodeInvalid and name the field.
func CheckPrompts(p relabel.Prompts) error {
	probe := relabel.Task{ProblemStatement: "\x00problem\x00"}
	opening := p.Opening(probe)
	if first := opening[len(opening)-1]; !strings.Contains(first.Content, probe.ProblemStatement) {
		return relabel.Errorf(relabel.CodeInvalid, "the first message has no {problem_statement}").On("prompts.first")
	}
	finish := false
	for _, t := range p.Tools {
		if _, known := tools[t.Name]; !known {
			return relabel.Errorf(relabel.CodeInvalid, "the scaffold has no tool %q; it has %s", t.Name, toolNames(nil)).On("prompts.tools")
		}
		var object map[string]any
		if json.Unmarshal([]byte(t.Parameters), &object) != nil || object == nil {
			return relabel.Errorf(relabel.CodeInvalid, "the parameters of %s are not a JSON object", t.Name).On("prompts.tools")
		}
		finish = finish || t.Name == toolFinish
	}
	if !finish {
		return relabel.Errorf(relabel.CodeInvalid, "finish is missing; without it no trajectory can be submitted").On("prompts.tools")
	}
	return nil
}
