package repository

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"time"

	"relabel"
)

// askLimit bounds the time of one answer.
const askLimit = time.Minute

// Read returns at most limit bytes of a blob from its beginning, and its whole size. CodeNotFound if the
// mirror has no such blob, CodeEnvironment if all of it is read and it has another content than its id says:
// git does not check that, and what is known of a blob holds for all mirrors.
func (m *Mirrors) Read(ctx context.Context, name, blob string, limit int64) (content []byte, size int64, err error) {
	if err := checkID("blob", blob); err != nil {
		return nil, 0, err
	}
	a, err := m.ask(ctx, name, blob, limit)
	switch {
	case err != nil:
		return nil, 0, err
	case a.missing:
		return nil, 0, relabel.Errorf(relabel.CodeNotFound, "the mirror of %s has no blob %s", name, blob)
	case a.kind != "blob":
		return nil, 0, relabel.Errorf(relabel.CodeInvalid, "%s is a %s, not a blob", blob, a.kind).On("blob")
	case int64(len(a.content)) == a.size && blobID(blob, a.content) != blob:
		return nil, 0, relabel.Errorf(relabel.CodeEnvironment, "the mirror of %s is damaged: %s has another content", name, blob)
	}
	return a.content, a.size, nil
}

// blobID is the id of a content, by the hash that another id is of.
func blobID(like string, content []byte) string {
	var h hash.Hash = sha1.New()
	if len(like) == 2*sha256.Size {
		h = sha256.New()
	}
	_, _ = fmt.Fprintf(h, "blob %d\x00", len(content)) // a hash never fails
	_, _ = h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// ask asks a reader of the mirror. A reader that has answered before may have died since: then another
// one is asked.
func (m *Mirrors) ask(ctx context.Context, name, object string, limit int64) (answer, error) {
	dir, err := m.folder(name)
	if err != nil {
		return answer{}, err
	}
	limited, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	for {
		r, err := m.pool.lend(limited, dir)
		if err != nil {
			return answer{}, failed(ctx, name, err)
		}
		again := r.used
		a, err := r.ask(limited, object, limit)
		if err != nil {
			m.pool.release(r)
			if again && limited.Err() == nil {
				continue
			}
			return answer{}, failed(ctx, name, r.said.because(err))
		}
		m.pool.release(r)
		return a, nil
	}
}
