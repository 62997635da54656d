package results

import (
	"encoding/json"
	"maps"
	"path"
	"strings"
)

// NamedReport holds the results of a report by each name that a test has in logs. In reports of Jest
// or Vitest, these are its title, the title after the titles of its groups, and these after its file.
type NamedReport struct {
	Clean   map[string]bool            // only passed
	Stained map[string]bool            // failed at least once
	Titles  map[string]map[string]bool // of Jest or Vitest, by file, relative to the repository
	name    func(string) string        // returns the same name for a test of the log and of the report
}

// ParseNodeReport reads a report. A broken report, or one with too many tests, confirms nothing.
func ParseNodeReport(data []byte, workdir string) *NamedReport {
	var content struct {
		TestResults []struct {
			Name             string
			AssertionResults []struct {
				AncestorTitles []string
				Title, Status  string
			}
		}
	}
	if json.Unmarshal(data, &content) != nil {
		return &NamedReport{}
	}
	r := &NamedReport{Clean: map[string]bool{}, Stained: map[string]bool{}, Titles: map[string]map[string]bool{}, name: NodeName}
	cases := 0
	for _, f := range content.TestResults {
		file := strings.TrimPrefix(f.Name, path.Clean(workdir)+"/")
		r.Titles[file] = map[string]bool{}
		for _, t := range f.AssertionResults {
			if cases++; cases > maxReportCases {
				return &NamedReport{}
			}
			r.Titles[file][t.Title] = true
			r.add(t.Status, t.Title, strings.Join(append(t.AncestorTitles, t.Title), ">"), strings.Join(append(append([]string{file}, t.AncestorTitles...), t.Title), ">"))
		}
	}
	maps.DeleteFunc(r.Clean, func(name string, _ bool) bool { return r.Stained[name] })
	return r
}

// add records a test under its names.
func (r *NamedReport) add(status string, names ...string) {
	for _, name := range names {
		switch status {
		case "passed":
			r.Clean[r.name(name)] = true
		case "failed":
			r.Stained[r.name(name)] = true
		}
	}
}

// Passed reports whether the report has a test of the log that only passed.
func (r *NamedReport) Passed(id string) bool { return r.name != nil && r.Clean[r.name(id)] }

// Failed reports whether the report has a test of the log that failed at least once.
func (r *NamedReport) Failed(id string) bool { return r.name != nil && r.Stained[r.name(id)] }

// NodeName returns the same name for a test of the log and of the report. Vitest's report has an
// empty group around all tests of a file.
func NodeName(name string) string {
	return strings.TrimPrefix(strings.ReplaceAll(strings.Map(printable, name), ">>", ">"), ">")
}
