package fleet

import (
	"context"
	"errors"

	"relabel"
)

// Describe returns the facts of an image: of the first engine that has it, else of its registry, as the
// first engine sees it that finds it there, else as the last one sees it. It fails with CodeUnavailable if no engine answers.
func (f *Fleet) Describe(ctx context.Context, image string) (facts relabel.ImageFacts, err error) {
	up := f.up()
	if len(up) == 0 {
		return facts, relabel.Errorf(relabel.CodeUnavailable, "no Docker engine answers")
	}
	var failures []error
	answered := false
	for _, m := range up {
		found, err := m.Engine.Describe(ctx, image)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		if found.State == relabel.ImagePresent {
			return found, nil
		}
		if facts.State != relabel.ImageAvailable {
			facts, answered = found, true
		}
	}
	if !answered {
		return facts, errors.Join(failures...)
	}
	return facts, nil
}

// Answers reports whether an engine answers.
func (f *Fleet) Answers() bool { return len(f.up()) > 0 }

// MakeRoom makes room for an image on the engine that would pull it, and keeps the images there that are
// needed before: see envs.Engine. While no engine is available, nothing fits.
func (f *Fleet) MakeRoom(ctx context.Context, image string, keep []string) (bool, error) {
	homes := f.homes(image, nil)
	if len(homes) == 0 {
		return false, nil
	}
	var here []string
	for _, name := range keep {
		if others := f.homes(name, nil); len(others) > 0 && others[0] == homes[0] {
			here = append(here, name)
		}
	}
	return homes[0].MakeRoom(ctx, image, here)
}
