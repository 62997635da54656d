package api

import "relabel"

// ImportedTaskset is a taskset and what was not taken from its file.
type ImportedTaskset struct {
	relabel.Taskset
	UnusedFields map[string]int `json:"unused_fields" doc:"Unused fields by name, each with the number of lines that have it. A field of install_config is named install_config.FIELD."`
}
