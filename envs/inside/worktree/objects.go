package worktree

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's own names of objects
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"relabel/envs/inside/process"
)

// errForged means that an object's content does not match its name, which git does not check when it
// reads one.
var errForged = errors.New("an object of the repository does not match its name")

// TreeOf returns the tree of a commit, after verifying the commit and all folders of the tree.
func (r *Repository) TreeOf(ctx context.Context, processes *process.Table, commit string) (string, error) {
	resolved, err := r.Git(ctx, processes, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{commit}")
	if err != nil {
		return "", err
	}
	commit = strings.TrimSpace(string(resolved))
	tree := ""
	err = r.ReadObjects(ctx, processes, []string{commit}, func(content []byte) {
		if line, _, ok := bytes.Cut(content, []byte("\n")); ok {
			tree = string(bytes.TrimPrefix(line, []byte("tree ")))
		}
	})
	if err != nil {
		return "", err
	}
	listed, err := r.Git(ctx, processes, nil, "ls-tree", "-r", "-d", "-z", tree)
	if err != nil {
		return "", err
	}
	folders := []string{tree}
	for entry := range bytes.SplitSeq(listed, []byte{0}) {
		meta, _, _ := bytes.Cut(entry, []byte("\t"))
		if fields := strings.Fields(string(meta)); len(fields) == 3 && fields[1] == "tree" {
			folders = append(folders, fields[2])
		}
	}
	return tree, r.ReadObjects(ctx, processes, folders, nil)
}

// ReadObjects reads objects and verifies each against its name. small, if set, receives the content of
// each object of at most a megabyte.
func (r *Repository) ReadObjects(ctx context.Context, processes *process.Table, names []string, small func(content []byte)) error {
	if len(names) == 0 {
		return nil
	}
	req := r.request("index", []byte(strings.Join(names, "\n")+"\n"), []string{"cat-file", "--batch"})
	out, says, status, err := processes.OutputFiles(ctx, req)
	if err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	defer out.Close()
	defer says.Close()
	if status.ExitStatus() != 0 {
		return fmt.Errorf("%w: git cat-file: exit %d", ErrNoRepository, process.ExitCode(status))
	}
	stream := bufio.NewReaderSize(out, 256<<10)
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for _, name := range names {
		if err := checkObject(stream, name, small); err != nil {
			return err
		}
	}
	return nil
}

// smallObject is the largest object that is kept in memory, in bytes.
const smallObject = 1 << 20

// checkObject reads "name kind size", the content and a newline.
func checkObject(stream *bufio.Reader, name string, small func([]byte)) error {
	head, err := stream.ReadString('\n')
	if err != nil {
		return fmt.Errorf("%w: git cat-file: %w", ErrNoRepository, err)
	}
	fields := strings.Fields(head)
	if len(fields) != 3 {
		return fmt.Errorf("%w: object %s: %s", ErrNoRepository, name, strings.TrimSpace(head))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return fmt.Errorf("%w: object %s: %w", ErrNoRepository, name, err)
	}
	sum := newHash(name)
	fmt.Fprintf(sum, "%s %d\x00", fields[1], size)
	var content bytes.Buffer
	var into io.Writer = sum
	if small != nil && size <= smallObject {
		into = io.MultiWriter(sum, &content)
	}
	if _, err := io.CopyN(into, stream, size); err != nil {
		return fmt.Errorf("object %s: %w", name, err)
	}
	if _, err := stream.Discard(1); err != nil {
		return fmt.Errorf("object %s: %w", name, err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != name {
		return fmt.Errorf("%w: %w: %s", ErrNoRepository, errForged, name)
	}
	if small != nil {
		small(content.Bytes())
	}
	return nil
}

// newHash returns the hash function of an object's name.
func newHash(name string) hash.Hash {
	if len(name) == 2*sha256.Size {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // git's own names of objects
}
