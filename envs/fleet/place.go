package fleet

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"relabel"
	"relabel/envs"
)

// Create makes a sandbox on the least loaded engine, preferably one that has the image: see envs.Host.
// It waits for a slot until ctx ends, and for the fleet's patience while no engine is available. If an
// engine fails, it tries the others.
func (f *Fleet) Create(ctx context.Context, spec envs.Spec) (envs.Sandbox, error) {
	if err := f.removeNamesake(ctx, spec.Name); err != nil {
		return nil, err
	}
	failed := map[*member]error{}
	for {
		m, err := f.take(ctx, spec.Image, failed)
		if err != nil {
			return nil, err
		}
		sandbox, err := m.Create(ctx, spec)
		engines := f.judge(ctx, m, err)
		if err == nil {
			return f.keep(m, spec.Name, sandbox), nil
		}
		f.release(m)
		if !engines {
			return nil, err
		}
		if failed[m] = err; len(failed) == len(f.members) {
			return nil, err
		}
	}
}

// removeNamesake closes the sandbox of that name, which may be on any engine.
func (f *Fleet) removeNamesake(ctx context.Context, name string) error {
	f.mu.Lock()
	old := f.boxes[name]
	f.mu.Unlock()
	if old == nil {
		return nil
	}
	return old.Close(ctx)
}

// take acquires a slot on an engine that is not in failed.
func (f *Fleet) take(ctx context.Context, image string, failed map[*member]error) (*member, error) {
	// Checked once: an engine that gets the image meanwhile is merely not preferred.
	has, err := f.whoHas(ctx, image)
	if err != nil {
		return nil, err
	}
	var patience <-chan time.Time // runs while no engine is available
	for {
		f.mu.Lock()
		m, none, changed := f.best(has, failed), f.noneWorks(failed), f.changed
		if m != nil {
			m.used++
		}
		f.mu.Unlock()
		if m != nil {
			return m, nil
		}
		switch {
		case none == nil:
			patience = nil // all slots are taken: one will become free
		case patience == nil:
			patience = time.After(f.patience)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, relabel.Errorf(relabel.CodeEnvironment, "waiting for a free slot: stopped").Because(context.Cause(ctx))
		case <-patience:
			return nil, none
		}
	}
}

// noneWorks is the error of a fleet without an available engine outside of failed; nil if there is
// one. f.mu is held.
func (f *Fleet) noneWorks(failed map[*member]error) (last error) {
	for _, m := range f.members {
		if failed[m] != nil {
			last = failed[m]
		} else if m.placeable() {
			return nil
		}
	}
	if err := f.room(); err != nil {
		return relabel.Errorf(relabel.CodeEnvironment, "%s", words(err)).Because(err)
	}
	return last
}

// best is the least loaded engine with a free slot, preferably with the image; nil if all are full.
// f.mu is held.
func (f *Fleet) best(has map[*member]bool, failed map[*member]error) (best *member) {
	var least float64
	for _, m := range f.members {
		free, load := m.has()
		if !free || !m.placeable() || failed[m] != nil {
			continue
		}
		if best == nil || has[m] && !has[best] || has[m] == has[best] && load < least {
			best, least = m, load
		}
	}
	return best
}

// hasTime bounds the check whether an engine has an image.
const hasTime = 5 * time.Second

// whoHas returns the engines that have an image. An engine that does not answer counts as one without
// it. An impossible name is CodeImageMissing.
func (f *Fleet) whoHas(ctx context.Context, image string) (map[*member]bool, error) {
	has, up := map[*member]bool{}, f.up()
	if len(f.members) == 1 {
		return has, nil // there is no choice
	}
	ctx, cancel := context.WithTimeout(ctx, hasTime)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	var impossible error
	for _, m := range up {
		all.Go(func() {
			there, err := m.HasImage(ctx, image)
			mu.Lock()
			defer mu.Unlock()
			if has[m] = there; relabel.CodeOf(err) == relabel.CodeImageMissing {
				impossible = err
			}
		})
	}
	all.Wait()
	return has, impossible
}

// EnsureImage makes the image present on one available engine: see envs.Host. The image's name
// determines the engine that pulls it, so that images are spread over the engines in proportion to
// their slots. While no engine is available it waits for the fleet's patience.
func (f *Fleet) EnsureImage(ctx context.Context, image string) error {
	if err := f.awaitRoom(ctx); err != nil {
		return err
	}
	has, err := f.whoHas(ctx, image)
	if err != nil {
		return err
	}
	for _, m := range f.homes(image, has) {
		err = m.EnsureImage(ctx, image)
		if !errors.Is(err, envs.ErrEngine) || ctx.Err() != nil {
			return err
		}
		f.judge(ctx, m, err)
	}
	return err
}

// awaitRoom waits until an engine is available.
func (f *Fleet) awaitRoom(ctx context.Context) error {
	patience := time.NewTimer(f.patience)
	defer patience.Stop()
	for {
		f.mu.Lock()
		none, changed := f.room(), f.changed
		f.mu.Unlock()
		if none == nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return relabel.Errorf(relabel.CodeEnvironment, "waiting for an engine: stopped").Because(context.Cause(ctx))
		case <-patience.C:
			return relabel.Errorf(relabel.CodeEnvironment, "%s", words(none)).Because(none)
		}
	}
}

// homes are the engines for an image, best first: those that have it, then by the hash of both names,
// weighted by slots (rendezvous hashing).
func (f *Fleet) homes(image string, has map[*member]bool) (homes []*member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rank := map[*member]float64{}
	for _, m := range f.members {
		if !m.placeable() {
			continue
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(m.name + "\x00" + image)) // never fails
		weight := m.slots
		if weight < 0 {
			weight = m.perCPU()
		}
		homes, rank[m] = append(homes, m), score(h.Sum64(), weight)
		if has[m] {
			rank[m] += 1e9 // above every score
		}
	}
	slices.SortFunc(homes, func(a, b *member) int { return cmp.Compare(rank[b], rank[a]) })
	return homes
}
