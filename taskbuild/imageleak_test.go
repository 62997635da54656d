package taskbuild_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"testing"

	"relabel/taskbuild"
)

// archive makes a tar archive out of a file.
func archive(t *testing.T, name, content string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	out := tar.NewWriter(&buffer)
	err := out.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content))})
	_, wrong := out.Write([]byte(content))
	if err := errors.Join(err, wrong, out.Close()); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

func gzipped(t *testing.T, content []byte) string {
	t.Helper()
	var buffer bytes.Buffer
	out := gzip.NewWriter(&buffer)
	_, err := out.Write(content)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	return buffer.String()
}

func zipped(t *testing.T, name, content string) string {
	t.Helper()
	var buffer bytes.Buffer
	out := zip.NewWriter(&buffer)
	file, err := out.Create(name)
	if err == nil {
		_, err = file.Write([]byte(content))
	}
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	return buffer.String()
}

func TestAnImageWithTheFixIsRefused(t *testing.T) {
	const before = "def shelve(book, place):\n    check(book)\n    return place.put(book)\n"
	const after = "def shelve(book, place):\n    check(book)\n    if place.full():\n        place = place.next()\n    return place.put(book)\n"
	for name, c := range map[string]struct {
		file, content string
		leaks         bool
	}{
		"a later release":       {"testbed/node_modules/shelf/shelf.py", "# 2.0\n" + after + "\n\ndef more():\n    pass\n", true},
		"a package in a cache":  {"root/.npm/_cacache/x", gzipped(t, archive(t, "package/shelf.py", "# 2.0\n"+after)), true},
		"a jar with sources":    {"root/.m2/shelf.jar", zipped(t, "shelf.py", after), true},
		"a damaged package":     {"root/.npm/_cacache/x", "\x1f\x8bx", false},
		"with other indents":    {"opt/shelf.py", "class Shelf:\n\n" + after, true},
		"an earlier release":    {"opt/shelf.py", before, false},
		"a line of it":          {"opt/other.py", "    if place.full():\n        return False\n    raise ValueError(place)\n", false},
		"a binary file":         {"opt/shelf.pyc", "\x00" + after, false},
		"a file of the commit":  {"testbed/copy.py", after, false},
		"a file with all of it": {"testbed/build/copy.py", after, true},
	} {
		b := newBench(t, "one")
		repository := b.source[0].Candidate.Repository
		write(t, repository, "shelf.py", before)
		if name == "a file of the commit" {
			write(t, repository, "copy.py", after)
		}
		git(t, repository, "add", "-A")
		git(t, repository, "commit", "-q", "-m", "base")
		b.source[0].Candidate.Base = git(t, repository, "rev-parse", "HEAD")
		write(t, repository, "shelf.py", after)
		b.source[0].Candidate.Patch = git(t, repository, "diff", "--", "shelf.py") + "\n"
		b.engine.extra = archive(t, c.file, c.content)
		report := b.build()
		if leaks := len(report.Refused) == 1 && report.Refused[0].Reason == taskbuild.ReasonFixInImage; leaks != c.leaks {
			t.Errorf("%s: %+v", name, report)
		}
	}
}
