package tokenizer

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"
)

// cacheSlots is the size of a tokenizer's cache: about 10 MB when full.
const cacheSlots = 1 << 16

// longestCached is the maximum length of a cached word, in bytes.
const longestCached = 128

// wordCache caches the IDs of words. A word has two slots; a newer word replaces an older one
// in either. Readers and writers need no lock, because entries are immutable.
type wordCache struct {
	seed  maphash.Seed
	slots [cacheSlots]atomic.Pointer[cachedWord]
}

type cachedWord struct {
	word string
	ids  []int32
}

func newWordCache() *wordCache { return &wordCache{seed: maphash.MakeSeed()} }

// hash returns the hash of a word, for get and put.
func (c *wordCache) hash(word string) uint64 { return maphash.String(c.seed, word) }

// get returns the ids of a word, nil if it is not cached.
func (c *wordCache) get(hash uint64, word string) []int32 {
	i := hash % cacheSlots
	if e := c.slots[i].Load(); e != nil && e.word == word {
		return e.ids
	}
	if e := c.slots[i^1].Load(); e != nil && e.word == word {
		return e.ids
	}
	return nil
}

// put caches copies of a word and its ids, so that the cache retains no text.
func (c *wordCache) put(hash uint64, word string, ids []int32) {
	e := &cachedWord{word: strings.Clone(word), ids: slices.Clone(ids)}
	i := hash % cacheSlots
	if hash>>32&1 == 1 {
		i ^= 1
	}
	if c.slots[i].Load() != nil && c.slots[i^1].Load() == nil {
		i ^= 1
	}
	c.slots[i].Store(e)
}
