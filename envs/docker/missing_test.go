package docker

import (
	"errors"
	"strings"
	"testing"

	"relabel"
)

func TestAMissingBaseImageSaysHowToMakeIt(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"relabel/base-python:bookworm":      "run `scripts/runner-images.sh python` there",
		"relabel/base-gotoolchain:bookworm": "run `scripts/runner-images.sh gotoolchain` there",
		"other/base-python:bookworm":        "cannot be pulled",
	} {
		err := missing(name, errors.New("no such host"))
		if relabel.CodeOf(err) != relabel.CodeImageMissing || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
