package tokenizers

import (
	"context"
	"slices"
)

// shelf caches the values that were used last. Only one caller at a time may use it.
type shelf[V any] chan *recent[V]

func newShelf[V any](limit int) shelf[V] {
	s := make(shelf[V], 1)
	s <- &recent[V]{limit: limit}
	return s
}

// use calls do when it is the caller's turn, and releases the shelf even if do panics.
func (s shelf[V]) use(ctx context.Context, do func(*recent[V]) error) error {
	select {
	case r := <-s:
		defer func() { s <- r }()
		return do(r)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// recent is a list of at most limit values, the most recently used one first.
type recent[V any] struct {
	limit  int
	values []V
}

// find returns a value and moves it to the front.
func (r *recent[V]) find(is func(V) bool) (v V, ok bool) {
	at := slices.IndexFunc(r.values, is)
	if at < 0 {
		return v, false
	}
	v = r.values[at]
	r.values = slices.Insert(slices.Delete(r.values, at, at+1), 0, v)
	return v, true
}

// add adds a value at the front and removes the least recently used one if there are too many.
func (r *recent[V]) add(v V) {
	r.values = slices.Insert(r.values, 0, v)
	if len(r.values) > r.limit {
		r.values = slices.Delete(r.values, r.limit, len(r.values))
	}
}
