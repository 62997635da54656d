// Package releases makes candidates for tasks out of pairs of releases of packages: the tree of the older
// release is the base, the difference of the sources the fix, and the difference of the tests the test patch.
// A list names the pairs, with the hashes of their archives and the problem statements.
//
// The archives are downloaded by the registries' own clients (pip, npm, cargo, go, mvn), so that the user's
// settings of mirrors, proxies and credentials apply.
package releases

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"relabel"
	"relabel/safetext"
	"relabel/taskbuild"
)

// Options are the settings of a Source.
type Options struct {
	Entries []Entry // see ReadList
	// Folder keeps archives, trees, and in its subfolder repositories a bare mirror of each package, with only
	// the commits that tasks start from.
	Folder string
	Jobs   int // pairs that are prepared at once, at least 1
	// Detect returns the recipe for a source tree, given as a commit of a repository.
	Detect func(ctx context.Context, repository, commit string) (taskbuild.Recipe, error)
	// Check returns an error about a recipe that cannot be used.
	Check func(taskbuild.Recipe) error
}

// Source gives the pairs of a list as candidates. A pair whose archives are not available is refused, and
// the next build tries it again.
type Source struct {
	options Options
	mu      sync.Mutex
	locks   map[string]*sync.Mutex // one for each package
}

// New returns a source.
func New(o Options) *Source { return &Source{options: o, locks: map[string]*sync.Mutex{}} }

// Items prepares several pairs at once and yields them in the order of the list.
func (s *Source) Items(ctx context.Context) iter.Seq2[taskbuild.Item, error] {
	return func(yield func(taskbuild.Item, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var working sync.WaitGroup
		defer working.Wait()
		defer cancel()
		type outcome struct {
			item taskbuild.Item
			err  error
		}
		free := make(chan struct{}, max(1, s.options.Jobs))
		outcomes := make([]chan outcome, len(s.options.Entries))
		for i := range outcomes {
			outcomes[i] = make(chan outcome, 1)
		}
		working.Go(func() {
			for i, e := range s.options.Entries {
				free <- struct{}{}
				working.Go(func() {
					item, err := s.item(ctx, e)
					outcomes[i] <- outcome{item, err}
					<-free
				})
			}
		})
		for _, ready := range outcomes {
			if o := <-ready; !yield(o.item, o.err) || o.err != nil {
				return
			}
		}
	}
}

// Close does nothing: what the source made is kept for the next build.
func (s *Source) Close() error { return nil }

// item returns a pair as a candidate, or why it cannot be one.
func (s *Source) item(ctx context.Context, e Entry) (taskbuild.Item, error) {
	c, refusal, err := s.candidate(ctx, e)
	var known *relabel.Error
	switch {
	case ctx.Err() != nil:
		return taskbuild.Item{}, ctx.Err()
	case errors.As(err, &known):
		refusal = &taskbuild.Refusal{Reason: taskbuild.ReasonUnreadable, Detail: safetext.TerminalLine(err.Error())}
	case err != nil:
		return taskbuild.Item{}, err
	}
	if refusal != nil {
		refusal.Change, refusal.Title = e.change(), e.title()
	}
	return taskbuild.Item{Candidate: c, Refusal: refusal}, nil
}

// title is the beginning of the problem statement, in one line.
func (e Entry) title() string {
	line, _, _ := strings.Cut(strings.TrimSpace(e.ProblemStatement), "\n")
	if letters := []rune(line); len(letters) > 80 {
		return string(letters[:79]) + "…"
	}
	return line
}

func (s *Source) candidate(ctx context.Context, e Entry) (taskbuild.Candidate, *taskbuild.Refusal, error) {
	defer s.lock(e.repo())()
	p, err := s.pair(ctx, e)
	if err != nil {
		return taskbuild.Candidate{}, nil, err
	}
	recipe, err := s.recipe(ctx, e, p)
	if err != nil {
		return taskbuild.Candidate{}, nil, err
	}
	d, refusal, err := p.difference(ctx, recipe)
	if err != nil || refusal != nil {
		return taskbuild.Candidate{}, refusal, err
	}
	mirror, err := openRepository(ctx, filepath.Join(s.options.Folder, "repositories", strings.Replace(e.repo(), "/", "__", 1)+".git"))
	if err != nil {
		return taskbuild.Candidate{}, nil, err
	}
	if err := mirror.take(ctx, p.repository, p.base, e.From, ignored[e.Ecosystem]); err != nil {
		return taskbuild.Candidate{}, nil, err
	}
	return taskbuild.Candidate{
		ID: e.id(), Repo: e.repo(), Repository: mirror.dir, Base: p.base, Origin: taskbuild.OriginRelease, Change: e.change(), Title: e.title(),
		ProblemStatement: e.ProblemStatement, Patch: d.patch, TestPatch: d.testPatch, TestFiles: d.testFiles, Recipe: &recipe, Image: e.Image,
	}, nil, nil
}

// recipe returns the recipe of a pair: the detected one with the fields that the entry sets. If none is detected,
// the entry sets all but the usual values.
func (s *Source) recipe(ctx context.Context, e Entry, p pair) (taskbuild.Recipe, error) {
	r, err := s.options.Detect(ctx, p.dir, p.base)
	if err != nil && len(e.Recipe.fields) == 0 {
		return r, err
	}
	if err != nil {
		r = taskbuild.Recipe{Name: string(e.Ecosystem), Workdir: "/testbed", TestSeconds: 600, BuildSeconds: 1800}
	}
	if err := e.Recipe.apply(&r); err != nil {
		return r, err
	}
	return r, errors.Join(r.Check(), s.options.Check(r))
}

// lock locks what belongs to a package, and returns what unlocks it.
func (s *Source) lock(repo string) (unlock func()) {
	s.mu.Lock()
	l, ok := s.locks[repo]
	if !ok {
		l = new(sync.Mutex)
		s.locks[repo] = l
	}
	s.mu.Unlock()
	l.Lock()
	return l.Unlock
}

// ignored are files that tests leave in a work tree and that do not belong to patches.
var ignored = map[Ecosystem][]string{
	PyPI:   {"__pycache__/", ".pytest_cache/"},
	NPM:    {"node_modules/", "/package-lock.json"},
	Crates: {"target/", "/Cargo.lock"},
	Maven:  {"target/"},
}

// pair returns the trees of both releases. They are kept, so that a later build needs neither the archives nor
// their clients.
func (s *Source) pair(ctx context.Context, e Entry) (pair, error) {
	trees, err := openRepository(ctx, filepath.Join(s.options.Folder, "trees", strings.Replace(e.repo(), "/", "__", 1)+".git"))
	if err != nil {
		return pair{}, err
	}
	p := pair{repository: trees, versions: []string{e.From, e.To}}
	if p.base, err = s.tree(ctx, trees, e, e.From, "from_sha256", e.FromSHA256); err != nil {
		return p, err
	}
	p.next, err = s.tree(ctx, trees, e, e.To, "to_sha256", e.ToSHA256)
	return p, err
}

// layout is a part of the names of kept trees. It changes with what unpacking makes of an archive.
const layout = "1"

// tree returns the commit with the source tree of a release.
func (s *Source) tree(ctx context.Context, trees repository, e Entry, version, field string, pins Hashes) (string, error) {
	branch := layout + "/" + strings.Join(pins, "-")
	if len(pins) > 0 {
		if commit := trees.find(ctx, branch); commit != "" {
			return commit, nil
		}
	}
	work := filepath.Join(s.options.Folder, "work") // the builder removes it
	if err := os.MkdirAll(work, 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(work, "release-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	archives, err := fetch(ctx, dir, filepath.Join(s.options.Folder, "archives"), e, version, field, pins)
	if err != nil {
		return "", err
	}
	tree := filepath.Join(dir, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return "", err
	}
	if err := registries[e.Ecosystem].unpack(release{e.Package, version}, archives, tree); err != nil {
		return "", err
	}
	return trees.commit(ctx, tree, e.Package+" "+version, branch)
}
