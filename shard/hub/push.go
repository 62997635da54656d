package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"relabel"
)

// manifestName is the file that makes a folder an export.
const manifestName = "manifest.json"

// Limits of a push.
const (
	parallel    = 4 // files that are uploaded at a time
	mostCommits = 5 // attempts at the commit, which another one may have forestalled
)

// File is a file of an export on this machine.
type File struct {
	Name   string // path in the export
	Local  string // path on this machine
	SHA256 string // in hex
	Bytes  int64
}

// Describe returns a file of a folder with its hash.
func Describe(dir, name string) (f File, err error) {
	f = File{Name: name, Local: filepath.Join(dir, filepath.FromSlash(name))}
	file, err := os.Open(f.Local)
	if err != nil {
		return f, err
	}
	defer file.Close()
	hash := sha256.New()
	f.Bytes, err = io.Copy(hash, file)
	f.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return f, err
}

// Check tests whether an export can be pushed to a place, and creates the repository and the branch if there
// are none. It commits nothing. CodeConflict if the place has files that are no export's with names of an export's files.
func (c *Client) Check(ctx context.Context, p Place) error {
	if err := p.CheckWritable(); err != nil {
		return err
	}
	base, err := c.ensure(ctx, p)
	if err != nil {
		return err
	}
	asked := map[string]any{"files": []preupload{{Path: p.file(manifestName), Sample: "e30=", Size: 2}}}
	if err := c.post(ctx, c.repo(p, "preupload", url.PathEscape(p.Revision)), asked, nil); err != nil {
		return err
	}
	there, err := c.tree(ctx, p, base.SHA)
	if err != nil {
		return err
	}
	earlier, err := c.earlier(ctx, p.At(base.SHA), there)
	for _, name := range always {
		if _, is := there[p.file(name)]; is && err == nil && earlier == nil {
			err = taken(p, name)
		}
	}
	return err
}

// always are the files that every export has.
var always = []string{manifestName, "README.md", "excluded.jsonl"}

// taken is the error for a file of somebody else where the export has one.
func taken(p Place, name string) error {
	return relabel.Errorf(relabel.CodeConflict, "%s has a file %s that is no export's: name another branch or folder, or remove the file", p, p.file(name)).On("destination")
}

// Push writes the files of an export, among them its manifest.json, to a place in one commit, and returns
// the commit's hash. Files of the export that the place has now are replaced, files that are no export's stay; if
// one of these has the name of a file of the export, the error is CodeConflict. It may be repeated after any failure: what
// the Hub has is not sent again, and there is no second commit with the same files. sent receives the bytes that
// are done, of those of all files.
func (c *Client) Push(ctx context.Context, p Place, files []File, summary string, sent func(bytes int64)) (commit string, err error) {
	if err := p.CheckWritable(); err != nil {
		return "", err
	}
	uploaded := map[string]bool{} // by hash
	for range mostCommits {
		base, err := c.ensure(ctx, p)
		if err != nil {
			return "", err
		}
		d, err := c.compare(ctx, p, base.SHA, files)
		if err != nil || d.same() {
			return base.SHA, err
		}
		if err := c.validateCard(ctx, p, d.add); err != nil {
			return "", err
		}
		add, err := c.bring(ctx, p, d.add, uploaded, sent)
		if err != nil {
			return "", err
		}
		commit, err := c.commit(ctx, p, base.SHA, summary, add, d.remove)
		if err == nil {
			return commit, c.confirm(ctx, p, commit, files)
		}
		if !c.unclear(err) {
			return "", err
		}
		if err := sleep(ctx, max(c.firstPause(), retryAfter(err))); err != nil {
			return "", err
		}
	}
	return "", &Error{Message: "other commits were faster at every attempt, or its answers were lost", where: "commit to " + p.Repo}
}

// unclear reports whether a failed commit is to be retried after a look at the branch: another one was faster, or
// the commit may have been made.
func (c *Client) unclear(err error) bool {
	status := statusOf(err)
	return status == http.StatusConflict || status == http.StatusPreconditionFailed ||
		passes(err) && retryAfter(err) <= max(c.Patience, c.firstPause())
}

// difference is what a commit must change.
type difference struct {
	add    []File
	remove []string // paths in the repository
}

func (d difference) same() bool { return len(d.add)+len(d.remove) == 0 }

// compare compares an export with the place at a commit.
func (c *Client) compare(ctx context.Context, p Place, commit string, files []File) (d difference, err error) {
	there, err := c.tree(ctx, p, commit)
	if err != nil {
		return d, err
	}
	earlier, err := c.earlier(ctx, p.At(commit), there)
	if err != nil {
		return d, err
	}
	wanted := map[string]bool{}
	for _, f := range files {
		path := p.file(f.Name)
		wanted[path] = true
		e, is := there[path]
		if is {
			same, err := e.has(f)
			if err != nil {
				return d, err
			}
			if same {
				continue
			}
			if !slices.Contains(earlier, f.Name) {
				return d, taken(p, f.Name)
			}
		}
		d.add = append(d.add, f)
	}
	for _, name := range earlier {
		path := p.file(name)
		if _, is := there[path]; is && !wanted[path] {
			d.remove = append(d.remove, path)
		}
	}
	slices.Sort(d.remove)
	return d, nil
}

// earlier lists the files of the export that a place has at a commit; nil: it has none.
func (c *Client) earlier(ctx context.Context, p Place, there map[string]entry) ([]string, error) {
	if _, is := there[p.file(manifestName)]; !is {
		return nil, nil
	}
	text, err := c.read(ctx, p, manifestName)
	if err != nil {
		return nil, err
	}
	files, err := FilesOf(text)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeConflict, "%s has a %s that is no export's: name another branch or folder", p, manifestName).On("destination").Because(err)
	}
	return files, nil
}

// FilesOf lists the files of the export that a manifest describes, with those that every export has.
func FilesOf(manifest []byte) ([]string, error) {
	type listed struct {
		Path string `json:"path"`
	}
	var m struct {
		SchemaVersion int      `json:"schema_version"`
		Files         []listed `json:"files"`
		For           struct {
			Files []listed `json:"files"`
		} `json:"for"`
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		return nil, err
	}
	if m.SchemaVersion == 0 || len(m.Files) == 0 {
		return nil, errors.New("it has no schema_version or no files")
	}
	names := append(slices.Clone(always), relabel.EarlierExcludedName)
	for _, f := range append(m.Files, m.For.Files...) {
		if !filepath.IsLocal(f.Path) || strings.Contains(f.Path, `\`) {
			return nil, errors.New("it has a path outside of the export")
		}
		if !slices.Contains(names, f.Path) {
			names = append(names, f.Path)
		}
	}
	return names, nil
}

// bring brings files to the Hub, except those of earlier calls, and returns them for the commit: small ones of text are
// part of that.
func (c *Client) bring(ctx context.Context, p Place, files []File, uploaded map[string]bool, sent func(int64)) ([]addition, error) {
	modes, err := c.modes(ctx, p, files)
	if err != nil {
		return nil, err
	}
	var add []addition
	work, working := errgroup.WithContext(ctx)
	work.SetLimit(parallel)
	for _, f := range files {
		a := addition{f, modes[p.file(f.Name)]}
		switch {
		case f.Bytes == 0:
			a.mode = modeRegular // LFS has no empty objects
		case a.mode == modeLFS && !uploaded[f.SHA256]:
			uploaded[f.SHA256] = true
			work.Go(func() error {
				if err := f.unchanged(); err != nil {
					return err
				}
				return c.upload(working, p, f, sent)
			})
		case a.mode != modeLFS && a.mode != modeRegular:
			return nil, errors.Join(&Error{Status: http.StatusOK, Message: "it does not say how " + f.Name + " is uploaded", where: p.Repo}, work.Wait())
		}
		add = append(add, a)
	}
	return add, work.Wait()
}

// unchanged refuses a file whose bytes are not those that the export has.
func (f File) unchanged() error {
	now, err := Describe(filepath.Dir(f.Local), filepath.Base(f.Local))
	if err == nil && (now.SHA256 != f.SHA256 || now.Bytes != f.Bytes) {
		return relabel.Errorf(relabel.CodeConflict, "%s is not the file that the manifest describes: it has other bytes", f.Name)
	}
	return err
}

// confirm compares what the Hub has at a commit with the files.
func (c *Client) confirm(ctx context.Context, p Place, commit string, files []File) error {
	there, err := c.tree(ctx, p, commit)
	if err != nil {
		return err
	}
	for _, f := range files {
		e, is := there[p.file(f.Name)]
		same, err := e.has(f)
		if err != nil {
			return err
		}
		if !is || !same {
			return &Error{Status: http.StatusOK, Message: "it says that it made commit " + commit + ", but there " + f.Name + " has other bytes than were sent", where: p.Repo}
		}
	}
	return nil
}
