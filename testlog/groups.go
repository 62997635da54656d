package testlog

import (
	"strings"

	"relabel"
)

// maxGroupNames limits the bytes of the names that are made of the titles of groups: a log can
// have long titles around many tests.
const maxGroupNames = 128 << 20

// maxGroupTitles limits the bytes of the titles around a test.
const maxGroupTitles = 16 << 10

// groups are the titles of the groups around a test, which a log indents.
type groups struct {
	titles []string
	depths []int // white space before each title
}

// enter adds the title of a group, and leaves the groups that are indented as much or more.
func (g *groups) enter(line string) {
	depth := indent(line)
	g.leave(depth)
	g.titles = append(g.titles, trim(line))
	g.depths = append(g.depths, depth)
}

// leave leaves the groups that are indented as much as depth or more.
func (g *groups) leave(depth int) {
	n := len(g.depths)
	for n > 0 && g.depths[n-1] >= depth {
		n--
	}
	g.titles, g.depths = g.titles[:n], g.depths[:n]
}

// namer records tests under the titles of their groups and their own.
type namer struct {
	Outcomes
	used int // bytes of the names so far
}

// add records a test. Names beyond the bounds are not recorded, so these tests are absent.
func (n *namer) add(titles []string, separator, test string, status relabel.TestStatus) {
	n.Outcomes.add(n.name(titles, separator, test), status)
}

// name is the name of a test; "" beyond the bounds.
func (n *namer) name(titles []string, separator, test string) string {
	size := len(test)
	for _, title := range titles {
		size += len(title) + len(separator)
		if size > maxGroupTitles+len(test) {
			return ""
		}
	}
	n.used += size
	switch {
	case n.used > maxGroupNames:
		return ""
	case len(titles) == 0:
		return test
	}
	return strings.Join(titles, separator) + separator + test
}
