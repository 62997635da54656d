package hub

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
)

// entry is a file of a tree. A file in LFS has the hash of its bytes, another one its git object.
type entry struct {
	Type string `json:"type"` // file or directory
	Path string `json:"path"` // in the repository
	Size int64  `json:"size"`
	OID  string `json:"oid"`
	LFS  *struct {
		OID  string `json:"oid"` // SHA-256
		Size int64  `json:"size"`
	} `json:"lfs"`
}

// mostPages bounds the pages of a listing, of up to a thousand entries each, and mostEntries what is kept of them.
const (
	mostPages   = 100
	mostEntries = 1000 * mostPages
)

// nextLink matches the address of the next page in a Link header.
var nextLink = regexp.MustCompile(`<([^>]+)>\s*;\s*rel="?next"?`)

// tree lists the files below a place at a commit, by their paths in the repository.
func (c *Client) tree(ctx context.Context, p Place, commit string) (map[string]entry, error) {
	address := c.repo(p, "tree", commit)
	if p.Path != "" {
		address += "/" + url.PathEscape(p.Path)
	}
	address += "?recursive=true&expand=false"
	files := map[string]entry{}
	for range mostPages {
		var page []entry
		header, err := c.call(ctx, request{method: http.MethodGet, address: address}, &page)
		if isMissingEntry(err) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			if e.Type == "file" {
				files[e.Path] = e
			}
		}
		if len(files) > mostEntries {
			return nil, &Error{Status: http.StatusOK, Message: fmt.Sprintf("the listing has over %d files", mostEntries), where: "GET " + p.Repo}
		}
		next := nextLink.FindStringSubmatch(header.Get("Link"))
		if next == nil {
			return files, nil
		}
		if address, err = c.relative(next[1]); err != nil {
			return nil, err
		}
	}
	return nil, &Error{Status: http.StatusOK, Message: fmt.Sprintf("the listing has over %d pages", mostPages), where: "GET " + p.Repo}
}

// relative returns an address of the Hub that an answer names.
func (c *Client) relative(address string) (string, error) {
	hub, err := url.Parse(c.Endpoint)
	if err != nil {
		return "", err
	}
	u, err := hub.Parse(address)
	if err != nil || !c.own(u) {
		return "", &Error{Status: http.StatusOK, Message: "a listing goes on at another server", where: c.Endpoint}
	}
	return u.String(), nil
}

func isMissingEntry(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == "EntryNotFound"
}

// has reports whether an entry has the bytes of a file.
func (e entry) has(f File) (bool, error) {
	if e.LFS != nil {
		return e.LFS.OID == f.SHA256 && e.LFS.Size == f.Bytes, nil
	}
	if e.Size != f.Bytes {
		return false, nil
	}
	oid, err := gitObject(f)
	return err == nil && e.OID == oid, err
}

// gitObject returns the name that git gives to a file's bytes.
func gitObject(f File) (string, error) {
	file, err := os.Open(f.Local)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha1.New()
	fmt.Fprintf(hash, "blob %d\x00", f.Bytes)
	_, err = io.Copy(hash, file)
	return hex.EncodeToString(hash.Sum(nil)), err
}

// below returns the path of an entry in a place, and whether it is below the place.
func (p Place) below(path string) (string, bool) {
	if p.Path == "" {
		return path, true
	}
	return strings.CutPrefix(path, p.Path+"/")
}
