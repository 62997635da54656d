package docker

import (
	"cmp"
	"time"
)

// Times bound the calls to an engine. A call that takes longer fails.
type Times struct {
	Ping   time.Duration // a ping
	Call   time.Duration // lists and inspections
	Create time.Duration // the creation of a container
	Start  time.Duration // attaching to a container, its start, and the handshake with sandboxd
	Remove time.Duration // the removal of a container or an image
	Stall  time.Duration // a pull without progress
	Pull   time.Duration // a whole pull
}

// DefaultTimes are for engines on loaded machines with large images.
var DefaultTimes = Times{
	Ping: 5 * time.Second, Call: 30 * time.Second, Create: 2 * time.Minute, Start: 2 * time.Minute,
	Remove: time.Minute, Stall: 3 * time.Minute, Pull: 2 * time.Hour,
}

// orDefault replaces fields that are 0.
func (t Times) orDefault() Times {
	d := DefaultTimes
	t.Ping, t.Call, t.Create = cmp.Or(t.Ping, d.Ping), cmp.Or(t.Call, d.Call), cmp.Or(t.Create, d.Create)
	t.Start, t.Remove = cmp.Or(t.Start, d.Start), cmp.Or(t.Remove, d.Remove)
	t.Stall, t.Pull = cmp.Or(t.Stall, d.Stall), cmp.Or(t.Pull, d.Pull)
	return t
}
