package relabel

import "strings"

// Dialect is the form of rows of text: the names of their fields, as a trainer's loader reads them.
type Dialect string

// The dialects of the views chat and prompt_completion.
const (
	DialectLoss     Dialect = "loss"     // chat: a sequence as token ids with a weight each (ms-swift)
	DialectFlat     Dialect = "flat"     // chat: a state and its label as three messages of plain text (NeMo RL)
	DialectWeight   Dialect = "weight"   // chat: messages, the assistant's with weight 1 or 0 (OpenAI)
	DialectMessages Dialect = "messages" // prompt_completion: lists of messages
	DialectText     Dialect = "text"     // prompt_completion: rendered texts
)

// ManifestFor says for which trainer an export was made.
type ManifestFor struct {
	Trainer string  `json:"trainer"`           // its name: see package trainers
	View    View    `json:"view"`              // the view that it reads
	Dialect Dialect `json:"dialect,omitempty"` // of that view's rows; absent in views of token ids
	Command string  `json:"command"`           // that trains from the export's folder; MODEL and OUT are the user's
	// Run names the version of the loader that was run on such rows; Read the state of its code that was
	// read instead, because the loader cannot be installed. One of them is set.
	Run   string            `json:"run,omitempty"`
	Read  string            `json:"read,omitempty"`
	Files []ManifestForFile `json:"files"` // the trainer's configuration, and files that its loader needs beside the rows
}

// ManifestForFile is a file that the export has for its trainer.
type ManifestForFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Script returns the name of the script that the command line runs, "" if it runs a program of the trainer.
func (f ManifestFor) Script() string {
	if words := strings.Fields(f.Command); len(words) > 1 && words[0] == "sh" {
		return words[1]
	}
	return ""
}
