package localise

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// nameAll gives candidates without an instance id one: owner__name-PULL; if another issue of the same
// pull request has it already, or there is no number, with a digest of the pair in the place of, or
// after, the number. It marks those whose id another one has, and pairs that are there twice.
func nameAll(all []Candidate) {
	taken := map[string]string{} // instance id → digest of its pair
	for _, c := range all {
		if c.InstanceID != "" {
			taken[c.InstanceID] = ""
		}
	}
	given := map[string]bool{}
	for i := range all {
		c := &all[i]
		if c.InstanceID != "" {
			c.duplicate = given[c.InstanceID]
			given[c.InstanceID] = true
			continue
		}
		c.InstanceID, c.duplicate = newName(c, taken)
	}
}

// newName returns an id that no other pair has, or the one that the same pair has already.
func newName(c *Candidate, taken map[string]string) (id string, duplicate bool) {
	digest := c.digest()
	id = c.prefix() + digest
	if c.PullNumber > 0 {
		short := c.pullName()
		first, is := taken[short]
		switch {
		case !is:
			taken[short] = digest
			return short, false
		case first == digest:
			return short, true
		}
		id = short + "-" + digest
	}
	_, duplicate = taken[id]
	taken[id] = digest
	return id, duplicate
}

// prefix begins the ids of a repository: owner__name-.
func (c *Candidate) prefix() string { return strings.ReplaceAll(c.Repository, "/", "__") + "-" }

// pullName is the id of a pull request: owner__name-PULL.
func (c *Candidate) pullName() string { return c.prefix() + fmt.Sprint(c.PullNumber) }

// digest is 12 hexadecimal digits that follow from the issue and its change.
func (c *Candidate) digest() string {
	hash := sha256.New()
	for _, part := range []string{c.Repository, c.BaseCommit, c.HeadCommit, c.Patch, c.Issue} {
		fmt.Fprintf(hash, "%d %s\n", len(part), part)
	}
	return hex.EncodeToString(hash.Sum(nil))[:12]
}
