package hub

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
)

// mostPaths bounds the files of one request that asks how files are uploaded.
const mostPaths = 256

// sampleBytes is the length of a file's beginning by which the Hub tells text from other bytes.
const sampleBytes = 512

// uploadMode is how a file is brought to the Hub.
type uploadMode string

// The modes.
const (
	modeRegular uploadMode = "regular" // within the commit
	modeLFS     uploadMode = "lfs"     // in LFS storage, before the commit
)

// preupload is what the Hub is asked and says about a file.
type preupload struct {
	Path   string     `json:"path"`
	Sample string     `json:"sample,omitempty"` // in base64
	Size   int64      `json:"size,omitempty"`
	Mode   uploadMode `json:"uploadMode,omitempty"`
	Ignore bool       `json:"shouldIgnore,omitempty"` // a .gitignore of the repository has it
}

// modes asks how files are brought to the Hub, by their names.
func (c *Client) modes(ctx context.Context, p Place, files []File) (map[string]uploadMode, error) {
	modes := map[string]uploadMode{}
	for len(files) > 0 {
		now := files[:min(len(files), mostPaths)]
		files = files[len(now):]
		asked := struct {
			Files []preupload `json:"files"`
		}{}
		for _, f := range now {
			sample, err := f.sample()
			if err != nil {
				return nil, err
			}
			asked.Files = append(asked.Files, preupload{Path: p.file(f.Name), Sample: sample, Size: f.Bytes})
		}
		told := asked
		told.Files = nil
		if err := c.post(ctx, c.repo(p, "preupload", url.PathEscape(p.Revision)), asked, &told); err != nil {
			return nil, err
		}
		for _, f := range told.Files {
			if f.Ignore {
				return nil, bad("has a .gitignore that excludes %.200q: remove the line, or name another folder", f.Path)
			}
			modes[f.Path] = f.Mode
		}
	}
	return modes, nil
}

// sample returns the beginning of a file in base64.
func (f File) sample() (string, error) {
	file, err := os.Open(f.Local)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, sampleBytes))
	return base64.StdEncoding.EncodeToString(text), err
}

// cardName is the file whose header the Hub reads, at the root of a repository.
const cardName = "README.md"

// validateCard returns CodeInvalid if the Hub would refuse the header of the README.md among files. A Hub that cannot
// tell is not asked again: the commit will.
func (c *Client) validateCard(ctx context.Context, p Place, files []File) error {
	for _, f := range files {
		if p.file(f.Name) != cardName {
			continue
		}
		text, err := os.ReadFile(f.Local)
		if err != nil {
			return err
		}
		err = c.post(ctx, c.api("validate-yaml"), map[string]string{"content": string(text), "repoType": "dataset"}, nil)
		var e *Error
		if errors.As(err, &e) && e.Status == http.StatusBadRequest {
			return bad("the Hub refuses the header of README.md: %s", e.Message)
		}
		if statusOf(err) != http.StatusNotFound {
			return err
		}
	}
	return nil
}

// change is a line of a commit.
type change struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// commit adds files and deletes others (paths in the repository) in one commit on top of parent, whose hash
// it returns.
func (c *Client) commit(ctx context.Context, p Place, parent, summary string, add []addition, remove []string) (string, error) {
	lines := []change{{"header", map[string]string{"summary": summary, "description": "", "parentCommit": parent}}}
	for _, path := range remove {
		lines = append(lines, change{"deletedFile", map[string]string{"path": path}})
	}
	for _, a := range add {
		line, err := a.line(p)
		if err != nil {
			return "", err
		}
		lines = append(lines, line)
	}
	var body bytes.Buffer
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			return "", err
		}
		body.Write(append(text, '\n'))
	}
	var made struct {
		OID string `json:"commitOid"`
	}
	r := request{method: http.MethodPost, address: c.repo(p, "commit", url.PathEscape(p.Revision))}.with("application/x-ndjson", body.Bytes())
	err := c.once(ctx, r, &made)
	if err == nil && !commitForm.MatchString(made.OID) {
		err = &Error{Status: http.StatusOK, Message: "its answer to the commit has no hash", where: p.Repo}
	}
	return made.OID, err
}

// once is call without a second attempt: a commit whose answer was lost may have been made.
func (c *Client) once(ctx context.Context, r request, v any) error {
	only := *c
	only.attempts = 1
	_, err := only.call(ctx, r, v)
	return err
}

// addition is a file that a commit adds.
type addition struct {
	File
	mode uploadMode
}

// line returns the line of a commit that adds the file.
func (a addition) line(p Place) (change, error) {
	if a.mode == modeLFS {
		return change{"lfsFile", map[string]any{"path": p.file(a.Name), "algo": "sha256", "oid": a.SHA256, "size": a.Bytes}}, nil
	}
	text, err := os.ReadFile(a.Local)
	return change{"file", map[string]string{"path": p.file(a.Name), "encoding": "base64", "content": base64.StdEncoding.EncodeToString(text)}}, err
}
