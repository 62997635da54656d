package tasks

import (
	"io/fs"
	"regexp"
	"strings"
	"unicode"

	"relabel"
	"relabel/ranking"
)

// localiseFields are the fields of a task to localise. Others are refused.
var localiseFields = []string{
	"kind", "instance_id", "repository", "base_commit", "problem_statement", "hints_text", "gold_files", "gold_functions",
}

// localises reports whether the line should be a task to localise.
func (l *taskLine) localises(format Format) bool {
	own := format == FormatAuto || format == FormatRelabel
	return own && (l.has("gold_files") || l.has("gold_functions") || l.quietText("kind") == string(relabel.Localise))
}

// readLocalise reads a task to localise.
func (l *taskLine) readLocalise() relabel.Task {
	l.onlyFields(localiseFields)
	if kind := l.need("kind"); kind != "" && kind != string(relabel.Localise) {
		l.refuseKind(kind)
	}
	t := relabel.Task{
		Kind: relabel.Localise, InstanceID: l.need("instance_id"), Repo: l.repository(), BaseCommit: l.fullCommit("base_commit"),
		ProblemStatement: l.need("problem_statement"), HintsText: l.text("hints_text"),
		GoldFiles:     l.list("gold_files", "a list of paths", "a path"),
		GoldFunctions: l.list("gold_functions", "a list of functions", "a function"),
	}
	l.checkInstanceID(t.InstanceID)
	l.checkGold(t)
	return t
}

func (l *taskLine) refuseKind(kind string) {
	l.refuse("kind", "%q is not one of %s, %s, %s", kind, relabel.Repair, relabel.Localise, relabel.Terminal)
}

// repositoryName is owner/name. No two underscores in a row, which join the two in the name of a mirror.
var repositoryName = regexp.MustCompile(`^[A-Za-z0-9](?:_?[A-Za-z0-9.-])*/[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// longestRepository bounds a repository's name in bytes.
const longestRepository = 200

// ValidRepository reports whether a task to localise may have a repository of this name: owner/name.
func ValidRepository(name string) bool {
	return len(name) <= longestRepository && repositoryName.MatchString(name)
}

// repository reads the field of that name, owner/name.
func (l *taskLine) repository() string {
	name := l.need("repository")
	if name != "" && !ValidRepository(name) {
		l.refuse("repository", "%.120q is not OWNER/NAME", name)
	}
	return name
}

var fullCommit = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// fullCommit reads a commit's full hash.
func (l *taskLine) fullCommit(field string) string {
	hash := strings.ToLower(l.need(field))
	if hash != "" && !fullCommit.MatchString(hash) {
		l.refuse(field, "%.80q is not the full hash of a commit, of 40 hexadecimal digits", hash)
	}
	return hash
}

// checkGold reports problems of the gold files and functions that were read.
func (l *taskLine) checkGold(t relabel.Task) {
	if len(t.GoldFiles) == 0 && !l.wrong("gold_files") {
		l.refuse("gold_files", "is missing or empty: without it no answer can be right")
	}
	for i, file := range t.GoldFiles {
		if !ValidGoldFile(file) {
			l.refuse("gold_files", "item %d, %.200q, is not a path in the repository", i+1, file)
			return
		}
	}
	l.refuseTwice("gold_files", t.GoldFiles)
	l.refuseTwice("gold_functions", t.GoldFunctions)
	if l.wrong("gold_files") {
		return
	}
	files := make(map[string]bool, len(t.GoldFiles))
	for _, file := range t.GoldFiles {
		files[file] = true
	}
	for i, function := range t.GoldFunctions {
		file, _, _ := strings.Cut(function, "::")
		switch {
		case !ValidGoldFunction(function):
			l.refuse("gold_functions", "item %d, %.200q, is not path::Qualified.name", i+1, function)
			return
		case !files[file]:
			l.refuse("gold_functions", "item %d, %.200q, is in no file of gold_files", i+1, function)
			return
		}
	}
}

// refuseTwice refuses a list that has an item twice.
func (l *taskLine) refuseTwice(field string, items []string) {
	seen := make(map[string]int, len(items))
	for i, item := range items {
		if first := seen[item]; first > 0 {
			l.refuse(field, "item %d, %.200q, is item %d too", i+1, item, first)
			return
		}
		seen[item] = i + 1
	}
}

// ValidGoldFunction reports whether path::name can be gold: it can be read again out of a ranked list.
func ValidGoldFunction(function string) bool {
	_, name, _ := strings.Cut(function, "::")
	return name != "" && ranking.Entry(function) == function && !strings.ContainsFunc(name, unicode.IsControl)
}

// ValidGoldFile reports whether a path can be gold: relative, clean, and such that path::name can be
// read again.
func ValidGoldFile(path string) bool {
	return fs.ValidPath(path) && path != "." && path == strings.TrimSpace(path) && !strings.Contains(path, "::") &&
		!strings.HasSuffix(path, ":") && !strings.ContainsFunc(path, unicode.IsControl) && ranking.Entry(path) == path
}
