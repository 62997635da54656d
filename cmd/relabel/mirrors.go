package main

import (
	"fmt"

	"relabel"
	"relabel/codeindex/languages"
	"relabel/envs/repository"
	"relabel/localise"
)

// mirrors are git mirrors with their indexes: what tasks to localise are made and rolled out with.
type mirrors struct {
	*repository.Mirrors
	*repository.Indexer
	parsers *languages.Parsers
}

// openMirrors opens a folder of mirrors. c has what their indexes need besides. missing says which parsers
// are not installed.
func openMirrors(dir string, c repository.IndexerConfig) (m *mirrors, missing []error, err error) {
	all, err := repository.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	parsers, missing := languages.Open("")
	c.Mirrors, c.Parsers = all, parsers
	return &mirrors{all, repository.NewIndexer(c), parsers}, missing, nil
}

// close ends all children.
func (m *mirrors) close() {
	m.Indexer.Close()
	m.parsers.Close()
	m.Mirrors.Close()
}

// openMirrorsOf opens a folder of mirrors for a command.
func openMirrorsOf(dir string) (r localise.Repositories, missing []error, close func(), err error) {
	m, missing, err := openMirrors(dir, repository.IndexerConfig{})
	if err != nil {
		return nil, nil, nil, err
	}
	return m, missing, m.close, nil
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
