// Package verify checks a finished export: that its files are what the manifest says, that
// each row obeys the format, and that all views hold the same multiset of (prefix, target,
// weight), the prefix being what a row's own mask lets the token see. It only reads.
package verify

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"relabel"
	"relabel/shard/render"
)

// Options configure a check.
type Options struct {
	// Student renders the messages view for comparison with the token views; nil: it is not
	// rendered.
	Student *render.Student
	// First is the number of problems of each kind that are listed; 0: 10. The others are
	// only counted.
	First int
	// Configuration is checked against the export; nil: none is.
	Configuration *Configuration
	// Progress counts rows and tokens that were read; may be nil.
	Progress *Progress
}

// Progress is the progress of a check. It may be read concurrently.
type Progress struct{ Rows, Tokens atomic.Int64 }

// check is one check of one export.
type check struct {
	Options
	dir          string
	manifest     relabel.Manifest
	excludedName string // the file that lists the excluded states
	hash         *hasher

	mu      sync.Mutex // of what follows
	report  Report
	views   map[relabel.View]*viewState
	headers odds // of leaves
	sources []*source
	// preferred are hashes of state and label in the preference view, by the hash of the label's name.
	preferred map[uint64]fact
	served    map[uint64]bool
}

// viewState is a view with its findings.
type viewState struct {
	findings
	files []relabel.ManifestFile
}

// findings are the contents found in a file, or in all files of a view.
type findings struct {
	Figures
	broken bool // something could not be read: the view is not compared with others
	bare   bool
	sums   [classes]*sums
	rowIDs []uint64        // hashes
	labels []uint64        // hashes of (trajectory, turn)
	owners map[uint64]bool // hashes of the labels' trajectories
	trees  map[uint64]treeSize
	sumsOf map[sourceRound]roundSums
	bins   []binRun

	longest                        int // tokens of the longest row
	servedLabels                   int
	renderedLabels, renderedTokens int
	padding                        int64 // tokens
}

func newFindings(bare bool) findings {
	return findings{bare: bare, owners: map[uint64]bool{}, trees: map[uint64]treeSize{}, sumsOf: map[sourceRound]roundSums{}}
}

// Check checks the export in the folder dir. It returns an error if reading fails; defects of
// the export are in the report.
func Check(ctx context.Context, dir string, o Options) (*Report, error) {
	if o.First == 0 {
		o.First = 10
	}
	if o.Progress == nil {
		o.Progress = &Progress{}
	}
	c := &check{Options: o, dir: dir, hash: newHasher(), views: map[relabel.View]*viewState{}, served: map[uint64]bool{}, preferred: map[uint64]fact{}}
	c.report = Report{Counts: map[string]int{}, Problems: []Problem{}, Notes: []string{}, Unchecked: []Unchecked{}}
	if !c.readManifest() {
		return &c.report, nil
	}
	c.sources = newSources(&c.manifest)
	c.checkFolder()
	if err := c.readViews(ctx); err != nil {
		return nil, err
	}
	c.checkFigures()
	c.checkExcluded()
	if err := c.checkUnique(ctx); err != nil {
		return nil, err
	}
	if err := c.compareViews(ctx); err != nil {
		return nil, err
	}
	c.checkConfiguration()
	c.finishReport()
	return &c.report, nil
}

// readViews reads all files: token views first, because they tell which labels have served ids,
// which are not rendered.
func (c *check) readViews(ctx context.Context) error {
	for _, f := range c.manifest.Files {
		v := c.views[f.View]
		if v == nil {
			v = &viewState{findings: newFindings(c.isBare(f.View))}
			c.views[f.View] = v
		}
		v.files = append(v.files, f)
	}
	for _, messages := range []bool{false, true} {
		var files []relabel.ManifestFile
		for _, view := range relabel.AllViews {
			if v := c.views[view]; v != nil && messages == (view == relabel.ViewMessages) {
				files = append(files, v.files...)
			}
		}
		if err := c.each(ctx, files, c.readFile); err != nil {
			return err
		}
	}
	return nil
}

// isBare reports whether rows of a view do not say whose labels they hold.
func (c *check) isBare(view relabel.View) bool {
	return view.ForTrainer() || view == relabel.ViewPreference || view == relabel.ViewLinear && c.manifest.LossMask["linear"] == ""
}

// each calls do for all files, several at a time.
func (c *check) each(ctx context.Context, files []relabel.ManifestFile, do func(context.Context, relabel.ManifestFile) error) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range files {
		work.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(ctx, f)
		})
	}
	return work.Wait()
}

// tokenViews lists the export's views that were made with the student's tokenizer.
func (c *check) tokenViews() []relabel.View {
	var views []relabel.View
	for _, view := range relabel.AllViews {
		if c.views[view] != nil && view != relabel.ViewMessages && view != relabel.ViewPreference && !(view == relabel.ViewChat && c.dialect() == relabel.DialectWeight) {
			views = append(views, view)
		}
	}
	return views
}

// merge adds the findings of a file.
func (v *findings) merge(f *findings) {
	v.Figures.add(f.Figures)
	v.broken = v.broken || f.broken
	for class, s := range f.sums {
		if s == nil {
			continue
		}
		if v.sums[class] == nil {
			v.sums[class] = new(sums)
		}
		v.sums[class].merge(s)
	}
	v.rowIDs, v.labels = slices.Concat(v.rowIDs, f.rowIDs), slices.Concat(v.labels, f.labels)
	maps.Copy(v.owners, f.owners)
	for trajectory, size := range f.trees {
		v.trees[trajectory] = v.trees[trajectory].plus(size)
	}
	for round, sum := range f.sumsOf {
		had := v.sumsOf[round]
		v.sumsOf[round] = roundSums{had.labels + sum.labels, had.tokens + sum.tokens, had.weight + sum.weight}
	}
	v.longest = max(v.longest, f.longest)
	v.servedLabels, v.padding = v.servedLabels+f.servedLabels, v.padding+f.padding
	v.renderedLabels, v.renderedTokens = v.renderedLabels+f.renderedLabels, v.renderedTokens+f.renderedTokens
	v.bins = append(v.bins, f.bins...)
}
