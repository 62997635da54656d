package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"relabel"
	"relabel/safetext"
)

// print prints the results of tasks, as a table with the problems, or as JSON lines.
func (c *TasksValidate) print(tasks []relabel.Task, found map[string]relabel.Validation, logs string) error {
	if c.JSON {
		out := json.NewEncoder(os.Stdout)
		out.SetEscapeHTML(false)
		for _, task := range tasks {
			if err := out.Encode(found[task.InstanceID]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := printValidations(tasks, found); err != nil {
		return err
	}
	fmt.Println()
	say("%s", validationSummary(tasks, found))
	say("%s", logs)
	return nil
}

// printValidations prints a table, and under it the problem and the end of the log of each task that is not sound.
func printValidations(tasks []relabel.Task, found map[string]relabel.Validation) error {
	if err := validationTable(tasks, found).print(); err != nil {
		return err
	}
	for _, task := range tasks {
		v := found[task.InstanceID]
		if v.Sound() {
			continue
		}
		fmt.Printf("\n%s: %s\n", safetext.TerminalLine(task.InstanceID), safetext.TerminalLine(oneLine(v.Problem)))
		for _, f := range v.Flaky[:min(len(v.Flaky), flakyShown)] {
			say("    flaky: %s  gold %s  empty %s", f.Test, f.Gold, f.Empty)
		}
		if v.State != relabel.TaskFlaky {
			fmt.Print(lastOutput(v))
		}
	}
	return nil
}

// validationTable has a row per task. If a task has expected statuses instead of lists of tests, their number has a column.
func validationTable(tasks []relabel.Task, found map[string]relabel.Validation) *table {
	exact := slices.ContainsFunc(tasks, func(t relabel.Task) bool { return len(t.Expected) > 0 })
	heads := []string{"INSTANCE", "GOLD PASSED", "EMPTY PASSED", "FAIL_TO_PASS", "PASS_TO_PASS", "FLAKY", "SECONDS", "STATE"}
	if exact {
		heads = slices.Insert(heads, 5, "EXPECTED")
	}
	t := newTable(heads...)
	for _, task := range tasks {
		v := found[task.InstanceID]
		cells := []any{task.InstanceID, v.Passes(relabel.GoldPatch), v.Passes(relabel.EmptyPatch), len(task.FailToPass), len(task.PassToPass), len(v.Flaky),
			fmt.Sprintf("%.1f", v.Seconds()), v.State}
		if exact {
			cells = slices.Insert(cells, 5, any(len(task.Expected)))
		}
		t.row(cells...)
	}
	return t
}

// flakyShown is how many flaky tests of a task are printed.
const flakyShown = 20

// validationSummary counts the tasks by state and reason.
func validationSummary(tasks []relabel.Task, found map[string]relabel.Validation) string {
	states, reasons := map[relabel.Soundness]int{}, map[relabel.ProblemReason]int{}
	for _, task := range tasks {
		v := found[task.InstanceID]
		states[v.State]++
		if v.State == relabel.TaskBroken {
			reasons[v.Reason]++
		}
	}
	return fmt.Sprintf("%s: %d sound, %d flaky, %d broken%s, %d not validated because of the infrastructure.",
		counted(len(tasks), "task"), states[relabel.TaskSound], states[relabel.TaskFlaky], states[relabel.TaskBroken], reasonWords(reasons), states[relabel.TaskInfra])
}

// reasonWords lists reasons with their counts in brackets; "" without any.
func reasonWords(reasons map[relabel.ProblemReason]int) string {
	var words []string
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		words = append(words, fmt.Sprintf("%s %d", reason, reasons[reason]))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// outputLines is the number of log lines that are printed with a problem.
const outputLines = 12

// marks are the verifier's lines around a test log.
var marks = regexp.MustCompile(`(?m)^[0-9a-f]{32} (begin|end \d+)$`)

// lastOutput returns the last lines of the log that a problem concerns, indented: of the last run with the gold patch
// unless that passed, else of the last run.
func lastOutput(v relabel.Validation) string {
	if len(v.Runs) == 0 {
		return ""
	}
	r := v.Runs[len(v.Runs)-1]
	if gold := v.Of(relabel.GoldPatch); len(gold) > 0 && !gold[len(gold)-1].Passed {
		r = gold[len(gold)-1]
	}
	lines := strings.Split(strings.TrimSpace(marks.ReplaceAllString(string(r.Log), "")), "\n")
	var text strings.Builder
	for _, line := range lines[max(0, len(lines)-outputLines):] {
		if line != "" {
			fmt.Fprintf(&text, "    %s\n", safetext.TerminalLine(line))
		}
	}
	return text.String()
}
