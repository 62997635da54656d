package verify

import (
	"fmt"
	"strings"

	"relabel"
)

// Unchecked counts labels of a view that were not compared with a rendering of their state.
type Unchecked struct {
	View   relabel.View `json:"view"`
	Labels int          `json:"labels"`
	Why    string       `json:"why"`
}

// listUnchecked lists the labels that were not compared with a rendering.
func (c *check) listUnchecked() (all []Unchecked) {
	if c.views[relabel.ViewMessages] != nil && len(c.tokenViews()) == 0 {
		return []Unchecked{{relabel.ViewMessages, c.manifest.States, "there is no token view with their ids"}}
	}
	for _, view := range c.tokenViews() {
		if u := c.uncheckedOf(view, c.views[view]); u.Labels > 0 {
			all = append(all, u)
		}
	}
	return all
}

// uncheckedOf counts the labels of a token view that were not compared with a rendering.
func (c *check) uncheckedOf(view relabel.View, v *viewState) Unchecked {
	labels, messages := v.Labels, c.views[relabel.ViewMessages]
	if v.bare {
		labels = c.manifest.States // its rows have no spans to count
	}
	switch {
	case c.isText(view) && c.Student != nil && !v.broken:
		return Unchecked{} // its own rows were rendered
	case messages == nil:
		return Unchecked{view, labels, "there is no messages view to render"}
	case c.Student == nil:
		return Unchecked{view, labels, "no tokenizer and template were given"}
	case v.broken || messages.broken:
		return Unchecked{view, labels, "some of its rows, or of the messages view's, cannot be read"}
	case v.bare && c.manifest.Served > 0:
		return Unchecked{view, labels, "some labels have served ids, and bare rows do not tell which"}
	}
	return Unchecked{view, v.servedLabels, "their ids are served"}
}

// uncheckedText lists the labels that were not rendered, "" if all were.
func (r *Report) uncheckedText() string {
	var parts []string
	for _, u := range r.Unchecked {
		parts = append(parts, fmt.Sprintf("%s %d labels (%s)", u.View, u.Labels, u.Why))
	}
	if len(parts) == 0 {
		return ""
	}
	return "; NOT rendered again: " + strings.Join(parts, ", ")
}
