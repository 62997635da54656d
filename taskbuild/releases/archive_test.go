package releases

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// member is a file of an archive of a test.
type member struct {
	name, content, link string
	mode                fs.FileMode
}

// header is the header of a member.
func (m member) header() *tar.Header {
	h := &tar.Header{Name: m.name, Mode: int64(m.mode.Perm()), Size: int64(len(m.content)), Typeflag: tar.TypeReg}
	switch {
	case m.mode&fs.ModeSymlink != 0:
		h.Typeflag, h.Linkname = tar.TypeSymlink, m.link
	case m.mode&fs.ModeNamedPipe != 0:
		h.Typeflag = tar.TypeFifo
	case m.link != "":
		h.Typeflag, h.Linkname = tar.TypeLink, m.link
	}
	return h
}

func tarGz(t *testing.T, members ...member) []byte {
	t.Helper()
	var buffer bytes.Buffer
	zipped := gzip.NewWriter(&buffer)
	out := tar.NewWriter(zipped)
	for _, m := range members {
		if err := out.WriteHeader(m.header()); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write([]byte(m.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

func zipOf(t *testing.T, members ...member) []byte {
	t.Helper()
	var buffer bytes.Buffer
	out := zip.NewWriter(&buffer)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		h.SetMode(m.mode)
		w, err := out.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(m.content + m.link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// unpacked unpacks an archive into a new folder, below which nothing else may appear.
func unpacked(t *testing.T, archive []byte, to place) (dir string, err error) {
	t.Helper()
	above := t.TempDir()
	file, dir := filepath.Join(t.TempDir(), "archive"), filepath.Join(above, "tree")
	if err := os.WriteFile(file, archive, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	err = unpack(file, dir, to)
	entries, listErr := os.ReadDir(above)
	if listErr != nil || len(entries) != 1 {
		t.Errorf("the folder above the tree has %v (%v)", entries, listErr)
	}
	return dir, err
}

// content returns the content of a file and whether it is executable.
func content(t *testing.T, dir, name string) (text string, executable bool) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data), info.Mode()&0o111 != 0
}

func TestArchivesOfBothFormsAreUnpackedWithoutTheirFirstFolder(t *testing.T) {
	members := []member{
		{name: "./p-1/a/b.py", content: "b", mode: 0o600},
		{name: "p-1/run.sh", content: "run", mode: 0o777},
		{name: "p-1/sub/.git", content: "gitdir: elsewhere", mode: 0o644},
		{name: "p-1/.git/config", content: "[core]", mode: 0o644},
		{name: "p-1/link", link: "a/b.py", mode: fs.ModeSymlink | 0o777},
	}
	for form, archive := range map[string][]byte{"tar": tarGz(t, members...), "zip": zipOf(t, members...)} {
		dir, err := unpacked(t, archive, withoutFirstFolder)
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		if text, executable := content(t, dir, "a/b.py"); text != "b" || executable {
			t.Errorf("%s: a/b.py is %q, executable %v", form, text, executable)
		}
		if text, executable := content(t, dir, "run.sh"); text != "run" || !executable {
			t.Errorf("%s: run.sh is %q, executable %v", form, text, executable)
		}
		if target, err := os.Readlink(filepath.Join(dir, "link")); err != nil || target != "a/b.py" {
			t.Errorf("%s: the link leads to %q (%v)", form, target, err)
		}
		for _, name := range []string{".git", "sub/.git"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				t.Errorf("%s: %s was unpacked", form, name)
			}
		}
	}
}

func TestAHardLinkIsUnpacked(t *testing.T) {
	dir, err := unpacked(t, tarGz(t, member{name: "p/a", content: "a", mode: 0o644}, member{name: "p/b", link: "p/a"}), withoutFirstFolder)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := content(t, dir, "b"); text != "a" {
		t.Errorf("the link has %q", text)
	}
}

func TestHostileArchivesWriteNothingOutside(t *testing.T) {
	link := member{name: "p/out", link: "..", mode: fs.ModeSymlink | 0o777}
	for name, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"a path that goes up":        {tarGz(t, member{name: "p/../../evil", content: "x", mode: 0o644}), "outside"},
		"the same in a zip file":     {zipOf(t, member{name: "p/../../evil", content: "x", mode: 0o644}), "outside"},
		"a file through a link":      {tarGz(t, link, member{name: "p/out/evil", content: "x", mode: 0o644}), "escapes"},
		"the same in a zip file too": {zipOf(t, link, member{name: "p/out/evil", content: "x", mode: 0o644}), "escapes"},
		"a hard link to the outside": {tarGz(t, member{name: "p/evil", link: "../../etc/passwd"}), "escapes"},
		"a special file":             {tarGz(t, member{name: "p/pipe", mode: fs.ModeNamedPipe | 0o644}), "special file"},
		"something else":             {[]byte("<html>not found</html>"), "neither a zip file nor a gzipped tar file"},
		"half an archive":            {tarGz(t, member{name: "p/a", content: strings.Repeat("abc", 9999), mode: 0o644})[:60], "damaged"},
	} {
		if _, err := unpacked(t, c.archive, withoutFirstFolder); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", name, err, c.want)
		}
	}
}

func TestAnArchiveThatGrowsTooLargeIsRefused(t *testing.T) {
	u := &unpacker{bytes: maxBytes - 3}
	var err error
	if u.root, err = os.OpenRoot(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	defer u.root.Close()
	if err := u.write("a", 0o644, strings.NewReader("abc")); err != nil {
		t.Errorf("the last bytes are refused: %v", err)
	}
	if err := u.write("b", 0o644, strings.NewReader("a")); err == nil || !strings.Contains(err.Error(), "more than 1024 MiB") {
		t.Errorf("one more byte gives %v", err)
	}
	u.files = maxFiles
	if _, _, err := u.next("c"); err == nil {
		t.Error("one file more is not refused")
	}
}
