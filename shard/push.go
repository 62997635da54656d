package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"time"

	"relabel"
	"relabel/shard/hub"
	"relabel/shard/verify"
)

// pushPatience is the longest time that one request of a command waits for a busy Hub: its limits begin anew
// every five minutes.
const pushPatience = 6 * time.Minute

// Push is a push of a finished export.
type Push struct {
	Dir         string   // folder of the export
	Destination string   // a place on the Hub
	Allow       []string // rules of secrets that the export may have
	Agent       string   // name and version of this program
	// Begin is called with the bytes of all files before the first one is sent, and its error ends the push; may be nil.
	Begin func(ctx context.Context, bytes int64) error
	// Sent receives the bytes of the export that were uploaded, of all bytes; may be nil. Calls may be concurrent.
	Sent func(bytes, of int64)
	// Patience is the longest time that one request waits for a busy Hub; 0: that of a command.
	Patience time.Duration
}

// Push pushes the export in a folder to the Hugging Face Hub in one commit, and returns its place at the commit. It
// may be repeated after any failure: what is there is not sent again. CodeInvalid if the folder or the destination
// cannot be used, CodeConflict if a file is not as its manifest says or the place has files of others with the same names.
func (d Destinations) Push(ctx context.Context, p Push) (pushed string, err error) {
	place, err := hub.ParsePlace(p.Destination)
	if err != nil {
		return "", err
	}
	m, err := verify.ReadManifest(p.Dir)
	if err != nil {
		return "", err
	}
	if err := errors.Join(checkAllowed(p.Allow), checkSecrets(m.Secrets, true, p.Allow)); err != nil {
		return "", err
	}
	files, err := exportedFiles(p.Dir)
	var missing *fs.PathError
	if errors.As(err, &missing) && errors.Is(err, fs.ErrNotExist) {
		return "", relabel.Errorf(relabel.CodeConflict, "the export has no file %s, which manifest.json lists: copy the whole folder, or export it again", filepath.Base(missing.Path)).Because(err)
	}
	if err != nil {
		return "", err
	}
	total := int64(0)
	for _, f := range files {
		total += f.Bytes
		if err := asListed(m, f); err != nil {
			return "", err
		}
	}
	client, err := d.Hub(p.Agent, cmp.Or(p.Patience, pushPatience))
	if err != nil {
		return "", err
	}
	if p.Begin != nil {
		if err := p.Begin(ctx, total); err != nil {
			return "", err
		}
	}
	if err := client.Check(ctx, place); err != nil {
		return "", refusedAtOnce(hubFault(place, err))
	}
	commit, err := client.Push(ctx, place, files, fmt.Sprintf("Add %d labelled states of run %s", m.States, m.Run), func(bytes int64) {
		if p.Sent != nil {
			p.Sent(bytes, total)
		}
	})
	if err != nil {
		return "", hubFault(place, err)
	}
	return place.At(commit).String(), nil
}

// asListed refuses a file of a view that is not as the manifest says.
func asListed(m relabel.Manifest, f hub.File) error {
	for _, listed := range m.Files {
		if listed.Path == f.Name && (listed.SHA256 != f.SHA256 || listed.Bytes != f.Bytes) {
			return relabel.Errorf(relabel.CodeConflict, "%s has other bytes than manifest.json says: `relabel export verify` shows what is wrong", f.Name)
		}
	}
	return nil
}

// Fetch brings the export at a place on the Hub, at the commit that its revision is now, into a folder below cache, and
// returns the folder and the place at the commit. only chooses files by their names in the export; nil: all. What is there is not
// fetched again.
func (d Destinations) Fetch(ctx context.Context, agent, raw, cache string, only func(name string) bool) (dir, at string, err error) {
	place, err := hub.ParsePlace(raw)
	if err != nil {
		return "", "", err
	}
	client, err := d.Hub(agent, pushPatience)
	if err != nil {
		return "", "", err
	}
	commit, err := client.Commit(ctx, place)
	if err != nil {
		return "", "", hubFault(place, err)
	}
	place = place.At(commit)
	// A folder for each place: those of a repository's folders must not be in that of its root.
	dir = filepath.Join(cache, filepath.FromSlash(place.Repo), commit, "export-"+url.PathEscape(place.Path))
	err = client.FetchExport(ctx, place, dir, only)
	return dir, place.String(), hubFault(place, err)
}
