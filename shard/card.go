package shard

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"relabel"
	"relabel/safetext"
)

//go:embed card.md.tmpl
var cardText string

// card is what a data card of the Hub has beside the README of an export: its header and its sections of facts. All of it
// follows from the manifest.
type card struct{ relabel.Manifest }

// write returns the lines of the card's header, or its sections.
func (c card) write(part string) (string, error) {
	functions := template.FuncMap{"text": nameText, "hash": shortHash, "roles": rolesText, "sampling": samplingText, "fingerprints": fingerprintsText, "doubts": doubtsText,
		"excluded": func(name string) int { return c.Excluded[relabel.BenchmarkReason(name)] }}
	t, err := template.New("card").Funcs(functions).Parse(cardText)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = t.ExecuteTemplate(&out, part, c)
	return out.String(), err
}

// Title is the name of the export's run as a YAML text.
func (c card) Title() (string, error) {
	name := "labelled states of run " + c.Run
	if c.Provenance != nil {
		name = oneLine(safetext.Plain(c.Provenance.Runs[0].Name))
	}
	text, err := json.Marshal(name) // JSON texts are YAML texts
	return string(text), err
}

// Tags are the tags by which the Hub finds the data set.
func (c card) Tags() []string { return []string{"relabel", string(c.Recipe), "agents", "code"} }

// sizes are the Hub's categories of sizes, by their upper bounds in rows.
var sizes = []struct {
	below int
	name  string
}{{1e3, "n<1K"}, {1e4, "1K<n<10K"}, {1e5, "10K<n<100K"}, {1e6, "100K<n<1M"}, {1e7, "1M<n<10M"}}

// Size is the Hub's category of the number of states.
func (c card) Size() string {
	for _, s := range sizes {
		if c.States < s.below {
			return s.name
		}
	}
	return "10M<n<100M"
}

// License is the Hub's name of the licence that all tasks have; unknown if no task names one, other if tasks and conversations
// have several, or one that the Hub has no name for.
func (c card) License() string {
	names := map[string]bool{}
	for _, l := range c.Licences() {
		names[hubLicence(l.Name)] = true
	}
	if c.Provenance != nil && len(c.Provenance.Conversations) > 0 { // whose licence nobody named
		names["unknown"] = true
	}
	switch {
	case len(names) == 0, len(names) == 1 && names["unknown"]:
		return "unknown"
	case len(names) > 1:
		return "other"
	}
	return slices.Collect(maps.Keys(names))[0]
}

// licence is a licence with the repositories that have it.
type licence struct {
	Name         string // "": not given
	Tasks, Count int    // Count is of repositories
	Repositories string
}

// shownRepositories is how many repositories of a licence are named.
const shownRepositories = 20

// Licences lists the licences, those of the most tasks first.
func (c card) Licences() []licence {
	if c.Provenance == nil {
		return nil
	}
	all := map[string]*licence{}
	for _, r := range c.Provenance.Repositories {
		l := all[r.Licence]
		if l == nil {
			l = &licence{Name: r.Licence}
			all[r.Licence] = l
		}
		l.Tasks, l.Count = l.Tasks+r.Tasks, l.Count+1
		switch {
		case l.Count == 1:
			l.Repositories = nameText(cmp.Or(r.Name, "no repository"))
		case l.Count <= shownRepositories:
			l.Repositories += ", " + nameText(cmp.Or(r.Name, "no repository"))
		case l.Count == shownRepositories+1:
			l.Repositories += ", …"
		}
	}
	return slices.SortedFunc(func(yield func(licence) bool) {
		for _, l := range all {
			if !yield(*l) {
				return
			}
		}
	}, func(a, b licence) int { return cmp.Or(b.Tasks-a.Tasks, cmp.Compare(a.Name, b.Name)) })
}

// Kappas counts the trajectories by κ, "" without any.
func (c card) Kappas() string {
	var parts []string
	for _, k := range slices.SortedFunc(maps.Keys(c.Trajectories.Kappas), func(a, b string) int {
		x, _ := strconv.Atoi(a) // always numbers
		y, _ := strconv.Atoi(b)
		return x - y
	}) {
		parts = append(parts, fmt.Sprintf("%s × κ = %s", strconv.Itoa(c.Trajectories.Kappas[k]), k))
	}
	return strings.Join(parts, ", ")
}

// Executors counts the exported states by who acted there.
func (c card) Executors() string {
	counts := map[string]int{}
	for role, n := range c.Trajectories.Executors {
		counts[string(role)] = n
	}
	return countsText(counts)
}

// SecretCounts counts the secrets by rule.
func (c card) SecretCounts() string { return countsText(c.Secrets.Found) }

// shortHash is the beginning of a hash as code.
func shortHash(hash string) string { return "`" + hash[:min(len(hash), 12)] + "…`" }

func rolesText(roles []relabel.Role) string {
	var all []string
	for _, r := range roles {
		all = append(all, string(r))
	}
	return strings.Join(all, ", ")
}

// samplingText describes the sampling of a policy.
func samplingText(s relabel.Sampling) (string, error) {
	text, err := json.Marshal(s)
	return "`" + string(text) + "`", err
}
