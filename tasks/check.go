package tasks

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel"
	"relabel/gitdiff"
	"relabel/testlog"
)

// knownParser reports whether there is a log parser of a name.
func knownParser(name string) bool {
	_, known := testlog.Find(name)
	return known
}

// parser returns the name of the log parser that stands for a name of a data set. "" leaves it to the
// verifier.
func (l *taskLine) parser(name string) string {
	if name == "" {
		return ""
	}
	p, known := testlog.FindFor(name, l.quietText("instance_id"), l.version())
	if !known {
		l.refuse("log_parser", "%q is not one of %s", name, strings.Join(testlog.Names(), ", "))
	}
	return p.Name
}

// version is the version of the repository in a data set, a text or a number; "" without one.
func (l *taskLine) version() string {
	return strings.Trim(string(l.fields["version"]), `"`)
}

var (
	instanceID = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._+-]{0,199}$`)
	commit     = regexp.MustCompile(`^[0-9a-fA-F]{7,64}$`)
	// imageRef is the grammar of distribution/reference: [domain/]path[:tag][@digest].
	imageRef = regexp.MustCompile(`^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*(?::[0-9]+)?/)?` +
		`[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*` +
		`(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`)
)

func validImage(s string) bool { return len(s) <= 511 && imageRef.MatchString(s) }

// check reports problems of the fields that were read.
func (l *taskLine) check(t relabel.Task) {
	l.checkInstanceID(t.InstanceID)
	if t.BaseCommit != "" && !commit.MatchString(t.BaseCommit) {
		l.refuse("base_commit", "%q is not a commit's hash", t.BaseCommit)
	}
	if !path.IsAbs(t.Workdir) || path.Clean(t.Workdir) != t.Workdir || t.Workdir == "/" || strings.ContainsAny(t.Workdir, "\n\r") {
		l.refuse("workdir", "%q is not the absolute, clean path of a folder below /", t.Workdir)
	}
	l.checkPatch("patch", t.Patch)
	l.checkPatch("test_patch", t.TestPatch)
	l.checkPatch("start_patch", t.StartPatch)
	for _, p := range t.Hidden {
		if !path.IsAbs(p) || path.Clean(p) != p || p == "/" || strings.ContainsAny(p, "\n\r\x00") {
			l.refuse("hidden", "%.200q is not an absolute, clean path below /", p)
		}
	}
	l.checkTests(t)
}

// checkInstanceID refuses a name that is no instance id.
func (l *taskLine) checkInstanceID(id string) {
	if id != "" && !instanceID.MatchString(id) {
		l.refuse("instance_id", "%q must be at most 200 letters, digits and . _ + -, and not begin with . + or -", id)
	}
}

// checkPatch refuses a text that is not a diff, and paths outside the tree.
func (l *taskLine) checkPatch(field, patch string) {
	if patch == "" {
		return // already reported if it is required
	}
	changes, err := gitdiff.Parse(patch)
	if err != nil {
		l.refuse(field, "%s", err)
		return
	}
	l.checkPaths(field, changes)
}

// checkPaths refuses paths outside the tree.
func (l *taskLine) checkPaths(field string, changes []gitdiff.File) {
	for _, c := range changes {
		for _, p := range []string{c.Old, c.New} {
			if p != "" && !insideTree(p) {
				l.refuse(field, "the path %q leaves the repository", p)
				return
			}
		}
	}
}

// insideTree reports whether a patch may touch p: a path inside the tree and outside .git.
func insideTree(p string) bool {
	if path.IsAbs(p) || strings.ContainsAny(p, "\x00\\") {
		return false
	}
	for _, part := range strings.Split(p, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return false
		}
	}
	return true
}

// checkTests refuses a task that cannot be resolved or that contradicts itself.
func (l *taskLine) checkTests(t relabel.Task) {
	failing := make(map[string]bool, len(t.FailToPass))
	for _, name := range t.FailToPass {
		failing[name] = true
	}
	if len(failing) == 0 && len(t.Expected) == 0 && !l.wrong("FAIL_TO_PASS") {
		l.refuse("FAIL_TO_PASS", "is missing or empty: without it the task cannot be resolved")
	}
	for _, name := range t.PassToPass {
		if failing[name] {
			l.refuse("PASS_TO_PASS", "%q is in FAIL_TO_PASS too", name)
			return
		}
	}
}

// wrong reports whether a field already has a problem.
func (l *taskLine) wrong(field string) bool {
	return slices.ContainsFunc(l.problems, func(p Problem) bool { return p.Field == field })
}
