package repository

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"relabel"
	"relabel/codeindex"
)

// maxParsed is the size of a file in bytes above which it is not parsed.
const maxParsed = 1 << 20

// records returns the records of all sources: from memory, else from the store, else by parsing.
func (x *Indexer) records(ctx context.Context, name string, sources []source) (map[codeindex.Key]*codeindex.Records, error) {
	known := x.cache.records(sources)
	var wanted []source // one for each key
	seen := map[codeindex.Key]bool{}
	for _, s := range sources {
		if known[s.key] == nil && !seen[s.key] {
			seen[s.key] = true
			wanted = append(wanted, s)
		}
	}
	return known, x.parseAll(ctx, name, x.stored(ctx, wanted, known), known)
}

// stored adds stored records to known, and returns the sources without: all, if the store fails.
func (x *Indexer) stored(ctx context.Context, wanted []source, known map[codeindex.Key]*codeindex.Records) []source {
	if x.Store == nil || len(wanted) == 0 {
		return wanted
	}
	keys := make([]codeindex.Key, len(wanted))
	for i, s := range wanted {
		keys[i] = s.key
	}
	found, err := x.Store.FindCodeRecords(ctx, keys)
	if err != nil {
		x.Log.Warn().Err(err).Msg("cannot read the records of source files: parsing these again")
		return wanted
	}
	var rest []source
	for _, s := range wanted {
		encoded, ok := found[s.key]
		r, err := codeindex.DecodeRecords(encoded)
		if ok && err == nil {
			known[s.key] = &r
		} else {
			rest = append(rest, s)
		}
	}
	return rest
}

// batch is how many sources are parsed before their records are stored. An index that takes too long keeps
// those of complete batches.
const batch = 1000

// parseAll parses sources, adds their records to known and stores them.
func (x *Indexer) parseAll(ctx context.Context, name string, sources []source, known map[codeindex.Key]*codeindex.Records) error {
	for some := range slices.Chunk(sources, batch) {
		if err := x.parseBatch(ctx, name, some, known); err != nil {
			return err
		}
	}
	return nil
}

// parseBatch is parseAll for one batch, on all CPUs.
func (x *Indexer) parseBatch(ctx context.Context, name string, sources []source, known map[codeindex.Key]*codeindex.Records) error {
	var mu sync.Mutex
	fresh := map[codeindex.Key][]byte{}
	group, ctx2 := errgroup.WithContext(ctx)
	group.SetLimit(workers())
	for _, s := range sources {
		group.Go(func() error {
			r, err := x.parse(ctx2, name, s)
			if err != nil {
				return err
			}
			encoded := r.Encode()
			mu.Lock()
			defer mu.Unlock()
			known[s.key] = &r
			if lasting(r.Problem) {
				fresh[s.key] = encoded
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if x.Store == nil || len(fresh) == 0 {
		return nil
	}
	if err := x.Store.SaveCodeRecords(ctx, fresh); err != nil {
		x.Log.Warn().Err(err).Msg("cannot store the records of source files: other processes will parse these again")
	}
	return nil
}

// lasting reports whether the same parser finds the same problem again, on any machine. The content of a file
// that is too large is not compared with its id.
func lasting(p codeindex.Problem) bool {
	return p != codeindex.NoParser && p != codeindex.TooSlow && p != codeindex.ParseFail && p != codeindex.TooLarge
}

// parse reads and parses a file. Its records do not hold the source.
func (x *Indexer) parse(ctx context.Context, name string, s source) (codeindex.Records, error) {
	parser := x.Parsers.Parser(s.key.Language)
	if parser == nil {
		return codeindex.Records{Problem: codeindex.NoParser}, nil
	}
	content, size, err := x.Mirrors.Read(ctx, name, s.Blob, maxParsed)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		err = relabel.Errorf(relabel.CodeEnvironment, "the mirror of %s is damaged: %s is missing", name, s.Blob)
	}
	if err != nil {
		return codeindex.Records{}, err
	}
	if size > maxParsed {
		return codeindex.Records{Problem: codeindex.TooLarge}, nil
	}
	r, err := safely(parser, s.Path, content).Compact()
	if err != nil {
		r = codeindex.Records{Problem: codeindex.ParseFail}
	}
	return r, nil
}

// safely is Parse of a parser that may panic.
func safely(p codeindex.Parser, path string, content []byte) (r codeindex.Records) {
	defer func() {
		if recover() != nil {
			r = codeindex.Records{Problem: codeindex.ParseFail}
		}
	}()
	return p.Parse(path, content)
}
