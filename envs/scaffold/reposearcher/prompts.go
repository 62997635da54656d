// Package reposearcher is the scaffold of the localisation paper (ToolTrain, section 3.1, table 1): six
// tools that read a repository by name, Exit among them, and a ranked answer in the turn after Exit. It
// works on the index of a repository at a commit and needs no container. The texts are this project's
// own; a run may replace them.
package reposearcher

import (
	_ "embed"
	"encoding/json"
	"strings"

	"relabel"
)

// Name is the value of a run's Scaffold for this scaffold.
const Name = "reposearcher"

// The names of the tools, as models call them.
const (
	toolStructure = "GetRepoStructure"
	toolImports   = "GetImportOfFile"
	toolClass     = "SearchClass"
	toolFunction  = "SearchFunction"
	toolMethod    = "SearchClassMethod"
	toolExit      = "Exit"
)

var (
	//go:embed texts/system.txt
	systemText string
	//go:embed texts/first.txt
	firstText string
	//go:embed texts/get_repo_structure.txt
	structureText string
	//go:embed texts/get_import_of_file.txt
	importsText string
	//go:embed texts/search_class.txt
	classText string
	//go:embed texts/search_function.txt
	functionText string
	//go:embed texts/search_class_method.txt
	methodText string
	//go:embed texts/exit.txt
	exitText string
)

// described describes each parameter for the models.
var described = map[string]string{
	"file":     "Path of the file, relative to the root of the repository.",
	"class":    "Name of the class.",
	"function": "Name of the function; of one inside another function outer.inner.",
	"method":   "Name of the method.",
}

// DefaultPrompts are the default texts of a run: system prompt, first user message and the six tools.
func DefaultPrompts() relabel.Prompts {
	return relabel.Prompts{
		System: systemText,
		First:  firstText,
		Tools: []relabel.Tool{
			describe(toolStructure, structureText),
			describe(toolImports, importsText),
			describe(toolClass, classText),
			describe(toolFunction, functionText),
			describe(toolMethod, methodText),
			describe(toolExit, exitText),
		},
	}
}

// describe describes a tool with its parameters as JSON Schema.
func describe(name, text string) relabel.Tool {
	var properties, required []string
	for _, p := range parametersOf[name] {
		field, _ := json.Marshal(p)
		about, _ := json.Marshal(described[p])
		properties = append(properties, string(field)+`:{"type":"string","description":`+string(about)+`}`)
		required = append(required, string(field))
	}
	schema := `{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `]}`
	return relabel.Tool{Name: name, Description: strings.TrimSpace(text), Parameters: schema}
}

// CheckPrompts checks a run's own texts: the first message needs a problem statement, and the tools
// must be the scaffold's, contain Exit, and have parameters that are a JSON object. Errors are
// CodeInvalid and name the field.
func CheckPrompts(p relabel.Prompts) error {
	probe := relabel.Task{ProblemStatement: "\x00problem\x00"}
	opening := p.Opening(probe)
	if first := opening[len(opening)-1]; !strings.Contains(first.Content, probe.ProblemStatement) {
		return relabel.Errorf(relabel.CodeInvalid, "the first message has no {problem_statement}").On("prompts.first")
	}
	exit := false
	for _, t := range p.Tools {
		if _, known := parametersOf[t.Name]; !known {
			return relabel.Errorf(relabel.CodeInvalid, "the scaffold has no tool %q; it has %s", t.Name, toolNames(nil)).On("prompts.tools")
		}
		var object map[string]any
		if json.Unmarshal([]byte(t.Parameters), &object) != nil || object == nil {
			return relabel.Errorf(relabel.CodeInvalid, "the parameters of %s are not a JSON object", t.Name).On("prompts.tools")
		}
		exit = exit || t.Name == toolExit
	}
	if !exit {
		return relabel.Errorf(relabel.CodeInvalid, "Exit is missing; without it no answer is valid").On("prompts.tools")
	}
	return nil
}
