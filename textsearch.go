package relabel

// TextSearch asks which trajectories hold a text, in whatever case of letters, and how much
// is read for an answer.
type TextSearch struct {
	Text  string // 1 to MostSearchedFor bytes
	After string // the Next of the page before; "" to begin
	Limit int    // trajectories with the text, after which a page ends; 0 means 50, at most 500
	Bytes int64  // of texts, after which it ends as well; 0 means 256 MiB
}

// MostSearchedFor is how long a text may be that is looked for, in bytes.
const MostSearchedFor = 500

// TextPage is what a search through the texts of trajectories has found by the time that
// it ends: nothing is said of what it did not look through.
type TextPage struct {
	Items    []TextFound `json:"items"`    // in the order of the list
	Next     string      `json:"next"`     // goes on behind the last one that was looked through; "" when all were
	Searched int         `json:"searched"` // trajectories that were looked through for this page
	Bytes    int64       `json:"bytes"`    // of their texts
	Total    int         `json:"total"`    // that the filter lets through, on all pages
	Exact    bool        `json:"exact"`    // else there are more than Total
	Of       int         `json:"of"`       // trajectories of the runs and iterations asked for
}

// TextFound is a trajectory that holds the text.
type TextFound struct {
	Trajectory Trajectory `json:"trajectory"`
	Matches    int        `json:"matches"` // in all of it
	Places     int        `json:"places"`  // turns and texts beside them with a match
	First      []Match    `json:"first"`   // the first matches, at most three, one of each turn or text
}
