package main

import (
	"fmt"

	"relabel"
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

// checkMirrors counts the mirrors in a folder.
func checkMirrors(dir string) (found string, err error) {
	all, err := repository.Open(dir)
	if err != nil {
		return "", err
	}
	defer all.Close()
	names, err := all.List()
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "", relabel.Errorf(relabel.CodeInvalid, "%s has no mirror: make one with git clone --mirror URL owner__name.git", dir)
	}
	return fmt.Sprintf("%s has %d mirrors", dir, len(names)), nil
}
