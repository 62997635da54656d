package main

import (
	"context"

	"relabel"
	"relabel/cli"
	"relabel/envs/repository"
	"relabel/envs/scaffold/reposearcher"
	"relabel/mixer"
	"relabel/worker"
)

// searches are what a process needs to roll out tasks to localise.
type searches struct {
	*mirrors
	mixer *mixer.Mixer
}

var _ reposearcher.Repositories = (*searches)(nil)

// indexMemory bounds the indexes that a process keeps in memory, in bytes (512 MiB).
const indexMemory = 512 << 20

// openSearches opens the mirrors; nil without a folder of mirrors.
func (p *process) openSearches(f cli.WorkFlags) (*searches, error) {
	if !f.Searching() {
		return nil, nil
	}
	m, missing, err := openMirrors(f.Repositories, repository.IndexerConfig{Store: p.db.Store, Memory: indexMemory, Log: p.log})
	if err != nil {
		return nil, err
	}
	for _, err := range missing {
		p.log.Warn().Err(err).Msg("files of some languages are not indexed")
	}
	return &searches{mirrors: m}, nil
}

// close ends all children. It is safe to call on nil.
func (s *searches) close() {
	if s != nil {
		s.mirrors.close()
	}
}

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
