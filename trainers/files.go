package trainers

import (
	"embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"relabel"
)

// Facts are what configuration files and command lines of a trainer depend on.
type Facts struct {
	View      relabel.View
	Capacity  int             // tokens per bin
	MaxLength int             // tokens of the longest sequence
	Files     []string        // of the view, by their paths in the export
	Weighted  bool            // a token may have a weight other than 1
	Options   json.RawMessage // further variables of the student's template: a JSON object
	Arguments relabel.ArgumentsForm
	// LearningRate and Epochs are those of the run's preset, else of relabel's examples.
	LearningRate float64
	Epochs       int
}

// File is a file of an export for its trainer.
type File struct{ Name, Text string }

//go:embed files/*
var files embed.FS

// functions are what the templates use.
var functions = template.FuncMap{"join": strings.Join, "decimal": decimal, "add": add, "hydra": hydra, "shell": shell}

// decimal writes a number without an exponent, which YAML 1.1 would read as text.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func add(a, b int) int { return a + b }

// Configuration returns the route's files; program returns the text of a program of examples/train, which a
// route may name beside its own files. The same facts give the same bytes.
func (r Route) Configuration(facts Facts, program func(name string) (string, error)) ([]File, error) {
	var out []File
	for _, name := range r.Files {
		text, err := files.ReadFile("files/" + name)
		if err != nil {
			own, err := program(name)
			if err != nil {
				return nil, err
			}
			out = append(out, File{name, own})
			continue
		}
		filled, err := fill(name, string(text), facts)
		if err != nil {
			return nil, err
		}
		out = append(out, File{name, filled})
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// CommandLine returns the command that trains from the export's folder. MODEL and OUT in it are the user's.
func (r Route) CommandLine(facts Facts) (string, error) { return fill("command", r.Command, facts) }

// fill executes a template.
func fill(name, text string, facts Facts) (string, error) {
	t, err := template.New(name).Funcs(functions).Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, facts)
	return b.String(), err
}
