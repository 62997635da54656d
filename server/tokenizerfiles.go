package server

import (
	"archive/tar"
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"relabel"
)

// fetchTokenizer answers with the files as a tar file, of which relabel.TokenizerChunk bytes
// are in memory at a time.
func (s *site) fetchTokenizer(ctx context.Context, in *TokenizerPath) (*huma.StreamResponse, error) {
	t, err := s.Store.FindTokenizer(ctx, in.Tokenizer)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(answer huma.Context) {
		answer.SetHeader("Content-Type", "application/x-tar")
		answer.SetHeader("Content-Length", strconv.FormatInt(tarSize(t.Files), 10))
		if err := s.writeTar(answer.Context(), answer.BodyWriter(), t); err != nil {
			noteCause(answer.Context(), err)
			panic(http.ErrAbortHandler) // whoever loads it must see that it is not whole
		}
	}}, nil
}

// writeTar writes a tokenizer's files, one after the other.
func (s *site) writeTar(ctx context.Context, to io.Writer, t relabel.Tokenizer) error {
	archive := tar.NewWriter(to)
	for _, f := range t.Files {
		header := &tar.Header{Name: f.Name, Mode: 0o644, Size: f.Bytes, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		for at := int64(0); at < f.Bytes; {
			chunk, err := s.Store.ReadTokenizerFile(ctx, t.Hash, f.Name, at, relabel.TokenizerChunk)
			if err != nil {
				return err
			}
			if _, err := archive.Write(chunk); err != nil {
				return err
			}
			at += int64(len(chunk))
		}
	}
	return archive.Close()
}

// tarSize is the length of the tar file that writeTar writes, in bytes.
func tarSize(files []relabel.TokenizerFile) int64 {
	const block = 512
	size := int64(2 * block) // the end
	for _, f := range files {
		size += block + (f.Bytes+block-1)/block*block
	}
	return size
}
