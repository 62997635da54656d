package labeller

import (
	"context"
	"time"

	"relabel"
)

// waitLimit is how long work whose endpoint is down keeps its slot. Then it is released, with
// all answers stored, and not claimed until the endpoint is back.
const waitLimit = 5 * time.Second

// whileUp returns a context that ends with the cause ErrReleased when the policy has been down for
// waitLimit. over ends the watch.
func (l *Labeller) whileUp(ctx context.Context, p relabel.Policy) (watched context.Context, over func()) {
	if l.World.Down == nil {
		return ctx, func() {}
	}
	watched, end := context.WithCancelCause(ctx)
	go func() {
		for {
			why, changed := l.World.Down(p)
			var timer <-chan time.Time
			if why != "" {
				timer = time.After(waitLimit)
			}
			select {
			case <-watched.Done():
				return
			case <-changed:
			case <-timer:
				l.Log.Info().Str("policy", p.Name).Str("why", why).Msg("released work: its endpoint is down")
				end(ErrReleased)
				return
			}
		}
	}()
	return watched, func() { end(nil) }
}
