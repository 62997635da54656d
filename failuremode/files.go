package failuremode

import (
	"path"
	"strings"
)

// longestPath is the length of the longest path that is looked up, in bytes: that of Linux.
const longestPath = 4096

// files finds a changed file by any end of its path that begins with a name. A patch may change very
// many files, and a test may print very many paths.
type files map[string]string

// indexed indexes changed files. Where an end is that of several, it means the first of them.
func indexed(changed []string) files {
	all := files{}
	for _, file := range changed {
		for _, end := range ends(file) {
			if _, taken := all[end]; !taken {
				all[end] = file
			}
		}
	}
	for _, file := range changed {
		all[file] = file // a whole path means its file
	}
	return all
}

// meant returns the changed file that a path means: absolute, relative to the repository, or relative
// to a folder of it. "" if there is none.
func (f files) meant(named string) string {
	if len(named) > longestPath {
		return ""
	}
	named = path.Clean(named)
	if !path.IsAbs(named) && f[named] != "" {
		return f[named]
	}
	for _, end := range ends(named) {
		if f[end] == end {
			return end
		}
	}
	return ""
}

// ends are a path and what follows each of its slashes.
func ends(file string) []string {
	all := []string{file}
	for i := strings.IndexByte(file, '/'); i >= 0; i = strings.IndexByte(file, '/') {
		file = file[i+1:]
		all = append(all, file)
	}
	return all
}
