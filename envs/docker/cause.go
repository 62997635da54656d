package docker

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"

	"relabel"
	"relabel/envs"
)

// causeTime bounds the search for why a container ended: those whose call failed wait.
const causeTime = 5 * time.Second

// oomBefore is how long before a container's end memory may have run out to be its cause:
// a command that was killed alone is an earlier story. The engine may tell the two in the
// other order.
const (
	oomBefore = 2 * time.Second
	oomAfter  = 300 * time.Millisecond
)

// ends are the words for a container's end.
var (
	errMemory  = relabel.Errorf(relabel.CodeEnvironment, "the engine killed it: out of memory")
	errKilled  = relabel.Errorf(relabel.CodeEnvironment, "it was killed from outside")
	errByself  = relabel.Errorf(relabel.CodeEnvironment, "it ended by itself: nobody spoke to it any more, or its deadline was over")
	errRestart = relabel.Errorf(relabel.CodeEnvironment, "its engine was restarted, or removed it").Because(envs.ErrEngine)
	errLost    = relabel.Errorf(relabel.CodeEnvironment, "the connection to it was lost")
	errSilent  = relabel.Errorf(relabel.CodeEnvironment, "its engine does not answer")
)

// why finds out why a sandbox's stream broke off. The container is removed as soon as it
// has ended, so it is the engine's own memory of events that knows.
func (h *Host) why(id string, broke error) error {
	ctx, cancel := context.WithTimeout(context.Background(), causeTime)
	defer cancel()
	end, err := h.readEnd(ctx, id)
	switch {
	case err == nil:
		return end.Because(broke)
	case ctx.Err() == nil:
		return errSilent.Because(errors.Join(envs.ErrEngine, broke, err))
	}
	// The engine answered, and knows of no end.
	end = h.stillThere(id)
	return end.Because(errors.Join(broke, end.Unwrap()))
}

// readEnd reads the container's last events, those to come too, until it has ended.
func (h *Host) readEnd(ctx context.Context, id string) (*relabel.Error, error) {
	past, failure := h.client.Events(ctx, events.ListOptions{Since: "1", Filters: filters.NewArgs(
		filters.Arg("container", id), filters.Arg("event", string(events.ActionOOM)), filters.Arg("event", string(events.ActionDie)))})
	var oom, die events.Message
	var told <-chan time.Time // that memory ran out may be told after the end
	for {
		select {
		case e := <-past:
			if e.Action == events.ActionOOM {
				oom = e
			} else {
				die, told = e, time.After(oomAfter)
			}
		case <-told:
			return endOf(die.Actor.Attributes["exitCode"]), nil
		case err := <-failure:
			if err == nil {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if oom.TimeNano != 0 && die.TimeNano != 0 && die.TimeNano-oom.TimeNano < int64(oomBefore) {
			return errMemory, nil
		}
	}
}

func endOf(code string) *relabel.Error {
	switch n, err := strconv.Atoi(code); {
	case err != nil:
		return errLost
	case n == 0:
		return errByself
	case n == 128+9:
		return errKilled
	default:
		return relabel.Errorf(relabel.CodeEnvironment, "its first process ended with exit code %d", n)
	}
}

// stillThere says what became of a container whose end the engine does not remember.
func (h *Host) stillThere(id string) *relabel.Error {
	ctx, cancel := context.WithTimeout(context.Background(), min(causeTime, h.times.Call))
	defer cancel()
	_, err := h.client.ContainerInspect(ctx, id)
	switch {
	case err == nil:
		return errLost
	case errdefs.IsNotFound(err):
		return errRestart
	}
	return errSilent
}
