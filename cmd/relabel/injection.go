package main

import (
	"context"
	"path/filepath"
	"strings"

	"relabel/cli"
	"relabel/codeindex/languages"
	"relabel/taskbuild"
	"relabel/taskbuild/history"
	"relabel/taskbuild/inject"
)

// openSource opens what a build makes tasks of: injected bugs, or the history of the repository. release ends
// what the source uses. figures are filled in by an injection.
func openSource(ctx context.Context, c *cli.TasksBuild, recipe taskbuild.Recipe, builder *taskbuild.Builder, tester taskbuild.Tester, containers rooms,
	figures *inject.Figures) (source taskbuild.Source, release func() error, err error) {
	nothing := func() error { return nil }
	if c.Releases != "" {
		source, err = openReleases(c)
		return source, nothing, err
	}
	if c.Inject == 0 {
		source, err = openHistory(ctx, c, recipe)
		return source, nothing, err
	}
	parsers, _ := languages.Open("") // a file whose parser is missing counts as unread
	name := c.Name
	if name == "" {
		dir, err := taskbuild.Git(ctx, c.Repository, "rev-parse", "--absolute-git-dir")
		if err != nil {
			return nil, nil, err
		}
		name = history.NameOf(filepath.Clean(strings.TrimSuffix(strings.TrimSpace(string(dir)), "/.git")))
	}
	source = inject.New(inject.Options{
		Repository: c.Repository, Commit: c.Range, Repo: name, Recipe: recipe, Count: c.Inject, Seed: c.Seed, PerFunction: c.PerFunction,
		Notes: filepath.Join(c.Out, "injection.jsonl"), Figures: figures,
	}, builder, tester, containers, parsers)
	return source, func() error { parsers.Close(); return nil }, nil
}
