package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relabel"
)

// FetchExport brings the export at a place, which names a commit, into a folder: its manifest, and those of its
// files that only accepts by name; nil: all, with any further file in the folders of its views. Files that are there with
// the right bytes are not fetched again. CodeNotFound if the place has no export.
func (c *Client) FetchExport(ctx context.Context, p Place, dir string, only func(name string) bool) error {
	err := c.Fetch(ctx, p, dir, func(name string) bool { return name == manifestName })
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, os.ErrNotExist) {
		return relabel.Errorf(relabel.CodeNotFound, "%s has no %s: it is not an export", p, manifestName).On("destination")
	}
	if err != nil {
		return err
	}
	names, err := FilesOf(text)
	if err != nil {
		return relabel.Errorf(relabel.CodeInvalid, "%s: its %s is no export's: %v", p, manifestName, err).On("destination")
	}
	folders := map[string]bool{}
	for _, name := range names {
		if folder, _, is := strings.Cut(name, "/"); is {
			folders[folder] = true
		}
	}
	return c.Fetch(ctx, p, dir, func(name string) bool {
		folder, _, _ := strings.Cut(name, "/")
		listed := slices.Contains(names, name)
		if only != nil {
			return listed && only(name)
		}
		return listed || folders[folder]
	})
}

// Fetch brings the files of a place, which names a commit, whose names want accepts into a folder. Files that are
// there with the right bytes are not fetched again. All are compared with their hashes in the commit.
func (c *Client) Fetch(ctx context.Context, p Place, dir string, want func(name string) bool) error {
	there, err := c.tree(ctx, p, p.Revision)
	if err != nil {
		return err
	}
	for path, e := range there {
		name, is := p.below(path)
		if !is || !want(name) {
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return &Error{Status: http.StatusOK, Message: "it lists a file outside of the folder", where: p.Repo}
		}
		if same, err := e.isIn(dir, name); err == nil && same {
			continue
		}
		if err := c.fetch(ctx, p, e, dir, name); err != nil {
			return err
		}
	}
	return nil
}

// size is that of the entry's bytes.
func (e entry) size() int64 {
	if e.LFS != nil {
		return e.LFS.Size
	}
	return e.Size
}

// isIn reports whether a file of a folder has the bytes of the entry.
func (e entry) isIn(dir, name string) (bool, error) {
	f, err := Describe(dir, name)
	if err != nil {
		return false, err
	}
	return e.has(f)
}

// fetch brings one file into a folder. It is complete and has the right bytes before it has its name.
func (c *Client) fetch(ctx context.Context, p Place, e entry, dir, name string) error {
	to := filepath.Join(dir, filepath.FromSlash(name))
	aside := dir + ".partial" // beside it: what a crash leaves is not in the folder
	for _, folder := range []string{filepath.Dir(to), aside} {
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return err
		}
	}
	file, err := os.CreateTemp(aside, "*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	err = c.repeat(ctx, func() error {
		return c.download(ctx, request{method: http.MethodGet, address: c.resolve(p, name)}, e.size(), file)
	})
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	same, err := e.isIn(aside, filepath.Base(file.Name()))
	if err == nil && !same {
		err = &Error{Status: http.StatusOK, Message: "the bytes of " + name + " are not those that the commit says", where: p.String()}
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), to)
}

// download writes what a request is answered with to a file, from its beginning.
func (c *Client) download(ctx context.Context, r request, size int64, file *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, reachTime+time.Duration(size/slowest)*time.Second)
	defer cancel()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	answer, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	sent, err := io.Copy(file, io.LimitReader(answer.Body, size+1))
	if sent > size {
		return &Error{Status: answer.StatusCode, Message: fmt.Sprintf("it sends more bytes than the %d that its commit says", size), where: where(r)}
	}
	return unanswered(r, err)
}
