package main

import (
	"context"

	"relabel"
	"relabel/cli"
	"relabel/codeindex"
	"relabel/codeindex/languages"
	"relabel/envs/repository"
	"relabel/envs/scaffold/reposearcher"
	"relabel/mixer"
	"relabel/worker"
)

// searches are what a process needs to roll out tasks to localise.
type searches struct {
	mirrors *repository.Mirrors
	parsers *languages.Parsers
	indexer *repository.Indexer
	mixer   *mixer.Mixer
}

// openSearches opens the mirrors and the parsers; nil without a folder of mirrors.
func (p *process) openSearches(f cli.WorkFlags) (*searches, error) {
	if !f.Searching() {
		return nil, nil
	}
	mirrors, err := repository.Open(f.Repositories)
	if err != nil {
		return nil, err
	}
	parsers, missing := languages.Open("")
	for _, err := range missing {
		p.log.Warn().Err(err).Msg("files of some languages are not indexed")
	}
	indexer := repository.NewIndexer(repository.IndexerConfig{Mirrors: mirrors, Parsers: parsers, Store: p.db.Store, Memory: indexMemory, Log: p.log})
	return &searches{mirrors: mirrors, parsers: parsers, indexer: indexer}, nil
}

// close ends all children. It is safe to call on nil.
func (s *searches) close() {
	if s == nil {
		return
	}
	s.indexer.Close()
	s.mirrors.Close()
	s.parsers.Close()
}

// indexMemory bounds the indexes that a process keeps in memory, in bytes (512 MiB).
const indexMemory = 512 << 20

// Index is that of the indexer, and Read that of the mirrors.
func (s *searches) Index(ctx context.Context, name, commit string) (*codeindex.Index, error) {
	return s.indexer.Index(ctx, name, commit)
}

// Read reads a file's content.
func (s *searches) Read(ctx context.Context, name, blob string, limit int64) ([]byte, int64, error) {
	return s.mirrors.Read(ctx, name, blob, limit)
}

var _ reposearcher.Repositories = (*searches)(nil)

// searchEnvironment returns the environment of the mixer of tasks to localise.
func (w *work) searchEnvironment() mixer.Environment {
	return mixer.Environment{
		Start: func(ctx context.Context, c relabel.Claim) (mixer.Episode, error) {
			e, err := reposearcher.Start(ctx, w.searches, c)
			if err != nil {
				return nil, err
			}
			return e, nil
		},
		Parse: parseAction,
		Verify: func(ctx context.Context, c relabel.Claim, list []byte) (relabel.Verdict, error) {
			return reposearcher.Grade(ctx, w.searches, c.Task, list, c.Run.Limits.ScoreDepth)
		},
		Policy: func(p relabel.Policy) (mixer.Policy, error) { return w.policies.Open(p) },
		Count:  w.policies.count,
		Down:   w.policies.Down,
	}
}

// mixers are those of the kinds of task that the process rolls out.
func (w *work) mixers() []*mixer.Mixer {
	if w.searches == nil {
		return []*mixer.Mixer{w.mixer}
	}
	return []*mixer.Mixer{w.mixer, w.searches.mixer}
}

// rollouts are all mixers as one.
func (w *work) rollouts() (all worker.AllRollouts) {
	for _, m := range w.mixers() {
		all = append(all, m)
	}
	return all
}

// activity lists the rollouts of all mixers.
func (w *work) activity() (all []relabel.RolloutActivity) {
	for _, m := range w.mixers() {
		all = append(all, m.Activity()...)
	}
	return all
}
