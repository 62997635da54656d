package repository

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/singleflight"

	"relabel"
	"relabel/codeindex"
)

// IndexerConfig is what an Indexer needs.
type IndexerConfig struct {
	Mirrors *Mirrors
	Parsers Parsers
	Store   Store // nil: records are only kept in memory
	Memory  int64 // bytes that indexes in memory may have; the one used last is kept in any case
	Log     zerolog.Logger
}

// Indexer makes and caches the indexes of commits. A file that two commits share is parsed once and is
// held once. It is safe for concurrent use.
type Indexer struct {
	IndexerConfig
	cache    *cache
	requests singleflight.Group
	building chan struct{} // bounds the indexes that are made at once
	limit    time.Duration // of one index
	life     context.Context
	end      context.CancelFunc

	mu      sync.Mutex // of running.Add
	running sync.WaitGroup
}

// buildsAtOnce bounds the indexes that are made at once. Each uses all CPUs.
const buildsAtOnce = 2

// buildLimit bounds the time of one index.
const buildLimit = 15 * time.Minute

// NewIndexer returns an Indexer.
func NewIndexer(c IndexerConfig) *Indexer {
	x := &Indexer{IndexerConfig: c, cache: newCache(c.Memory), building: make(chan struct{}, buildsAtOnce), limit: buildLimit}
	x.life, x.end = context.WithCancel(context.Background())
	return x
}

// Close ends what is being indexed and waits for it. It does not close the mirrors.
func (x *Indexer) Close() {
	x.mu.Lock()
	x.end()
	x.mu.Unlock()
	x.running.Wait()
}

var errClosed = relabel.Errorf(relabel.CodeUnavailable, "the indexer is closed")

// begin counts a build that runs. It fails after Close.
func (x *Indexer) begin() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.life.Err() != nil {
		return errClosed
	}
	x.running.Add(1)
	return nil
}

// Index returns the index of a commit, given by its full id. Concurrent calls for one commit make it
// once; it is completed, and cached, also when ctx ends before.
func (x *Indexer) Index(ctx context.Context, name, commit string) (*codeindex.Index, error) {
	key := commitKey{name, strings.ToLower(commit)}
	if found := x.cache.index(key); found != nil {
		return found, nil
	}
	made := x.requests.DoChan(key.name+" "+key.commit, func() (any, error) {
		if found := x.cache.index(key); found != nil { // made since
			return found, nil
		}
		return x.build(key)
	})
	select {
	case r := <-made:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*codeindex.Index), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// build makes and caches an index within its time.
func (x *Indexer) build(key commitKey) (*codeindex.Index, error) {
	if err := x.begin(); err != nil {
		return nil, err
	}
	defer x.running.Done()
	ctx, cancel := context.WithTimeout(x.life, x.limit)
	defer cancel()
	index, err := x.make(ctx, key)
	switch {
	case err == nil:
		return index, nil
	case x.life.Err() != nil:
		return nil, errClosed.Because(err)
	case ctx.Err() != nil:
		return nil, relabel.Errorf(relabel.CodeEnvironment, "the index of %s at %s is not done within %s", key.name, key.commit, x.limit).Because(err)
	}
	return nil, err
}

// make makes and caches an index.
func (x *Indexer) make(ctx context.Context, key commitKey) (*codeindex.Index, error) {
	select {
	case x.building <- struct{}{}:
		defer func() { <-x.building }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	begun := time.Now()
	entries, err := x.Mirrors.Tree(ctx, key.name, key.commit)
	if err != nil {
		return nil, err
	}
	sources, skipped := x.classify(entries)
	records, err := x.records(ctx, key.name, sources)
	if err != nil {
		return nil, err
	}
	index := x.cache.add(key, sources, skipped, records)
	x.Log.Info().Str("repository", key.name).Str("commit", key.commit).Int("files", len(index.Files())).Interface("languages", index.Languages()).
		Interface("problems", index.Problems()).Interface("skipped", index.Skipped()).Dur("took", time.Since(begun)).Msg("indexed")
	return index, nil
}

// workers is how many files are parsed at once.
func workers() int { return runtime.GOMAXPROCS(0) }
