package api

import "relabel"

// ImportedTaskset is a taskset and what was not taken from its file.
type ImportedTaskset struct {
	relabel.Taskset
	UnusedFields map[string]int `json:"unused_fields" doc:"Fields of the lines that no part of a task was read from, by name, each with the number of its lines. A field of install_config is named install_config.FIELD."`
}
