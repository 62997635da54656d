package policy

import (
	"time"

	"relabel"
)

const (
	paceShort     = 32  // answers in the short mean
	paceLong      = 512 // answers in the baseline
	paceLearned   = 128 // answers before they are compared
	paceTolerance = 3.0 // how many times the baseline the short mean may be
	promptShare   = 1.0 / 32
)

// pace detects that a server has become slow: it compares the time per token of the last few answers with
// a baseline over many. The baseline follows slowly, so that a server that stays slow is not limited
// forever.
type pace struct {
	short, long float64 // seconds per token
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

// work weighs an answer in tokens: reading a prompt costs a small part of writing, and a cached prompt
// nothing. Without usage, all answers weigh the same.
func work(u *relabel.Usage) float64 {
	if u == nil {
		return 1
	}
	return 8 + float64(u.CompletionTokens) + float64(max(0, u.PromptTokens-u.CachedTokens))*promptShare
}
