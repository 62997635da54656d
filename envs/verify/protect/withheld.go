package protect

import (
	"path"
	"strings"

	"relabel/envs/verify/tree"
)

// isWithheld drops changes of paths that the task hides from the agent, such as the script that runs the tests.
func (p protection) isWithheld(c tree.Change) string {
	for _, hidden := range p.task.Hidden {
		file := path.Join(p.task.Workdir, c.Path)
		if file == hidden || strings.HasPrefix(file, hidden+"/") || strings.HasPrefix(hidden, file+"/") {
			return "the task hides it from the agent"
		}
	}
	return ""
}
