package taskbuild

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"path"
	"slices"
	"strings"

	"relabel/gitdiff"
)

// Limits of the search for a fix in an image.
const (
	minWindow   = 40       // characters that three lines have at least to be compared
	maxScanned  = 8 << 20  // bytes of a file; larger ones are not source
	maxUnpacked = 64 << 20 // bytes that are read of a compressed file
	leakShare   = 3        // a file leaks the fix if it has a third of the windows of a fixed file
)

// window is the hash of three consecutive lines, without blank lines and the white space around lines.
type window uint64

var windowSeed = maphash.MakeSeed()

// windows calls found with each window of a text.
func windows(text []byte, found func(window)) {
	var hashes [3]uint64
	var sizes [3]int
	n := 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		hashes[n%3], sizes[n%3] = maphash.Bytes(windowSeed, line), len(line)
		n++
		if n >= 3 && sizes[0]+sizes[1]+sizes[2] >= minWindow {
			found(window(hashes[n%3]*31*31 + hashes[(n+1)%3]*31 + hashes[(n+2)%3])) // oldest first
		}
	}
}

// windowsOfFix returns the windows of the files after a patch that they do not have before it.
func windowsOfFix(patch string) map[window]string {
	files, _ := gitdiff.Parse(patch)
	fixed, old := map[window]string{}, map[window]bool{}
	for _, f := range files {
		for _, h := range f.Hunks {
			windows([]byte(h.New()), func(w window) { fixed[w] = f.New })
			windows([]byte(h.Old()), func(w window) { old[w] = true })
		}
	}
	for w := range old {
		delete(fixed, w)
	}
	return fixed
}

// fixInImage looks for the fix in all files of the image of a trial, such as a later release that another package
// depends on. It returns a refusal if it is there.
func (t *trial) fixInImage(ctx context.Context) (*Refusal, error) {
	fixed := windowsOfFix(t.line.Patch)
	if len(fixed) == 0 {
		return nil, nil
	}
	tracked, err := Git(ctx, t.candidate.Repository, "ls-tree", "-r", "-z", "--name-only", "--full-tree", t.candidate.Base)
	if err != nil {
		return nil, err
	}
	base := map[string]bool{} // files of the base commit, as the archive names them
	for _, name := range strings.Split(string(tracked), "\x00") {
		base[strings.TrimPrefix(path.Join(t.recipe.Workdir, name), "/")] = name != ""
	}
	found := map[string][]window{}
	if err := t.engine.ReadImage(ctx, t.line.Image, map[string]string{LabelBuild: t.folder.id}, func(archive io.Reader) error {
		return scan(archive, fixed, found)
	}); err != nil {
		return nil, err
	}
	for name, has := range found {
		if base[name] { // the agent may read it anyway
			for _, w := range has {
				delete(fixed, w)
			}
			delete(found, name)
		}
	}
	if name, has, all := leakingFile(fixed, found); name != "" {
		return &Refusal{Reason: ReasonFixInImage, Detail: fmt.Sprintf("/%s has %d of %d parts of the fixed file", name, has, all)}, nil
	}
	return nil, nil
}

// scan finds windows in the files of an archive.
func scan(archive io.Reader, fixed map[window]string, found map[string][]window) error {
	var text bytes.Buffer
	for in := tar.NewReader(archive); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg || header.Size > maxScanned {
			continue
		}
		text.Reset()
		if _, err := text.ReadFrom(in); err != nil {
			return err
		}
		contents(text.Bytes(), func(content []byte) {
			windows(content, func(w window) {
				if _, fix := fixed[w]; fix && !slices.Contains(found[header.Name], w) {
					found[header.Name] = append(found[header.Name], w)
				}
			})
		})
	}
}

// contents calls found with a text, or with the texts in a compressed file, such as a package in a cache.
func contents(file []byte, found func([]byte)) {
	switch {
	case bytes.HasPrefix(file, []byte("\x1f\x8b")):
		if in, err := gzip.NewReader(bytes.NewReader(file)); err == nil {
			unpacked, _ := io.ReadAll(io.LimitReader(in, maxUnpacked)) // of a damaged file, what can be read
			found(unpacked)                                            // a tar archive has its files as they are
		}
	case bytes.HasPrefix(file, []byte("PK\x03\x04")):
		in, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		left := int64(maxUnpacked)
		for _, f := range in.File {
			opened, err := f.Open()
			if err != nil || left <= 0 {
				continue
			}
			unpacked, _ := io.ReadAll(io.LimitReader(opened, left))
			left -= int64(len(unpacked))
			found(unpacked)
			_ = opened.Close() // it was only read
		}
	case bytes.IndexByte(file[:min(len(file), 8000)], 0) < 0: // not binary
		found(file)
	}
}

// leakingFile returns the first file that has enough windows of one fixed file, with their number; "" if none has.
func leakingFile(fixed map[window]string, found map[string][]window) (name string, has, all int) {
	total := map[string]int{}
	for _, file := range fixed {
		total[file]++
	}
	for candidate, list := range found {
		counts := map[string]int{}
		for _, w := range list {
			if file, still := fixed[w]; still {
				counts[file]++
			}
		}
		for file, n := range counts {
			if n*leakShare >= total[file] && (name == "" || candidate < name) {
				name, has, all = candidate, n, total[file]
			}
		}
	}
	return name, has, all
}
