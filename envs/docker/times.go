package docker

import "time"

// Times bound the calls to an engine: one that hangs is an error when they are over.
type Times struct {
	Ping   time.Duration // whether it answers at all
	Call   time.Duration // what it answers from memory: lists, inspections
	Create time.Duration // the making of a container
	Start  time.Duration // attaching to it, its start, and sandboxd's first word
	Remove time.Duration // a container's or an image's end
	Stall  time.Duration // without progress a pull is given up
	Pull   time.Duration // a pull in all
}

// DefaultTimes are for engines on loaded machines with large images.
var DefaultTimes = Times{
	Ping: 5 * time.Second, Call: 30 * time.Second, Create: 2 * time.Minute, Start: 2 * time.Minute,
	Remove: time.Minute, Stall: 3 * time.Minute, Pull: 2 * time.Hour,
}

// orDefault fills in what is 0.
func (t Times) orDefault() Times {
	d := DefaultTimes
	for _, f := range []struct{ have, want *time.Duration }{
		{&t.Ping, &d.Ping}, {&t.Call, &d.Call}, {&t.Create, &d.Create}, {&t.Start, &d.Start},
		{&t.Remove, &d.Remove}, {&t.Stall, &d.Stall}, {&t.Pull, &d.Pull},
	} {
		if *f.have <= 0 {
			*f.have = *f.want
		}
	}
	return t
}
