package verify

import (
	"slices"

	"relabel"
)

// noPolicy stands for the teacher of a source without one.
var noPolicy = relabel.ID{}.String()

// checkProvenance compares what the manifest says of the labels' origin, and of secrets, with its other fields.
func (c *check) checkProvenance() {
	c.checkFoundSecrets()
	p := c.manifest.Provenance
	if p == nil {
		return // an earlier version
	}
	for _, id := range c.runs() {
		if !slices.ContainsFunc(p.Runs, func(r relabel.ProvenanceRun) bool { return r.ID == id }) {
			c.refuse("manifest", manifestName, "", "provenance.runs lacks the run %s", id)
		}
	}
	for _, id := range c.policies() {
		if id != "" && id != noPolicy && !slices.ContainsFunc(p.Policies, func(q relabel.ProvenancePolicy) bool { return q.ID == id }) {
			c.refuse("manifest", manifestName, "", "provenance.policies lacks the policy %s", id)
		}
	}
	c.checkWeights(*p)
	tasks := 0
	for _, r := range p.Repositories {
		tasks += r.Tasks
	}
	if tasks != p.Tasks {
		c.refuse("manifest", manifestName, "", "provenance.repositories have %d tasks, and provenance.tasks is %d", tasks, p.Tasks)
	}
	if p.Tasks > c.manifest.Trajectories.Count {
		c.refuse("manifest", manifestName, "", "provenance.tasks is %d, with %d trajectories", p.Tasks, c.manifest.Trajectories.Count)
	}
	if i := p.Images; i.Pinned > i.Known || i.Known > i.Count || len(i.List) > i.Count {
		c.refuse("manifest", manifestName, "", "provenance.images counts %d images, %d of them with a known digest, %d named by it, and lists %d", i.Count, i.Known, i.Pinned, len(i.List))
	}
}

// checkFoundSecrets compares the secrets that the manifest names with their counts.
func (c *check) checkFoundSecrets() {
	s := c.manifest.Secrets
	if s == nil {
		return
	}
	named := map[string]int{}
	for _, f := range s.First {
		if named[f.Rule]++; named[f.Rule] == s.Found[f.Rule]+1 {
			c.refuse("manifest", manifestName, "", "secrets.first has more of the rule %s than secrets.found counts", f.Rule)
		}
	}
}

// runs lists the runs that gave labels.
func (c *check) runs() []string {
	all := []string{c.manifest.Run}
	if c.manifest.Mix != nil {
		for _, s := range c.manifest.Mix.Sources {
			if s.States > 0 && s.Selection.Conversations == nil {
				all = append(all, s.Run)
			}
		}
	}
	return all
}

// policies lists the teachers and students that the manifest names.
func (c *check) policies() []string {
	all := append([]string{c.manifest.Teacher}, c.manifest.Selection.Students...)
	if c.manifest.Mix != nil {
		for _, s := range c.manifest.Mix.Sources {
			all = append(all, s.Teacher)
			for _, it := range s.Iterations {
				all = append(all, it.Student)
			}
		}
	}
	return all
}
