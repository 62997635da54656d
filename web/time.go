package web

import "relabel"

// timePart is a part of a bar: it begins at X and is Width long, of 1000.
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

// newTimeView lays the parts side by side, work first, then waits; none where no attempt
// has ended.
func newTimeView(r relabel.TimeReport) timeView {
	s := r.Spent
	parts := []timePart{
		{Name: "model", Class: "work", Millis: s.Model, Meaning: "executors' requests that were answered"},
		{Name: "sandbox", Class: "work", Millis: s.Sandbox, Meaning: "actions were executed"},
		{Name: "database", Class: "work", Millis: s.Database, Meaning: "what was found was written"},
		{Name: "end", Class: "work", Millis: s.End, Meaning: "patches were taken, sandboxes removed"},
		{Name: "verification", Class: "work", Millis: s.Verify, Meaning: "patches were tested"},
		{Name: "engine", Class: "rest", Millis: s.Engine, Meaning: "the engine itself"},
		{Name: "replay", Class: "rest", Millis: s.Replay, Meaning: "what earlier attempts did was done again"},
		{Name: "start", Class: "wait", Millis: s.Start, Meaning: "sandboxes were made ready"},
		{Name: "slot", Class: "wait", Millis: s.Slot, Meaning: "waits for a place among those that roll out or are verified"},
		{Name: "endpoint", Class: "wait", Millis: s.Endpoint, Meaning: "waits for a place at an endpoint, failed tries, pauses"},
		{Name: "labels", Class: "wait", Millis: s.Labels, Meaning: "waits for late labels"},
		{Name: "lost", Class: "wait", Millis: r.Lost, Meaning: "attempts of workers that died"},
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
