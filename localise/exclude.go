package localise

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"

	"relabel"
)

// Exclusions are repositories and instances that become no task. The zero value excludes none.
type Exclusions struct {
	repositories map[string]bool // lower case, as GitHub does not tell cases apart
	instances    map[string]bool
}

var excludedName = regexp.MustCompile(`^(?:[A-Za-z0-9._-]+/)?[A-Za-z0-9_.+-]+$`)

// Read adds a file with one owner/name or instance id per line. Blank lines and those that begin with #
// are skipped. A file without a name is an error.
func (e *Exclusions) Read(r io.Reader) error {
	if e.repositories == nil {
		e.repositories, e.instances = map[string]bool{}, map[string]bool{}
	}
	lines, names := bufio.NewScanner(r), 0
	number := 0
	for lines.Scan() {
		number++
		name := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		switch {
		case name == "" || strings.HasPrefix(name, "#"):
			continue
		case !excludedName.MatchString(name):
			return relabel.Errorf(relabel.CodeInvalid, "%.120q is neither owner/name nor an instance id", name).On(lineName(number))
		case strings.Contains(name, "/"):
			e.repositories[strings.ToLower(name)] = true
		default:
			e.instances[name] = true
		}
		names++
	}
	if err := lines.Err(); err != nil {
		return relabel.Errorf(relabel.CodeInvalid, "the file cannot be read completely").Because(err)
	}
	if names == 0 { // everything would be trained on silently
		return relabel.Errorf(relabel.CodeInvalid, "the file names no repository and no instance")
	}
	return nil
}

// Has reports whether a candidate is excluded: by its repository, its instance id, or the id of its pull
// request, which only the first of several issues has as its own.
func (e *Exclusions) Has(c Candidate) bool {
	return e.repositories[strings.ToLower(c.Repository)] || e.instances[c.InstanceID] || c.PullNumber > 0 && e.instances[c.pullName()]
}

func lineName(number int) string { return fmt.Sprintf("line %d", number) }
