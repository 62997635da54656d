package node

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel/envs/verify/canary"
)

// snapshots is the snapshot file of a test file with the snapshots of canaries, in the runners'
// own format and order: they would rewrite another file.
func (c *nodeCode) snapshots(g canary.Garden, name, tests string) canary.File {
	file := path.Join(path.Dir(name), "__snapshots__", path.Base(name)+".snap")
	content, ok := g.Read(file)
	if !ok {
		content = []byte("// Jest Snapshot v1, https://goo.gl/fbAQLP\n")
		if strings.Contains(tests, "vitest") || strings.Contains(tests, "vi.") {
			content = []byte("// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n")
		}
	}
	head, stored := splitSnapshots(string(content))
	stored = append(stored, c.stored...)
	slices.SortStableFunc(stored, func(a, b string) int { return naturally(snapshotName(a), snapshotName(b)) })
	return canary.File{Path: file, Content: head + "\n\n" + strings.Join(stored, "\n\n") + "\n", Shared: true}
}

// snapshotStart matches the begin of a snapshot.
var snapshotStart = regexp.MustCompile("(?m)^exports\\[`")

// splitSnapshots splits a snapshot file into its head and its snapshots.
func splitSnapshots(content string) (head string, stored []string) {
	starts := snapshotStart.FindAllStringIndex(content, -1)
	end := len(content)
	for i := len(starts) - 1; i >= 0; i-- {
		stored = append(stored, strings.TrimSpace(content[starts[i][0]:end]))
		end = starts[i][0]
	}
	slices.Reverse(stored)
	return strings.TrimSpace(content[:end]), stored
}

// snapshotName is the name of a snapshot, with its number.
func snapshotName(snapshot string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(snapshot, "exports[`"), "`] = `")
	return name
}

// naturally compares names in the order of the runners, with numbers by their values.
func naturally(a, b string) int {
	for a != "" && b != "" {
		x, y := leadingNumber(a), leadingNumber(b)
		if x == "" || y == "" {
			x, y = a[:1], b[:1]
		}
		if len(x) != len(y) {
			return len(x) - len(y)
		}
		if order := strings.Compare(x, y); order != 0 {
			return order
		}
		a, b = a[len(x):], b[len(y):]
	}
	return len(a) - len(b)
}

// leadingNumber returns the digits that a text begins with.
func leadingNumber(text string) string {
	return text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
}
