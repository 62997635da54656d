package verify

import (
	"context"
	"errors"
	"io/fs"

	"relabel/envs"
	"relabel/envs/verify/results"
)

// readReport reads the report at path. It is nil where the container's failure is why it
// cannot be read. One that is absent, broken or longer than MaxReport confirms nothing.
func (s *stage) readReport(ctx context.Context, path string) *results.Report {
	data, size, err := s.sandbox.ReadFile(ctx, path, results.MaxReport)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, envs.ErrNotRegular):
		data = nil
	case err != nil:
		return nil
	case size > results.MaxReport:
		data = nil
	}
	return results.ParseReport(data)
}
