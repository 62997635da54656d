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

// causeTime bounds the search for the cause of a container's end: failed calls wait for it.
const causeTime = 5 * time.Second

// An out-of-memory event at most oomBefore before a container's end is its cause; an earlier one only
// killed a command. The engine may report it up to oomAfter after the end.
const (
	oomBefore = 2 * time.Second
	oomAfter  = 2 * time.Second
)

// Causes of a container's end.
var (
	errMemory  = relabel.Errorf(relabel.CodeEnvironment, "the engine killed it: out of memory")
	errKilled  = relabel.Errorf(relabel.CodeEnvironment, "it was killed from outside")
	errExpired = relabel.Errorf(relabel.CodeEnvironment, "it ended itself: it had no contact with its host, or its deadline passed")
	errRestart = relabel.Errorf(relabel.CodeEnvironment, "its engine was restarted, or removed it").Because(envs.ErrEngine)
	errLost    = relabel.Errorf(relabel.CodeEnvironment, "the connection to it was lost")
	errSilent  = relabel.Errorf(relabel.CodeEnvironment, "its engine does not answer")
)

// why finds the cause of a broken stream in the engine's events, because the container is removed as
// soon as it has ended.
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
	// The engine answered, and has no such event.
	end = h.stillThere(id)
	return end.Because(errors.Join(broke, end.Unwrap()))
}

// readEnd reads the container's events, past and future ones, until its end.
func (h *Host) readEnd(ctx context.Context, id string) (*relabel.Error, error) {
	past, failure := h.client.Events(ctx, events.ListOptions{Since: "1", Filters: filters.NewArgs(
		filters.Arg("container", id), filters.Arg("event", string(events.ActionOOM)), filters.Arg("event", string(events.ActionDie)))})
	var oom, die events.Message
	var late <-chan time.Time // after oomAfter
	for {
		select {
		case e := <-past:
			if e.Action == events.ActionOOM {
				oom = e
			} else {
				die, late = e, time.After(oomAfter)
			}
		case <-late:
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
		return errExpired
	case n == 128+9:
		return errKilled
	default:
		return relabel.Errorf(relabel.CodeEnvironment, "its first process ended with exit code %d", n)
	}
}

// stillThere is the cause if the engine has no event of the container's end.
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
