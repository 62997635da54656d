package reward

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"relabel"
	"relabel/envs"
)

// unpack writes the files of an archive below dir in a sandbox, without programs of the sandbox.
func unpack(ctx context.Context, sandbox envs.Sandbox, archive relabel.Archive, dir string) error {
	packed, err := gzip.NewReader(bytes.NewReader(archive.Content))
	if err != nil {
		return fmt.Errorf("the archive for %s is broken: %w", dir, err)
	}
	files := tar.NewReader(io.LimitReader(packed, 2*relabel.MaxUnpacked))
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the archive for %s is broken: %w", dir, err)
		}
		if header.Typeflag != tar.TypeReg || !fs.ValidPath(header.Name) {
			return fmt.Errorf("the archive for %s has %q, which is not a plain file", dir, header.Name)
		}
		content, err := io.ReadAll(files)
		if err != nil {
			return fmt.Errorf("the archive for %s is broken: %w", dir, err)
		}
		if err := sandbox.WriteFile(ctx, path.Join(dir, header.Name), content, header.FileInfo().Mode().Perm()); err != nil {
			return err
		}
	}
}
