package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// kindLFS is the content type of Git LFS.
const kindLFS = "application/vnd.git-lfs+json"

// object is a file in the protocol of Git LFS.
type object struct {
	OID  string `json:"oid"` // SHA-256
	Size int64  `json:"size"`
}

// batchAnswer is what the Hub says of objects that are to be uploaded.
type batchAnswer struct {
	Objects []struct {
		object
		Actions map[string]action `json:"actions"` // none: the Hub has the object
		Error   *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	} `json:"objects"`
}

// action is a request that uploads or verifies an object. The header of an upload in parts has a chunk_size
// and, by their numbers, the addresses of the parts.
type action struct {
	Href   string            `json:"href"`
	Header map[string]string `json:"header"`
}

// upload brings a file into the LFS storage of a repository, unless it is there. sent receives the bytes
// that were sent.
func (c *Client) upload(ctx context.Context, p Place, f File, sent func(bytes int64)) error {
	actions, err := c.batch(ctx, p, f)
	if err != nil || actions == nil {
		return err
	}
	put, is := actions["upload"]
	if !is {
		return &Error{Status: http.StatusOK, Message: "it neither has the object nor says how to upload it", where: f.Name}
	}
	if err := c.allowed(put.Href); err != nil {
		return err
	}
	if put.Header["chunk_size"] != "" {
		err = c.putParts(ctx, f, put, sent)
	} else {
		err = c.putWhole(ctx, f, put, sent)
	}
	if err != nil {
		return err
	}
	verify, is := actions["verify"]
	if !is {
		return nil
	}
	if err := c.allowed(verify.Href); err != nil {
		return err
	}
	body, err := jsonBody(object{f.SHA256, f.Bytes})
	if err != nil {
		return err
	}
	_, err = c.call(ctx, request{method: http.MethodPost, address: verify.Href, header: verify.Header}.with(kindLFS, body), nil)
	return err
}

// batch asks what to do to upload a file; nil: nothing, the Hub has its bytes.
func (c *Client) batch(ctx context.Context, p Place, f File) (map[string]action, error) {
	body, err := jsonBody(map[string]any{
		"operation": "upload", "transfers": []string{"basic", "multipart"}, "hash_algo": "sha256",
		"objects": []object{{f.SHA256, f.Bytes}}, "ref": map[string]string{"name": p.Revision},
	})
	if err != nil {
		return nil, err
	}
	r := request{method: http.MethodPost, address: c.Endpoint + "/datasets/" + p.Repo + ".git/info/lfs/objects/batch", header: map[string]string{"Accept": kindLFS}}
	var answer batchAnswer
	if _, err := c.call(ctx, r.with(kindLFS, body), &answer); err != nil {
		return nil, err
	}
	for _, o := range answer.Objects {
		switch {
		case o.OID != f.SHA256:
		case o.Error != nil:
			return nil, &Error{Status: o.Error.Code, Message: c.plain(o.Error.Message), where: "upload of " + f.Name, token: c.Token != ""}
		default:
			return o.Actions, nil
		}
	}
	return nil, &Error{Status: http.StatusOK, Message: "its answer does not have the object that was asked for", where: f.Name}
}

// allowed refuses an address without encryption that a Hub with encryption names.
func (c *Client) allowed(href string) error {
	u, err := url.Parse(href)
	if err == nil && (u.Scheme == "https" || u.Scheme == "http" && strings.HasPrefix(c.Endpoint, "http://")) {
		return nil
	}
	return &Error{Status: http.StatusOK, Message: "it gave an address that is not encrypted", where: c.Endpoint}
}

// putWhole uploads a file by one request.
func (c *Client) putWhole(ctx context.Context, f File, a action, sent func(int64)) error {
	r := request{method: http.MethodPut, address: a.Href, header: a.Header, body: f.section(0, f.Bytes), size: f.Bytes, anonymous: true}
	if _, err := c.call(ctx, r, nil); err != nil {
		return err
	}
	sent(f.Bytes)
	return nil
}

// putParts uploads a file in parts, and tells the Hub when it has them all.
func (c *Client) putParts(ctx context.Context, f File, a action, sent func(int64)) error {
	chunk, addresses, err := a.parts(f)
	if err != nil {
		return err
	}
	type part struct {
		Number int    `json:"partNumber"`
		Etag   string `json:"etag"`
	}
	done := struct {
		OID   string `json:"oid"`
		Parts []part `json:"parts"`
	}{OID: f.SHA256}
	for i, address := range addresses {
		from := int64(i) * chunk
		size := min(chunk, f.Bytes-from)
		if err := c.allowed(address); err != nil {
			return err
		}
		header, err := c.call(ctx, request{method: http.MethodPut, address: address, body: f.section(from, size), size: size, anonymous: true}, nil)
		if err != nil {
			return err
		}
		if header.Get("ETag") == "" {
			return &Error{Status: http.StatusOK, Message: fmt.Sprintf("part %d was answered without an ETag", i+1), where: f.Name}
		}
		done.Parts = append(done.Parts, part{i + 1, header.Get("ETag")})
		sent(size)
	}
	body, err := jsonBody(done)
	if err != nil {
		return err
	}
	_, err = c.call(ctx, request{method: http.MethodPost, address: a.Href, header: map[string]string{"Accept": kindLFS}}.with(kindLFS, body), nil)
	return err
}

// parts returns the size of a part and the addresses of all, in order.
func (a action) parts(f File) (chunk int64, addresses []string, err error) {
	chunk, err = strconv.ParseInt(a.Header["chunk_size"], 10, 64)
	numbered := map[int]string{}
	for name, value := range a.Header {
		if number, err := strconv.Atoi(name); err == nil {
			numbered[number] = value
		}
	}
	if err != nil || chunk <= 0 || int64(len(numbered)) != (f.Bytes+chunk-1)/chunk {
		return 0, nil, &Error{Status: http.StatusOK, Message: "its addresses do not fit the size of the file", where: f.Name, cause: err}
	}
	for _, number := range slices.Sorted(maps.Keys(numbered)) {
		addresses = append(addresses, numbered[number])
	}
	return chunk, addresses, nil
}

// section opens a part of a file.
func (f File) section(from, size int64) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		file, err := os.Open(f.Local)
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{io.NewSectionReader(file, from, size), file}, nil
	}
}

// UnmarshalJSON implements json.Unmarshaler. The Hub writes chunk_size as text or as a number.
func (a *action) UnmarshalJSON(raw []byte) error {
	var fields struct {
		Href   string                     `json:"href"`
		Header map[string]json.RawMessage `json:"header"`
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	a.Href, a.Header = fields.Href, map[string]string{}
	for name, value := range fields.Header {
		text := string(value)
		if err := json.Unmarshal(value, &text); err != nil {
			text = string(value)
		}
		a.Header[name] = text
	}
	return nil
}
