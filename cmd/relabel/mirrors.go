package main

import (
	"relabel/codeindex/languages"
	"relabel/envs/repository"
	"relabel/localise"
)

// mirrors are what tasks to localise are made with.
type mirrors struct {
	*repository.Mirrors
	*repository.Indexer
}

// openMirrors opens a folder of mirrors with the parsers of the index.
func openMirrors(dir string) (_ localise.Repositories, missing []error, close func(), err error) {
	all, err := repository.Open(dir)
	if err != nil {
		return nil, nil, nil, err
	}
	parsers, missing := languages.Open("")
	indexer := repository.NewIndexer(repository.IndexerConfig{Mirrors: all, Parsers: parsers})
	return mirrors{all, indexer}, missing, func() {
		indexer.Close()
		parsers.Close()
		all.Close()
	}, nil
}
