package tasks

import "fmt"

// Place is where a row lies in what was read.
type Place struct {
	File string // its path in an archive, or the name of the only file; "" without one
	Word string // line, or row in files without lines
	Row  int    // from 1
}

// String returns "line 7", or "data/train.parquet: row 7" in an archive.
func (p Place) String() string {
	text := fmt.Sprintf("%s %d", p.Word, p.Row)
	if p.File != "" {
		text = p.File + ": " + text
	}
	return text
}

// inFile is the place for an error that names the file already.
func (p Place) inFile() string { return fmt.Sprintf("%s %d", p.Word, p.Row) }

// Problem is a problem of one field of one row.
type Problem struct {
	Place
	Field   string // "" if the whole row is wrong
	Message string
}

func (p Problem) where() string {
	if p.Field == "" {
		return p.Place.String()
	}
	return p.Place.String() + ": " + p.Field
}
