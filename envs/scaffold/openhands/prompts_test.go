package openhands

import (
	"encoding/json"
	"strings"
	"testing"

	"relabel"
)

func TestDefaultPromptsOpenATrajectory(t *testing.T) {
	p := DefaultPrompts()
	if err := CheckPrompts(p); err != nil {
		t.Fatal(err)
	}
	task := relabel.Task{Workdir: "/testbed", ProblemStatement: "It {breaks}.", HintsText: "Look at parse()."}
	hinted := p.Opening(task)[1].Content
	task.HintsText = ""
	plain := p.Opening(task)[1].Content
	if !strings.Contains(hinted, "/testbed") || !strings.Contains(hinted, "It {breaks}.") || !strings.Contains(hinted, "Look at parse().") {
		t.Error(hinted)
	}
	if strings.Contains(strings.ToLower(plain), "hint") || strings.Contains(plain, "{hints") || strings.Contains(plain, "\n\n\n") {
		t.Error(plain)
	}
}

func TestToolSchemasDescribeTheArguments(t *testing.T) {
	for _, tool := range DefaultPrompts().Tools {
		var schema struct {
			Properties map[string]struct {
				Type        string
				Description string
			}
			Required []string
		}
		if err := json.Unmarshal([]byte(tool.Parameters), &schema); err != nil {
			t.Fatal(tool.Name, err)
		}
		if len(schema.Properties) != len(tools[tool.Name]) {
			t.Errorf("%s describes %d parameters and takes %d", tool.Name, len(schema.Properties), len(tools[tool.Name]))
		}
		for name, p := range tools[tool.Name] {
			if schema.Properties[name].Description == "" {
				t.Errorf("%s.%s is not described", tool.Name, name)
			}
			if p.Required && !strings.Contains(strings.Join(schema.Required, " "), name) {
				t.Errorf("%s.%s is not said to be required", tool.Name, name)
			}
		}
	}
}

func TestCheckPromptsNamesTheProblem(t *testing.T) {
	for name, spoil := range map[string]func(*relabel.Prompts){
		"no problem":   func(p *relabel.Prompts) { p.First = "Do something in {workdir}." },
		"no finish":    func(p *relabel.Prompts) { p.Tools = p.Tools[:2] },
		"unknown tool": func(p *relabel.Prompts) { p.Tools[0].Name = "browser" },
		"no schema":    func(p *relabel.Prompts) { p.Tools[0].Parameters = "[]" },
	} {
		p := DefaultPrompts()
		spoil(&p)
		if err := CheckPrompts(p); relabel.CodeOf(err) != relabel.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
