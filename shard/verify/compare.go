package verify

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"relabel"
)

// classWords name the facts of each class.
var classWords = [classes]string{"supervised tokens (prefix, target and weight)", "supervised tokens with served ids", "supervised tokens (prefix, target and weight)",
	"labels (owner, kind, iteration, beta, ids)", "pairs of state and label", "labels' weights", "labels (prefix and ids)", "pairs of state and label (text)"}

// statement is a class of facts in which some views must agree.
type statement struct {
	class class
	views []relabel.View
}

// compareViews compares the facts of the views, and names the rows in which they differ.
func (c *check) compareViews(ctx context.Context) error {
	for _, view := range relabel.AllViews {
		if v := c.views[view]; v != nil && v.broken {
			c.note("some rows of %s cannot be read: it is not compared with the other views", view)
		}
	}
	var differ []difference
	for _, s := range c.statements() {
		if d := c.compare(s); d.count > 0 {
			differ = append(differ, d)
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return c.nameDifferences(ctx, differ)
}

// statements lists the comparisons to make.
func (c *check) statements() []statement {
	var whole, bare []relabel.View
	for _, view := range c.comparable() {
		if c.views[view].bare {
			bare = append(bare, view)
		} else {
			whole = append(whole, view)
		}
	}
	var out []statement
	for _, class := range []class{rendered, served, labels} {
		out = append(out, statement{class, whole})
	}
	for _, view := range bare {
		if with := append(whole[:len(whole):len(whole)], bare...)[0]; with != view {
			two := []relabel.View{view, with}
			out = append(out, statement{anyToken, two}, statement{runs, two})
		}
		if messages := c.views[relabel.ViewMessages]; c.isText(view) && messages != nil && !messages.broken {
			out = append(out, statement{pairs, []relabel.View{relabel.ViewMessages, view}})
		}
		if c.isText(view) && len(whole) > 0 {
			out = append(out, statement{pairs, []relabel.View{whole[0], view}})
		}
	}
	return append(out, c.messagesStatements(whole, bare)...)
}

// comparable lists the views that can be read and hold facts of tokens.
func (c *check) comparable() (views []relabel.View) {
	for _, view := range c.tokenViews() {
		if !c.views[view].broken && !(c.isText(view) && c.Student == nil) {
			views = append(views, view)
		}
	}
	return views
}

// messagesStatements lists the comparisons with the messages view.
func (c *check) messagesStatements(whole, bare []relabel.View) (out []statement) {
	messages := c.views[relabel.ViewMessages]
	if messages == nil || messages.broken {
		return nil
	}
	if lines := c.views[relabel.ViewChat]; c.dialect() == relabel.DialectWeight && lines != nil && !lines.broken {
		out = append(out, statement{written, []relabel.View{relabel.ViewMessages, relabel.ViewChat}})
	}
	switch {
	case len(whole) > 0:
		two := []relabel.View{relabel.ViewMessages, whole[0]}
		out = append(out, statement{weights, two})
		if c.Student != nil {
			out = append(out, statement{rendered, two}, statement{pairs, two})
		}
	case len(bare) > 0 && c.Student != nil && c.manifest.Served == 0:
		two := []relabel.View{relabel.ViewMessages, bare[0]}
		out = append(out, statement{rendered, two}, statement{runs, two})
	case len(bare) > 0 && c.Student != nil:
		c.note("some labels have served ids and no view tells which: messages and %s are not compared", bare[0])
	}
	return out
}

// difference is a statement in which its views do not agree.
type difference struct {
	statement
	groups [groups]bool // in which the sums differ
	count  int          // of these
}

// compare returns where the sums of a statement differ.
func (c *check) compare(s statement) difference {
	d := difference{statement: s}
	for i := 1; i < len(s.views); i++ {
		a, b := c.views[s.views[0]].sums[s.class], c.views[s.views[i]].sums[s.class]
		for g := range a {
			if a[g] != b[g] && !d.groups[g] {
				d.groups[g] = true
				d.count++
			}
		}
	}
	return d
}

// mostFacts is the approximate maximum number of facts examined individually where views
// differ.
const mostFacts = 400_000

// search limits a difference to the number of groups that can be examined.
func (c *check) search(d *difference) {
	total := int64(0)
	for _, view := range d.views {
		total += max(c.views[view].Supervised, int64(c.views[view].renderedTokens))
	}
	left := max(1, int(mostFacts*groups/max(1, total)))
	for g := range d.groups {
		if d.groups[g] && left == 0 {
			d.groups[g] = false
		} else if d.groups[g] {
			left--
		}
	}
}

// factCount counts a fact by view, with its first place in each.
type factCount struct {
	count map[relabel.View]int
	place map[relabel.View]place
}

// place is the position of a token in a row.
type place struct {
	file, row string
	token     int
	label     string // its label; "" if the row has the same name
}

// nameDifferences reads the views again and names the rows that differ from other views.
func (c *check) nameDifferences(ctx context.Context, differ []difference) error {
	for i := range differ {
		d := &differ[i]
		c.search(d)
		found, err := c.collect(ctx, d)
		if err != nil {
			return err
		}
		c.reportRows(d, found)
	}
	return nil
}

// differingRow is a row with facts that another view lacks.
type differingRow struct {
	view      relabel.View
	file, row string
	first     place
	count     int
	alone     bool // all other views agree against it
	lacking   relabel.View
}

// reportRows reports the rows of a difference, one problem per row; rows that differ from all other
// views come first.
func (c *check) reportRows(d *difference, found map[fact]*factCount) {
	differing := map[[2]string]*differingRow{}
	for _, f := range found {
		for _, view := range d.views {
			least := slices.MinFunc(d.views, func(a, b relabel.View) int { return f.count[a] - f.count[b] })
			if f.count[view] == f.count[least] {
				continue
			}
			p := f.place[view]
			t := differing[[2]string{p.file, p.row}]
			if t == nil {
				t = &differingRow{view: view, file: p.file, row: p.row, first: p, lacking: least}
				differing[[2]string{p.file, p.row}] = t
			}
			if t.count++; p.token < t.first.token {
				t.first = p
			}
			t.alone = t.alone || len(d.views) > 2 && f.alone(view, d.views)
		}
	}
	for _, t := range inOrder(differing) {
		of := ""
		if t.first.label != "" {
			of = " of the label " + t.first.label
		}
		c.refuse("views", t.file, t.row, "%d of its %s are not in %s, the first at token %d%s", t.count, classWords[d.class], t.lacking, t.first.token, of)
	}
	if len(differing) == 0 {
		c.refuse("views", "", "", "%v do not contain the same %s", d.views, classWords[d.class])
	}
}

// alone reports whether all other views contain the fact equally often.
func (s *factCount) alone(view relabel.View, views []relabel.View) bool {
	others := slices.DeleteFunc(slices.Clone(views), func(v relabel.View) bool { return v == view })
	return s.alike(others)
}

// inOrder sorts rows: those that differ from all other views first, then by file and name.
func inOrder(differing map[[2]string]*differingRow) []*differingRow {
	rank := map[bool]int{true: 0, false: 1}
	return slices.SortedFunc(maps.Values(differing), func(a, b *differingRow) int {
		return cmp.Or(rank[a.alone]-rank[b.alone], cmp.Compare(a.file, b.file), cmp.Compare(a.row, b.row))
	})
}
