package objects

import (
	"context"
	"io"

	"golang.org/x/sync/errgroup"
)

// Limits of uploads.
const (
	partSize    = 8 << 20 // bytes of a part; a file up to this size is sent in one request
	mostParts   = 10_000  // of a file, for which parts become larger
	partsAtOnce = 4
)

// inParts calls do for each part of a file, several at once. Numbers begin with 0.
func inParts(ctx context.Context, file io.ReaderAt, size int64, do func(ctx context.Context, number int, part *io.SectionReader) error) error {
	length := partLength(size)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(partsAtOnce)
	for number := range countParts(size) {
		from := int64(number) * length
		group.Go(func() error {
			return do(ctx, number, io.NewSectionReader(file, from, min(length, size-from)))
		})
	}
	return group.Wait()
}

// partLength returns the bytes of each part but the last one.
func partLength(size int64) int64 {
	return max(partSize, (size+mostParts-1)/mostParts)
}

// countParts returns how many parts a file has.
func countParts(size int64) int {
	length := partLength(size)
	return int((size + length - 1) / length)
}
