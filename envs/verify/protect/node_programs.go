package protect

import (
	"encoding/json"
	"path"
	"strings"

	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
)

// nodePrograms returns the files that scripts of a package.json run as programs, where a test
// command comes to these scripts: what follows node or a shell, or stands first with a path.
func nodePrograms(packageJSON []byte, command string) []string {
	var file struct {
		Scripts map[string]any `json:"scripts"`
	}
	if json.Unmarshal(packageJSON, &file) != nil {
		return nil
	}
	var programs []string
	for name := range reachedScripts(command, file.Scripts) {
		text, _ := file.Scripts[name].(string)
		words := testcmd.Words(text)
		for i, w := range words {
			first := i == 0 || words[i-1].Command != w.Command
			if program := path.Clean(w.Text); strings.ContainsAny(w.Text, "/.") && !tree.UnsafePath(program) && (first || runsFiles[path.Base(words[i-1].Text)]) {
				programs = append(programs, program)
			}
		}
	}
	return programs
}

// runsFiles are programs that run the file which is named after them.
var runsFiles = map[string]bool{"node": true, "ts-node": true, "tsx": true, "sh": true, "bash": true}
