package policy

import (
	"time"

	"relabel"
)

const (
	paceShort     = 32  // answers that the short mean looks back on
	paceLong      = 512 // those of the baseline
	paceLearned   = 128 // answers before the two are compared
	paceTolerance = 3.0 // how far the short mean may be above the baseline
	promptShare   = 1.0 / 32
)

// pace tells when a server has become slow for what it is asked: it compares the time
// for a token over the last few answers with that over many. The baseline follows
// slowly, so that a server that stays slower is not held back forever.
type pace struct {
	short, long float64 // seconds a token
	answers     int
}

// learn adds an answer and reports whether the server is well above its baseline.
func (p *pace) learn(took time.Duration, usage *relabel.Usage) bool {
	p.answers++
	now := took.Seconds() / work(usage)
	p.short += (now - p.short) / float64(min(p.answers, paceShort))
	p.long += (now - p.long) / float64(min(p.answers, paceLong))
	return p.answers > paceLearned && p.short > paceTolerance*p.long
}

// work weighs an answer in tokens: reading a prompt costs a small part of writing,
// and a cached prompt nothing. Without usage, all answers weigh the same.
func work(u *relabel.Usage) float64 {
	if u == nil {
		return 1
	}
	return 8 + float64(u.CompletionTokens) + float64(max(0, u.PromptTokens-u.CachedTokens))*promptShare
}
