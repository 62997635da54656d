package api

import "relabel"

// NewExclusionList describes an exclusion list.
type NewExclusionList struct {
	Name    string   `json:"name" minLength:"1" maxLength:"200" doc:"Name of the list; no other list and no benchmark may have it. It never changes."`
	Entries []string `json:"entries" minItems:"1" maxItems:"100000" uniqueItems:"true" doc:"Instance ids and repositories (owner/name, or the address of a clone)."`
}

// ExclusionView is an exclusion list with its entries.
type ExclusionView struct {
	relabel.Exclusion
	List     []string            `json:"list" doc:"Its entries, sorted."`
	Reserves relabel.Reservation `json:"reserves" doc:"What it keeps out of training."`
}

// OverlapsQuery says with what the tasks of a task set are compared.
type OverlapsQuery struct {
	With      []string `query:"other,explode" maxItems:"100" doc:"Name of a benchmark, of an exclusion list or of a task set; benchmark:NAME, exclusions:NAME or taskset:NAME if several of these have it. Several can be given. Default: all benchmarks with a name, all exclusion lists, and the task set itself, for near duplicates, if it has at most 20000 tasks."`
	Entries   []string `query:"entry,explode" maxItems:"5000" doc:"Instance id or repository to compare with, as in an exclusion list. Several can be given; then all others must be given too."`
	Threshold float64  `query:"threshold" minimum:"0.01" maximum:"1" default:"0.5" doc:"Smallest share of the smaller patch's grams that counts as an overlap. Draws and exports always use 0.5."`
	RevisionQuery
}
