package verify

import (
	"path/filepath"

	"relabel"
	"relabel/trainers"
)

// Configuration is a trainer's configuration that is checked against the export.
type Configuration struct {
	Name string // of its file
	Text []byte
}

// checkConfiguration reports settings with which a trainer would train on more than the labels, or cut rows.
func (c *check) checkConfiguration() {
	if c.Configuration == nil {
		return
	}
	trainer, warnings, err := trainers.CheckConfiguration(c.Configuration.Name, c.Configuration.Text, c.exported())
	name := filepath.Base(c.Configuration.Name)
	if err != nil {
		c.refuse("configuration", name, "", "%s", said(err))
		return
	}
	for _, w := range warnings {
		c.refuse("configuration", name, trainer, "%s", w)
	}
}

// exported describes the view that a trainer would read: the manifest's, else the first with ids.
func (c *check) exported() trainers.Exported {
	e := trainers.Exported{Dialect: c.dialect(), Weighted: weightedManifest(c.manifest)}
	if c.manifest.For != nil {
		e.View = c.manifest.For.View
	}
	for _, view := range c.tokenViews() {
		if e.View == "" {
			e.View = view
		}
		if view == e.View {
			e.Longest = c.views[view].longest
		}
	}
	if e.Longest == 0 && c.manifest.Capacity != nil {
		e.Longest = *c.manifest.Capacity
	}
	return e
}

// weightedManifest reports whether a token may have a weight other than 1.
func weightedManifest(m relabel.Manifest) bool {
	weighted := m.Recipe.OnPolicy() || m.Normalisation != nil && *m.Normalisation == relabel.PerTransition || m.Mix != nil && !m.Mix.Sampled
	for _, rule := range m.LabelRules {
		weighted = weighted || rule.Unbiased && rule.Rule != relabel.LabelAll
	}
	return weighted
}
