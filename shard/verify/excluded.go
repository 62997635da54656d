package verify

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"relabel"
)

// excludedLine is a line of excluded.jsonl.
type excludedLine struct {
	Reason     string     `json:"reason"`
	Trajectory relabel.ID `json:"trajectory"`
	InstanceID string     `json:"instance_id"`
	Turn       *int       `json:"turn"`
	States     int        `json:"states"`
	Detail     string     `json:"detail"`
}

// checkExcluded compares the excluded states with the manifest's counts, and checks that no
// label is both excluded and exported.
func (c *check) checkExcluded() {
	file, err := os.Open(filepath.Join(c.dir, c.excludedName))
	if err != nil {
		c.refuse("excluded", c.excludedName, "", "cannot be read: %v", err)
		return
	}
	defer file.Close()
	there := c.allLabels()
	counts := map[string]int{}
	lines := bufio.NewReader(file)
	for number := 1; ; number++ {
		raw, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(raw)) > 0 {
			c.excludedLine(raw, "line "+strconv.Itoa(number), there, counts)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			c.refuse("excluded", c.excludedName, "", "cannot be read: %v", err)
			return
		}
	}
	if !maps.Equal(counts, c.manifest.Excluded) {
		c.refuse("excluded", c.excludedName, "", "its lines count %v, excluded in the manifest %v", counts, c.manifest.Excluded)
	}
}

// excludedLine checks a line and counts it.
func (c *check) excludedLine(raw []byte, where string, there []uint64, counts map[string]int) {
	var line excludedLine
	if err := readStrictly(raw, &line); err != nil {
		c.refuse("excluded", c.excludedName, where, "%v", err)
		return
	}
	if line.States > 0 {
		counts[c.counted(line)] += line.States
	}
	from, to := 1, line.States // of a whole trajectory every turn
	if line.Turn != nil {
		from, to = *line.Turn, *line.Turn
		if line.States != 1 {
			c.refuse("excluded", c.excludedName, where, "one turn is one state, not %d", line.States)
		}
	}
	for t := from; t <= to; t++ {
		if _, found := slices.BinarySearch(there, c.hash.name(line.Trajectory.String(), t)); found {
			c.refuse("excluded", c.excludedName, where, "the label %s/%d is both excluded and in a view", line.Trajectory, t)
			return
		}
	}
}

// counted is the reason under which the manifest counts a line: of tasks that a benchmark reserves with its
// name, except by earlier versions.
func (c *check) counted(line excludedLine) string {
	named := relabel.BenchmarkReason(line.Detail)
	if _, is := c.manifest.Excluded[named]; is && line.Reason == "benchmark" {
		return named
	}
	return line.Reason
}

// allLabels returns the sorted hashes of the labels of the view that has the most.
func (c *check) allLabels() []uint64 {
	var all []uint64
	for _, v := range c.views {
		if len(v.labels) > len(all) {
			all = v.labels
		}
	}
	slices.Sort(all)
	return all
}
