package shard

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"relabel"
)

const readmeName = "README.md"

//go:embed readme.md.tmpl
var readmeText string

var readmeTemplate = template.Must(template.New(readmeName).Parse(readmeText))

// writeReadme writes the README.md of an export, which tells a trainer how to load it.
func writeReadme(w io.Writer, run relabel.Run, sum summary, m Manifest) error {
	var rounds []string
	var teacher relabel.Policy
	for _, it := range sum.Iterations {
		beta := "κ drawn"
		if it.Beta != nil {
			beta = fmt.Sprintf("β = %.4g", *it.Beta)
		}
		rounds = append(rounds, fmt.Sprintf("%d (%s, student %s)", it.Number, beta, policyName(it.Student)))
		teacher = it.Teacher
	}
	return readmeTemplate.Execute(w, map[string]any{
		"Run": oneLine(run.Name), "Recipe": run.Recipe, "States": m.States, "Views": m.Views, "Teacher": policyName(teacher),
		"Asked":  asked(m.Selection.ExportSelection),
		"Rounds": strings.Join(rounds, "; "), "LeftOut": countsText(m.LeftOut), "LeftOutName": leftOutName,
	})
}

// asked says in words what a selection asks for.
func asked(sel relabel.ExportSelection) string {
	switch {
	case sel.Submitted && sel.Resolved:
		return "valid submissions that resolve their task"
	case sel.Submitted:
		return "valid submissions"
	case sel.Resolved:
		return "trajectories that resolve their task"
	}
	return "every finished trajectory"
}

func policyName(p relabel.Policy) string {
	return oneLine(fmt.Sprintf("%s@%d (%s)", p.Name, p.Version, p.Model))
}

// oneLine keeps a name from breaking out of its line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
