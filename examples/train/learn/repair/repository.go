package repair

import (
	"archive/tar"
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git names objects so
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"time"
)

// when is the time of every file and commit. The index is newer, so that git trusts it.
var when = time.Unix(1_700_000_000, 0)

const indexAge = 10 * time.Second

// configuration lets git compare files with the index by size and time in seconds alone: the other
// properties of a file change when an image is made.
const configuration = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	trustctime = false
	checkStat = minimal
`

// repository is a git repository of one commit: its files by path, the working tree and .git.
type repository struct {
	files  map[string][]byte
	commit string // hex
}

// repository makes the task's repository, as `git add` and `git commit` would.
func (t Task) repository() repository {
	r := repository{files: map[string][]byte{}}
	content := map[string]string{"check.py": t.CheckProgram()}
	maps.Copy(content, t.Files)
	var tree, entries bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(content)) {
		r.files[name] = []byte(content[name])
		id := r.object("blob", r.files[name])
		fmt.Fprintf(&tree, "100644 %s\x00%s", name, id[:])
		writeIndexEntry(&entries, name, len(content[name]), id)
	}
	id := r.object("tree", tree.Bytes())
	const author = "Repair <repair@example.invalid>"
	commit := fmt.Sprintf("tree %x\nauthor %s %d +0000\ncommitter %s %d +0000\n\nbase\n", id, author, when.Unix(), author, when.Unix())
	id = r.object("commit", []byte(commit))
	r.commit = hex.EncodeToString(id[:])
	r.files[".git/HEAD"] = []byte("ref: refs/heads/main\n")
	r.files[".git/config"] = []byte(configuration)
	r.files[".git/refs/heads/main"] = []byte(r.commit + "\n")
	r.files[".git/index"] = index(len(content), entries.Bytes())
	return r
}

// object adds a loose object and returns its id.
func (r repository) object(kind string, content []byte) [sha1.Size]byte {
	whole := append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...)
	id := sha1.Sum(whole)
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(whole) // a buffer takes everything
	_ = z.Close()
	name := hex.EncodeToString(id[:])
	r.files[".git/objects/"+name[:2]+"/"+name[2:]] = packed.Bytes()
	return id
}

// writeIndexEntry writes an entry of git's index, version 2. Names are shorter than the format's limit.
func writeIndexEntry(b *bytes.Buffer, name string, size int, id [sha1.Size]byte) {
	seconds := uint32(when.Unix())
	const mode, none = 0o100644, 0
	for _, field := range []uint32{seconds, none, seconds, none, none, none, mode, none, none, uint32(size)} {
		_ = binary.Write(b, binary.BigEndian, field)
	}
	b.Write(id[:])
	_ = binary.Write(b, binary.BigEndian, uint16(len(name)))
	b.WriteString(name)
	const fixed = 62 // bytes before the name
	b.Write(make([]byte, 8-(fixed+len(name))%8))
}

// index is git's index with entries, version 2.
func index(n int, entries []byte) []byte {
	b := []byte("DIRC")
	b = binary.BigEndian.AppendUint32(b, 2)
	b = binary.BigEndian.AppendUint32(b, uint32(n))
	b = append(b, entries...)
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

// WriteArchive writes a tar archive with the repositories of tasks below Folder, owned by root. The
// same tasks give the same bytes.
func WriteArchive(w io.Writer, tasks []Task) error {
	out := tar.NewWriter(w)
	for _, t := range tasks {
		r := t.repository()
		made := map[string]bool{}
		for _, name := range slices.Sorted(maps.Keys(r.files)) {
			if err := writeFolders(out, path.Join(Folder, t.ID), path.Dir(name), made); err != nil {
				return err
			}
			at := when
			if name == ".git/index" {
				at = at.Add(indexAge)
			}
			h := &tar.Header{Name: path.Join(Folder, t.ID, name)[1:], Mode: 0o644, Size: int64(len(r.files[name])), ModTime: at}
			if err := out.WriteHeader(h); err != nil {
				return err
			}
			if _, err := out.Write(r.files[name]); err != nil {
				return err
			}
		}
	}
	return out.Close()
}

// writeFolders writes the folders of a file below root that the archive does not have yet.
func writeFolders(out *tar.Writer, root, dir string, made map[string]bool) error {
	if made[dir] {
		return nil
	}
	made[dir] = true
	if dir != "." {
		if err := writeFolders(out, root, path.Dir(dir), made); err != nil {
			return err
		}
	}
	return out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path.Join(root, dir)[1:] + "/", Mode: 0o755, ModTime: when})
}
