package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
	"github.com/rs/zerolog"

	"relabel"
	"relabel/envs"
)

// progressEvery is the interval between log lines of one pull.
const progressEvery = 15 * time.Second

// pull pulls an image, from its mirror if it has one, and records it.
func (h *Host) pull(ctx context.Context, name string) error {
	from, err := h.images.source(name)
	if err != nil {
		return missing(name, err)
	}
	auth, err := h.images.authFor(from)
	if err != nil {
		return err
	}
	another := false // the mirror's name exists already
	if from != name {
		if another, err = h.HasImage(ctx, from); err != nil {
			return err
		}
	}
	log, began := h.log.With().Str("image", name).Logger(), time.Now()
	log.Info().Str("from", from).Msg("pulling image")
	if err := h.pullFrom(ctx, from, auth, log); err != nil {
		return h.pullFailed(ctx, name, err)
	}
	if from != name {
		if err := h.rename(ctx, from, name, another); err != nil {
			return err
		}
	}
	log.Info().Dur("took", time.Since(began)).Msg("pulled image")
	return h.notePull(ctx, name)
}

// pullFrom pulls a reference. It fails when the engine reports no progress for too long.
func (h *Host) pullFrom(ctx context.Context, from, auth string, log zerolog.Logger) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(h.times.Stall, func() { cancel(errStalled) })
	defer stall.Stop()
	progress, err := h.client.ImagePull(ctx, from, image.PullOptions{RegistryAuth: auth})
	if err == nil {
		defer progress.Close()
		logged := time.Now()
		err = readPull(progress, func(done, all int64) {
			stall.Reset(h.times.Stall)
			if time.Since(logged) >= progressEvery {
				logged = time.Now()
				log.Info().Int64("bytes", done).Int64("of", all).Msg("pulling image")
			}
		})
	}
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return err
}

var errStalled = errors.New("no progress")

// readPull reads the engine's progress lines, the last of which may be an error. It reports the
// pulled and the known bytes after each line.
func readPull(progress io.Reader, report func(done, all int64)) error {
	type part struct {
		Current int64 `json:"current"`
		Total   int64 `json:"total"`
	}
	parts := map[string]part{}
	for lines := json.NewDecoder(progress); ; {
		var line struct {
			ID     string `json:"id"`
			Status string `json:"status"`
			Detail part   `json:"progressDetail"`
			Error  string `json:"error"`
		}
		if err := lines.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if line.Error != "" {
			return errors.New(line.Error)
		}
		if line.Detail.Total > 0 {
			parts[line.ID+line.Status] = line.Detail
		}
		var sum part
		for _, p := range parts {
			sum.Current, sum.Total = sum.Current+p.Current, sum.Total+p.Total
		}
		report(sum.Current, sum.Total)
	}
}

// transient are words in transient errors of registries and networks.
var transient = []string{"toomanyrequests", "429 ", "500 internal", "502 bad", "503 service", "504 gateway", "i/o timeout", "handshake timeout", "connection reset", "unexpected eof"}

// pullFailed classifies the error of a pull: the engine failed, the registry failed temporarily, or the
// image is not available.
func (h *Host) pullFailed(ctx context.Context, name string, err error) error {
	switch {
	case errors.Is(err, errStalled):
		return relabel.Errorf(relabel.CodeEnvironment, "the pull of %s made no progress for %s", name, h.times.Stall).Because(err)
	case containsAny(err, "no space left"):
		return failed(ctx, "pull "+name+": its disk is full", errors.Join(envs.ErrEngine, err))
	case client.IsErrConnectionFailed(err), ctx.Err() != nil:
		return failed(ctx, "pull "+name, err)
	case containsAny(err, transient...):
		return relabel.Errorf(relabel.CodeEnvironment, "the registry of %s is temporarily unavailable", name).Because(err)
	}
	return missing(name, err)
}

// rename gives an image that came from a mirror the name in its task, and removes the mirror's name,
// unless that existed before.
func (h *Host) rename(ctx context.Context, from, name string, another bool) error {
	call, cancel := context.WithTimeout(ctx, h.times.Call)
	defer cancel()
	if err := h.client.ImageTag(call, from, name); err != nil {
		return failed(ctx, "name "+name, err)
	}
	if another {
		return nil
	}
	if _, err := h.client.ImageRemove(call, from, image.RemoveOptions{}); err != nil {
		return failed(ctx, fmt.Sprintf("forget %s, the mirror's name for %s", from, name), err)
	}
	return nil
}
