package taskbuild

import "strings"

// SplitDiff splits what git diff writes into the parts of its files, in order.
func SplitDiff(diff string) []string {
	var parts []string
	for diff != "" {
		end := strings.Index(diff, "\ndiff --git ")
		if end < 0 {
			return append(parts, diff)
		}
		parts = append(parts, diff[:end+1])
		diff = diff[end+1:]
	}
	return parts
}

// FileKind is what a file of a repository is for tasks.
type FileKind int

// The kinds of files.
const (
	OtherFile FileKind = iota // neither; tasks leave its changes out
	SourceFile
	TestFile
)

// Kind returns the kind of a file.
func (r Recipe) Kind(path string) FileKind {
	switch {
	case MatchAny(r.TestFiles, path):
		return TestFile
	case MatchAny(r.SourceFiles, path) && !MatchAny(r.Ignore, path):
		return SourceFile
	}
	return OtherFile
}

// Runs reports whether the test command can run a test file.
func (r Recipe) Runs(path string) bool {
	if len(r.RunFiles) == 0 {
		return MatchAny(r.TestFiles, path)
	}
	return MatchAny(r.RunFiles, path)
}
