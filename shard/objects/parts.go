package objects

import (
	"context"
	"io"

	"golang.org/x/sync/errgroup"
)

// Limits of uploads. S3 takes 10,000 parts of a file, so that it has 78 GiB at most; the files of an export are smaller.
const (
	partSize    = 8 << 20 // bytes of each part but the last one; a file up to this size is sent in one request
	partsAtOnce = 4
)

// inParts calls do for each part of a file, several at once. Numbers begin with 0.
func inParts(ctx context.Context, file io.ReaderAt, size int64, do func(ctx context.Context, number int, part *io.SectionReader) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(partsAtOnce)
	for number := range countParts(size) {
		from := int64(number) * partSize
		group.Go(func() error {
			return do(ctx, number, io.NewSectionReader(file, from, min(partSize, size-from)))
		})
	}
	return group.Wait()
}

// countParts returns how many parts a file has.
func countParts(size int64) int {
	return int((size + partSize - 1) / partSize)
}
