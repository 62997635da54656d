// Package hub writes exports to data set repositories of the Hugging Face Hub, and reads them, by
// the Hub's own protocol: its REST interface for repositories, trees and commits, and Git LFS for
// large files. The Hub takes uploads by LFS of all clients, also where a repository keeps its files
// in Xet storage.
package hub

import (
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"

	"relabel"
)

// Scheme is the scheme of URLs that name a place on the Hub.
const Scheme = "hf"

// DefaultRevision is the branch of a place that names none.
const DefaultRevision = "main"

// Place is a folder of a data set repository at a revision.
type Place struct {
	Repo     string // organisation/name
	Revision string // a branch, a tag, a reference such as refs/pr/1, or the hash of a commit
	Path     string // the folder in the repository; "": its root
	Public   bool   // whether a repository that does not exist is created public instead of private
}

// Patterns of the parts of a URL.
var (
	partForm     = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?$`)
	revisionForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$`)
	commitForm   = regexp.MustCompile(`^[0-9a-f]{40}$`)
	referencePR  = regexp.MustCompile(`^(refs/pr/[0-9]+)(?:/(.*))?$`)
)

// IsPlace reports whether a text is meant as the URL of a place on the Hub.
func IsPlace(raw string) bool { return strings.HasPrefix(raw, Scheme+"://") }

// bad returns a CodeInvalid error for the field destination.
func bad(format string, args ...any) error {
	return relabel.Errorf(relabel.CodeInvalid, format, args...).On("destination")
}

// ParsePlace parses hf://organisation/name, hf://organisation/name@revision and either followed by
// the path of a folder. As in the Hub's own tools, datasets/ may stand before the organisation, and a
// revision has its slashes escaped (%2F), except refs/pr/N. The option private=false asks for a public
// repository if there is none yet. Errors are CodeInvalid on the field destination.
func ParsePlace(raw string) (p Place, err error) {
	const example = "must be a data set of the Hugging Face Hub, such as hf://organisation/name, hf://organisation/name@branch or hf://organisation/name@branch/folder"
	rest, query, _ := strings.Cut(strings.TrimPrefix(raw, Scheme+"://"), "?")
	if !IsPlace(raw) || strings.Contains(rest, "#") {
		return p, bad(example)
	}
	if p.Public, err = parseOptions(query); err != nil {
		return p, err
	}
	parts := strings.SplitN(strings.TrimPrefix(strings.Trim(rest, "/"), "datasets/"), "/", 3)
	if len(parts) < 2 {
		return p, bad(example)
	}
	name, revision, _ := strings.Cut(parts[1], "@")
	if !partForm.MatchString(parts[0]) || !partForm.MatchString(name) || strings.Contains(name, "--") || strings.Contains(name, "..") || strings.HasSuffix(name, ".git") {
		return p, bad("%.200q is not the name of a repository: organisation/name, of letters, digits, hyphens, dots and underscores", parts[0]+"/"+name)
	}
	p.Repo, p.Revision = parts[0]+"/"+name, DefaultRevision
	if len(parts) == 3 {
		p.Path = parts[2]
	}
	if strings.Contains(parts[1], "@") {
		if p.Revision, p.Path, err = parseRevision(revision, p.Path); err != nil {
			return p, err
		}
	}
	if p.Path != "" && !fs.ValidPath(p.Path) {
		return p, bad("names a folder with empty, \".\" or \"..\" segments")
	}
	return p, nil
}

// parseRevision returns a revision, of which refs/pr/N has taken what follows it for a path.
func parseRevision(revision, folder string) (string, string, error) {
	if found := referencePR.FindStringSubmatch(revision + "/" + folder); found != nil {
		return found[1], found[2], nil
	}
	plain, err := url.PathUnescape(revision)
	if err != nil || !revisionForm.MatchString(plain) || strings.Contains(plain, "..") {
		return "", "", bad("has the invalid revision %.100q: a branch, a tag or the hash of a commit is meant", revision)
	}
	return plain, folder, nil
}

func parseOptions(query string) (public bool, err error) {
	options, err := url.ParseQuery(query)
	if err != nil {
		return false, bad("has options that cannot be read")
	}
	for name, values := range options {
		switch {
		case name != "private":
			return false, bad("has the unknown option %.100q; %s supports private", name, Scheme)
		case len(values) > 1 || values[0] != "true" && values[0] != "false":
			return false, bad("has the option private, which must be true or false")
		}
		public = values[0] == "false"
	}
	return public, nil
}

// IsCommit reports whether the revision is the hash of a commit, which never changes.
func (p Place) IsCommit() bool { return commitForm.MatchString(p.Revision) }

// CheckWritable returns CodeInvalid if nothing can be written at the revision.
func (p Place) CheckWritable() error {
	if p.IsCommit() {
		return bad("names the commit %s, which never changes: name a branch", p.Revision)
	}
	return nil
}

// At returns the place at another revision.
func (p Place) At(revision string) Place {
	return Place{Repo: p.Repo, Revision: revision, Path: p.Path}
}

// String returns the URL of the place.
func (p Place) String() string {
	at := Scheme + "://" + p.Repo
	if p.Revision != DefaultRevision {
		at += "@" + p.revision()
	}
	if p.Path != "" {
		at += "/" + p.Path
	}
	return at
}

// revision returns the revision with its slashes escaped.
func (p Place) revision() string {
	if referencePR.MatchString(p.Revision + "/") {
		return p.Revision
	}
	return url.PathEscape(p.Revision)
}

// file returns the path in the repository of a file of the place.
func (p Place) file(name string) string { return path.Join(p.Path, name) }
