package client

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"relabel"
	"relabel/modelfiles"
)

// Tokenizers lists all versions of all registered tokenizers, newest first.
func (c *Client) Tokenizers(ctx context.Context) ([]relabel.Tokenizer, error) {
	return list[relabel.Tokenizer](ctx, c, at("tokenizers"), nil)
}

// Tokenizer returns a registered tokenizer by its name, name@version or hash.
func (c *Client) Tokenizer(ctx context.Context, word string) (relabel.Tokenizer, error) {
	return get[relabel.Tokenizer](ctx, c, at("tokenizers", word))
}

// DeleteTokenizer forgets a name with all its versions.
func (c *Client) DeleteTokenizer(ctx context.Context, name string) error {
	return c.Send(ctx, http.MethodDelete, at("tokenizers", name), nil, nil)
}

// AddTokenizer registers files as the next version of a name.
func (c *Client) AddTokenizer(ctx context.Context, name string, files relabel.TokenizerFiles) (t relabel.Tokenizer, err error) {
	var body bytes.Buffer
	archive := tar.NewWriter(&body)
	for _, f := range files.List() {
		header := &tar.Header{Name: f.Name, Mode: 0o644, Size: f.Bytes, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return t, err
		}
		if _, err := archive.Write(files[f.Name]); err != nil {
			return t, err
		}
	}
	if err := archive.Close(); err != nil {
		return t, err
	}
	return post[relabel.Tokenizer](ctx, c, under(at("tokenizers"), url.Values{"name": {name}}), file{"application/x-tar", &body, int64(body.Len())})
}

// TokenizerFiles fetches the files of a registered tokenizer, named as Tokenizer names it.
func (c *Client) TokenizerFiles(ctx context.Context, word string) (relabel.TokenizerFiles, error) {
	res, err := c.open(ctx, http.MethodGet, at("tokenizers", word, "files"), file{}, nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	files := relabel.TokenizerFiles{}
	for archive := tar.NewReader(http.MaxBytesReader(nil, res.Body, 2*relabel.MaxTokenizerBytes)); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, modelfiles.Check(files)
		}
		if err == nil {
			files[header.Name], err = io.ReadAll(archive)
		}
		if err != nil {
			return nil, c.unusable(err)
		}
	}
}
