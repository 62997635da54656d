package releases

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v2"

	"relabel"
	"relabel/taskbuild"
)

// Entry is a pair of releases in a list.
type Entry struct {
	Ecosystem Ecosystem `yaml:"ecosystem" json:"ecosystem"`
	Package   string    `yaml:"package" json:"package"` // as the registry writes it; group:artifact for Maven
	From      string    `yaml:"from" json:"from"`       // the version that the task starts from
	To        string    `yaml:"to" json:"to"`           // the version that fixes it
	// FromSHA256 and ToSHA256 pin the archives of the two versions: one hash, in hexadecimal; for Maven
	// three, of the pom, the jar with sources and the jar with sources of tests.
	FromSHA256 Hashes `yaml:"from_sha256" json:"from_sha256"`
	ToSHA256   Hashes `yaml:"to_sha256" json:"to_sha256"`
	// ProblemStatement is what the agent reads.
	ProblemStatement string `yaml:"problem_statement" json:"problem_statement"`
	// Image is the name of the task's image; "": the build names it.
	Image string `yaml:"image,omitempty" json:"image"`
	// Recipe replaces fields of the recipe that is detected.
	Recipe Changes `yaml:"recipe,omitempty" json:"recipe"`
}

// Hashes are SHA-256 hashes in hexadecimal. In a list one hash may stand alone.
type Hashes []string

// UnmarshalYAML reads one hash or several.
func (h *Hashes) UnmarshalYAML(read func(any) error) error {
	var one string
	if read(&one) == nil {
		*h = Hashes{one}
		return nil
	}
	return read((*[]string)(h))
}

// Changes are the fields of a recipe that an entry sets.
type Changes struct{ fields yaml.MapSlice }

// UnmarshalYAML reads the fields and refuses those that recipes do not have.
func (c *Changes) UnmarshalYAML(read func(any) error) error {
	return errors.Join(read(&c.fields), read(new(taskbuild.Recipe)))
}

// MarshalJSON writes the fields in their order.
func (c Changes) MarshalJSON() ([]byte, error) {
	text, err := yaml.Marshal(c.fields)
	if err != nil {
		return nil, err
	}
	return json.Marshal(string(text))
}

// apply sets the fields in a recipe.
func (c Changes) apply(r *taskbuild.Recipe) error {
	if len(c.fields) == 0 {
		return nil
	}
	text, err := yaml.Marshal(c.fields)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, r)
}

// ReadList reads a list of pairs from a JSON or YAML file. Errors name the file, the entry and the field.
func ReadList(file string) ([]Entry, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []Entry
	if err := yaml.UnmarshalStrict(text, &list); err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "is not a list of pairs of releases").On(file).Because(err)
	}
	if len(list) == 0 {
		return nil, relabel.Errorf(relabel.CodeInvalid, "has no entry").On(file)
	}
	var wrong []error
	seen := map[string]int{}
	for i, e := range list {
		if field, problem := e.check(); problem != "" {
			wrong = append(wrong, relabel.Errorf(relabel.CodeInvalid, "%s", problem).On(fmt.Sprintf("%s: entry %d: %s", file, i+1, field)))
			continue
		}
		if first, twice := seen[e.id()]; twice {
			wrong = append(wrong, relabel.Errorf(relabel.CodeInvalid, "is in the list twice: entry %d has the same package and version", first).
				On(fmt.Sprintf("%s: entry %d: to", file, i+1)))
		}
		seen[e.id()] = i + 1
	}
	return list, errors.Join(wrong...)
}

// Forms of the fields of an entry. A version is an exact one: clients also take ranges and tags. Names and
// versions become arguments of programs, so that none begins with a hyphen.
var (
	versionForm = regexp.MustCompile(`^v?[0-9][0-9A-Za-z.+_-]{0,99}$`)
	hashForm    = regexp.MustCompile(`^[0-9a-f]{64}$`)
	nameForms   = map[Ecosystem]*regexp.Regexp{
		PyPI:   regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`),
		NPM:    regexp.MustCompile(`^(@[a-z0-9][a-z0-9._-]{0,99}/)?[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`),
		Crates: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`),
		Go:     regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]{0,99}(/[A-Za-z0-9._~][A-Za-z0-9._~-]{0,99}){1,9}$`),
		Maven:  regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}:[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`),
	}
)

// check returns the first wrong field and what is wrong with it.
func (e Entry) check() (field, problem string) {
	registry, known := registries[e.Ecosystem]
	switch {
	case !known:
		return "ecosystem", fmt.Sprintf("must be pypi, npm, crates, go or maven, not %q", e.Ecosystem)
	case !nameForms[e.Ecosystem].MatchString(e.Package):
		return "package", fmt.Sprintf("%q is not the name of a package of %s", e.Package, e.Ecosystem)
	case !versionForm.MatchString(e.From):
		return "from", fmt.Sprintf("%q is not a version", e.From)
	case !versionForm.MatchString(e.To) || e.To == e.From:
		return "to", fmt.Sprintf("%q is not a version after %s", e.To, e.From)
	case strings.TrimSpace(e.ProblemStatement) == "":
		return "problem_statement", "is required"
	}
	for field, hashes := range map[string]Hashes{"from_sha256": e.FromSHA256, "to_sha256": e.ToSHA256} {
		if problem := hashes.check(registry); problem != "" {
			return field, problem
		}
	}
	return "", ""
}

// check allows no hashes: a build then refuses the pair and names those of the archives.
func (h Hashes) check(r registry) string {
	for _, hash := range h {
		if !hashForm.MatchString(hash) {
			return fmt.Sprintf("%q is not a SHA-256 hash in lower-case hexadecimal", hash)
		}
	}
	if len(h) > 0 && len(h) != len(r.archives) {
		return fmt.Sprintf("must be of the %s, one hash each", strings.Join(r.archives, ", the "))
	}
	return ""
}

// repo is the name of the repository in tasks, for example pypi/pathspec or go/google-uuid.
func (e Entry) repo() string {
	name := strings.TrimPrefix(e.Package, "github.com/")
	return string(e.Ecosystem) + "/" + strings.NewReplacer("/", "-", ":", "-", "@", "", "~", "-").Replace(name)
}

// id is the instance id of the task, for example pypi__pathspec-0.12.1.
func (e Entry) id() string {
	return strings.Replace(e.repo(), "/", "__", 1) + "-" + strings.TrimPrefix(e.To, "v")
}

// change names the pair in reports.
func (e Entry) change() string { return e.Package + " " + e.From + " to " + e.To }
