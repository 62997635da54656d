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
	Items    []TextFound `json:"items" doc:"Trajectories that hold the text, as they are sorted."`
	Next     string      `json:"next" doc:"Pass it as after to go on behind the last trajectory that was looked through; empty when all were."`
	Searched int         `json:"searched" doc:"How many trajectories were looked through for this page, whether they hold the text or not."`
	Bytes    int64       `json:"bytes" doc:"How many bytes of their texts."`
	Total    int         `json:"total" doc:"How many the filter lets through, on all pages."`
	Exact    bool        `json:"exact" doc:"false: there are more than total, which is not counted further."`
	Of       int         `json:"of" doc:"How many trajectories the runs and iterations asked for have in all."`
}

// TextFound is a trajectory that holds the text.
type TextFound struct {
	Trajectory Trajectory `json:"trajectory" doc:"The trajectory."`
	Matches    int        `json:"matches" doc:"How often the text stands in it."`
	Places     int        `json:"places" doc:"In how many of its turns and of the texts beside them."`
	First      []Match    `json:"first" doc:"The first matches, at most three, one of each turn or text."`
}

// Match is where a text stands that was looked for, with some of what stands around it.
type Match struct {
	T        int    `json:"t,omitempty" doc:"The turn; absent: in none of them."`
	Executor Role   `json:"executor,omitempty" doc:"Who acted in the turn."`
	Place    string `json:"place" doc:"Where: thought, the name of an argument, label and either of them, observation, the task, failure, patch or test output."`
	Before   string `json:"before" doc:"What stands before it."`
	Text     string `json:"match" doc:"The text as it is written there."`
	After    string `json:"after" doc:"What stands after it."`
	Part     string `json:"-"` // of the turn: action, label, other or observation
	Nth      int    `json:"-"` // of the matches in that part, from 0
}
