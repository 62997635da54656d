// Package judge has the instruction of a judge of failure modes, the form in which it sees trajectories, and
// the reading of its answers. docs/failures.md describes them.
package judge

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strings"

	"relabel"
)

// Version is the version of the instruction and of the rendering. Every change of what a judge reads
// raises it.
const Version = 1

//go:embed prompt.txt
var text string

// The sentences about the gold patch.
const (
	withGold    = "If the record has a gold patch, it is one correct solution. A patch may be correct in another way; wrong_file means that it changes no file of the gold patch. Without a gold patch, never answer wrong_file."
	withoutGold = "The record has no correct solution to compare with. Never answer wrong_file."
)

// Prompt returns the current instruction of a judge that sees gold patches, or that does not.
func Prompt(gold bool) relabel.JudgePrompt {
	about := withoutGold
	if gold {
		about = withGold
	}
	p := relabel.JudgePrompt{Version: Version, Gold: gold, Text: strings.Replace(text, "{{gold}}", about, 1)}
	p.Hash = hash(p)
	return p
}

func hash(p relabel.JudgePrompt) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s", p.Version, p.Text))
	return hex.EncodeToString(sum[:])
}
