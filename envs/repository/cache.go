package repository

import (
	"container/list"
	"strings"
	"sync"
	"unsafe"

	"relabel/codeindex"
)

// commitKey names an index.
type commitKey struct{ name, commit string }

// fileKey names a file that indexes share.
type fileKey struct {
	path, blob string
	language   codeindex.Language
}

// cache holds indexes, at most limit bytes of them, least recently used ones first to leave. Equal
// files, and the records of equal contents, are held and counted once.
type cache struct {
	limit int64

	mu      sync.Mutex
	bytes   int64
	order   *list.List // of *held, the most recently used first
	indexes map[commitKey]*list.Element
	files   map[fileKey]*heldFile
	sources map[codeindex.Key]*heldRecords
}

type held struct {
	key   commitKey
	index *codeindex.Index
}

type heldFile struct {
	file    *codeindex.File
	records *heldRecords
	key     codeindex.Key
	holders int // indexes
}

type heldRecords struct {
	records *codeindex.Records
	holders int // files
}

func newCache(limit int64) *cache {
	return &cache{limit: limit, order: list.New(), indexes: map[commitKey]*list.Element{},
		files: map[fileKey]*heldFile{}, sources: map[codeindex.Key]*heldRecords{}}
}

// index returns a held index, nil if it is not held.
func (c *cache) index(key commitKey) *codeindex.Index {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.indexes[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*held).index
}

// records returns the records of those sources whose records are held.
func (c *cache) records(sources []source) map[codeindex.Key]*codeindex.Records {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := make(map[codeindex.Key]*codeindex.Records, len(sources))
	for _, s := range sources {
		if h := c.sources[s.key]; h != nil {
			found[s.key] = h.records
		}
	}
	return found
}

// add makes and holds the index of a commit that is not held.
func (c *cache) add(key commitKey, sources []source, skipped map[codeindex.Skipped]int, records map[codeindex.Key]*codeindex.Records) *codeindex.Index {
	c.mu.Lock()
	defer c.mu.Unlock()
	files := make([]*codeindex.File, len(sources))
	for i, s := range sources {
		files[i] = c.hold(s, records[s.key])
	}
	h := &held{key, codeindex.NewIndex(files, skipped)}
	c.bytes += h.bytes()
	c.indexes[key] = c.order.PushFront(h)
	for c.bytes > c.limit && c.order.Len() > 1 {
		c.remove(c.order.Back())
	}
	return h.index
}

// hold returns the file that is held for a source, which may be new.
func (c *cache) hold(s source, records *codeindex.Records) *codeindex.File {
	f := c.files[fileKey{s.Path, s.key.Blob, s.key.Language}]
	if f == nil {
		f = c.newFile(s, records)
		c.files[keyOf(f.file)] = f
		c.bytes += f.bytes()
	}
	f.holders++
	return f.file
}

func keyOf(f *codeindex.File) fileKey { return fileKey{f.Path, f.Blob, f.Language} }

// newFile copies the strings of a source, which are parts of the list of all files.
func (c *cache) newFile(s source, records *codeindex.Records) *heldFile {
	path := strings.Clone(s.Path)
	s.key.Blob = strings.Clone(s.key.Blob)
	r := c.sources[s.key]
	if r == nil {
		r = &heldRecords{records: records}
		c.sources[s.key] = r
		c.bytes += r.bytes()
	}
	r.holders++
	file := &codeindex.File{Path: path, Language: s.key.Language, Blob: s.key.Blob, Records: r.records}
	return &heldFile{key: s.key, records: r, file: file}
}

// remove drops an index with what it alone holds.
func (c *cache) remove(e *list.Element) {
	h := c.order.Remove(e).(*held)
	delete(c.indexes, h.key)
	c.bytes -= h.bytes()
	for _, file := range h.index.Files() {
		f := c.files[keyOf(file)]
		f.holders--
		if f.holders == 0 {
			c.removeFile(f)
		}
	}
}

func (c *cache) removeFile(f *heldFile) {
	delete(c.files, keyOf(f.file))
	c.bytes -= f.bytes()
	f.records.holders--
	if f.records.holders == 0 {
		delete(c.sources, f.key)
		c.bytes -= f.records.bytes()
	}
}

// perEntry is about what an entry of a map costs beside its key and value.
const perEntry = 16

// bytes is the memory of an index without its files.
func (h *held) bytes() int64 {
	const fixed = 1000 // its maps
	return int64(len(h.index.Files()))*int64(unsafe.Sizeof(h)) + fixed
}

func (f *heldFile) bytes() int64 {
	fixed := unsafe.Sizeof(*f) + unsafe.Sizeof(*f.file) + unsafe.Sizeof(fileKey{}) + unsafe.Sizeof(f) + perEntry
	return int64(fixed) + int64(len(f.file.Path)+len(f.file.Blob))
}

func (r *heldRecords) bytes() int64 {
	fixed := unsafe.Sizeof(*r) + unsafe.Sizeof(codeindex.Key{}) + unsafe.Sizeof(r) + perEntry
	return int64(fixed) + int64(r.records.Bytes())
}
