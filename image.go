package relabel

import "time"

// PulledImage is an image that relabel pulled, and may remove again.
type PulledImage struct {
	Engine   string // the engine's id, which no other has
	Image    string // its name, as tasks give it
	ID       string // what it was then
	Bytes    int64
	PulledAt time.Time
	UsedAt   time.Time
}
