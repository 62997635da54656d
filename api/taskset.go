package api

import "relabel"

// ImportedTaskset is a taskset and what was taken from the files of an import.
type ImportedTaskset struct {
	relabel.Taskset
	Added        int            `json:"added" doc:"Tasks that this import added."`
	Unchanged    int            `json:"unchanged" doc:"With append: tasks of the files that the taskset had already, with equal content."`
	Files        []string       `json:"files,omitempty" doc:"Of a tar archive, the files that were read, in order."`
	UnusedFields map[string]int `json:"unused_fields" doc:"Unused fields by name, each with the number of rows that have it. A field of an object in a field, such as install_config, is named install_config.FIELD. At most 500 names; further ones are counted as other fields."`
	SkippedRows  int            `json:"skipped_rows" doc:"With skip_bad: rows that were left out."`
	Skipped      []SkippedRow   `json:"skipped,omitempty" doc:"With skip_bad: what is wrong with the rows that were left out, at most 1000 problems."`
}

// SkippedRow is a problem of a row that an import left out.
type SkippedRow struct {
	File    string `json:"file,omitempty" doc:"The file with the row, of a tar archive or if the import names its file."`
	Row     int    `json:"row" doc:"Number of the row in its file, from 1; of JSONL, of the line."`
	Field   string `json:"field,omitempty" doc:"The field that is wrong; absent if the whole row is."`
	Message string `json:"message" doc:"What is wrong."`
}
