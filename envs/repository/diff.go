package repository

import (
	"context"
	"errors"

	"relabel"
)

// maxDiff bounds the bytes of a diff.
const maxDiff = 64 << 20

// Diff returns the unified diff between two commits, given by their full ids, with renames. CodeInvalid
// for one of more than 64 MiB.
func (m *Mirrors) Diff(ctx context.Context, name, base, head string) ([]byte, error) {
	base, head, err := m.both(ctx, name, base, head)
	if err != nil {
		return nil, err
	}
	text, err := m.run(ctx, name, maxDiff, "diff-tree", "-r", "-p", "-M", "-l1000", "--unified=3", "--inter-hunk-context=0", "--full-index",
		"--diff-algorithm=myers", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/", base, head)
	if errors.Is(err, errTooMuch) {
		return nil, relabel.Errorf(relabel.CodeInvalid, "the commits %s and %s of %s differ by more than %d MiB", base, head, name, maxDiff>>20)
	}
	return text, err
}

func (m *Mirrors) both(ctx context.Context, name, a, b string) (string, string, error) {
	a, err := m.exact(ctx, name, a)
	if err != nil {
		return "", "", err
	}
	b, err = m.exact(ctx, name, b)
	return a, b, err
}
