package verify

import (
	"encoding/json"
	"path"
	"strings"
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
		words := shellWords(text)
		for i, w := range words {
			first := i == 0 || words[i-1].command != w.command
			if program := path.Clean(w.text); strings.ContainsAny(w.text, "/.") && !unsafePath(program) && (first || runsFiles[path.Base(words[i-1].text)]) {
				programs = append(programs, program)
			}
		}
	}
	return programs
}

// runsFiles are programs that run the file which is named after them.
var runsFiles = map[string]bool{"node": true, "ts-node": true, "tsx": true, "sh": true, "bash": true}
