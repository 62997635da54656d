package web

import "relabel"

// timePart is a part of a bar of length 1000, from X on.
type timePart struct {
	Name, Class, Meaning string
	Millis               int64
	X, Width, Percent    float64
}

// timeView shows where a run's time went.
type timeView struct {
	Parts      []timePart
	Attempts   int
	Efficiency *float64
}

// newTimeView puts the parts side by side, work first, then waits.
func newTimeView(r relabel.TimeReport) timeView {
	s := r.Spent
	parts := []timePart{
		{Name: "model", Class: "work", Millis: s.Model, Meaning: "answered requests of executors"},
		{Name: "sandbox", Class: "work", Millis: s.Sandbox, Meaning: "executing actions"},
		{Name: "database", Class: "work", Millis: s.Database, Meaning: "writing results"},
		{Name: "end", Class: "work", Millis: s.End, Meaning: "taking patches, removing sandboxes"},
		{Name: "verification", Class: "work", Millis: s.Verify, Meaning: "testing patches"},
		{Name: "engine", Class: "rest", Millis: s.Engine, Meaning: "the engine itself"},
		{Name: "replay", Class: "rest", Millis: s.Replay, Meaning: "repeating actions of earlier attempts"},
		{Name: "start", Class: "wait", Millis: s.Start, Meaning: "preparing sandboxes"},
		{Name: "slot", Class: "wait", Millis: s.Slot, Meaning: "waiting for a rollout or verification slot"},
		{Name: "endpoint", Class: "wait", Millis: s.Endpoint, Meaning: "waiting for an endpoint, failed requests, pauses"},
		{Name: "labels", Class: "wait", Millis: s.Labels, Meaning: "waiting for late labels"},
		{Name: "lost", Class: "wait", Millis: r.Lost, Meaning: "attempts of lost workers"},
	}
	var all float64
	for _, p := range parts {
		all += float64(p.Millis)
	}
	view := timeView{Attempts: r.Attempts, Efficiency: r.Efficiency}
	x := 0.0
	for _, p := range parts {
		if p.Millis <= 0 {
			continue
		}
		p.X, p.Width, p.Percent = x, 1000*float64(p.Millis)/all, 100*float64(p.Millis)/all
		x += p.Width
		view.Parts = append(view.Parts, p)
	}
	return view
}
