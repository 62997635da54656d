package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/docker/go-units"

	"relabel"
)

// TasksImages is `relabel tasks images TASKSET`.
type TasksImages struct {
	ClientFlags
	Taskset string `arg:"" help:"Name or id of a task set."`
	Check   bool   `help:"Ask a worker to look for each image on its Docker engines, else in its registry. No image is pulled."`
	Missing bool   `help:"List only images that are missing."`
}

// Run checks the images if that is asked, and prints them. It fails if one is missing.
func (c *TasksImages) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		set, err := findTaskset(ctx, cl, c.Taskset)
		if err != nil {
			return err
		}
		if c.Check {
			if err := checkImages(ctx, cl, set); err != nil {
				return err
			}
		}
		state := relabel.ImageState("")
		if c.Missing {
			state = relabel.ImageMissing
		}
		needs, err := cl.Images(ctx, set.ID, state)
		if err != nil {
			return err
		}
		heads := []string{"IMAGE", "TASKS", "STATE", "SIZE", "PROBLEM"}
		err = printTable(needs, heads, func(n relabel.ImageNeed) []any {
			return []any{n.Image, n.Tasks, n.State, sizeText(n.Bytes), n.Problem}
		})
		if err != nil {
			return err
		}
		return sumUpImages(ctx, cl, set)
	})
}

// reportImages checks a task set's images and prints their sums. It fails if one is missing.
func reportImages(ctx context.Context, cl *Session, set relabel.Taskset) error {
	if err := checkImages(ctx, cl, set); err != nil {
		return err
	}
	return sumUpImages(ctx, cl, set)
}

// sumUpImages prints the sums of a task set's images, and why images are unknown. It fails if one is missing.
func sumUpImages(ctx context.Context, cl *Session, set relabel.Taskset) error {
	sums, err := cl.ImageSums(ctx, set.ID)
	if err != nil {
		return err
	}
	say("%s", imageLine(sums))
	if sums.States[relabel.ImageUnknown] > 0 {
		unknown, err := cl.Images(ctx, set.ID, relabel.ImageUnknown)
		if err != nil {
			return err
		}
		for _, line := range problemLines(unknown) {
			say("%s", line)
		}
	}
	return missingImages(set, sums)
}

// mostProblems bounds the problems of images that are printed.
const mostProblems = 5

// pathInAddress is the path of an address in quotes, which differs by image.
var pathInAddress = regexp.MustCompile(`("https?://[^/"]+/)[^"]*"`)

// problemLines are the problems of images with their counts, the most frequent first. Problems that differ only in the
// path of an address are one.
func problemLines(needs []relabel.ImageNeed) (lines []string) {
	counts := map[string]int{}
	for _, n := range needs {
		counts[pathInAddress.ReplaceAllString(oneLine(n.Problem), `$1…"`)]++
	}
	problems := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for i, problem := range problems {
		if i == mostProblems {
			return append(lines, fmt.Sprintf("  … and %d other problems; `relabel tasks images TASKSET` lists them", len(problems)-i))
		}
		lines = append(lines, fmt.Sprintf("  %d unknown: %s", counts[problem], problem))
	}
	return lines
}

// checkImages asks for checks of a task set's images and waits for their results.
func checkImages(ctx context.Context, cl *Session, set relabel.Taskset) error {
	if _, err := cl.CheckImages(ctx, set.ID); err != nil {
		return err
	}
	_, err := cl.watchWork(ctx, "checking images", false, func() (line string, over bool, err error) {
		sums, err := cl.ImageSums(ctx, set.ID)
		pending := sums.States[relabel.ImagePending]
		return fmt.Sprintf("%d of %d images are checked", sums.Images-pending, sums.Images), pending == 0, err
	})
	return err
}

// imageLine sums up images in one line.
func imageLine(s relabel.ImageSums) string {
	states := []string{}
	for _, state := range relabel.ImageStates {
		if n := s.States[state]; n > 0 {
			states = append(states, fmt.Sprintf("%d %s", n, state))
		}
	}
	if len(states) == 0 {
		states = append(states, "not checked: use --check")
	}
	line := fmt.Sprintf("%s: %s", counted(s.Images, "image"), strings.Join(states, ", "))
	if s.Present+s.Available > 0 {
		line += fmt.Sprintf("; %s on disk, %s to pull (compressed), with shared layers counted once",
			units.BytesSize(float64(s.Present)), units.BytesSize(float64(s.Available)))
	}
	return line
}

// missingImages is the error for a task set with missing images; nil if none is missing.
func missingImages(set relabel.Taskset, s relabel.ImageSums) error {
	n := s.States[relabel.ImageMissing]
	if n == 0 {
		return nil
	}
	return relabel.Errorf(relabel.CodeImageMissing, "%s has %d missing images, so their tasks would fail; `relabel tasks images %s --missing` lists them", set.Name, n, set.Name)
}

// sizeText is a size with a unit; "" if it is unknown.
func sizeText(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return units.BytesSize(float64(bytes))
}
