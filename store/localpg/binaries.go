package localpg

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"relabel"
)

// oldest is the first major version that compresses columns with lz4.
const oldest = 14

// usualPlaces are the folders where distributions install the binaries of a major version.
var usualPlaces = []string{
	"/usr/lib/postgresql/*/bin",         // Debian, Ubuntu
	"/usr/pgsql-*/bin",                  // RHEL, Fedora (PGDG)
	"/usr/libexec/postgresql*",          // Alpine
	"/opt/homebrew/opt/postgresql*/bin", // Homebrew, Apple silicon
	"/usr/local/opt/postgresql*/bin",    // Homebrew, Intel
	"/Applications/Postgres.app/Contents/Versions/*/bin",
	"/usr/local/pgsql/bin",
	"/usr/bin",
}

var versionWords = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// binaries is one installed Postgres.
type binaries struct {
	dir   string
	major int
}

func (b binaries) path(name string) string { return filepath.Join(b.dir, name) }

// findBinaries returns a Postgres of the major version that created a data folder, or with 0 the
// newest one of this machine.
func findBinaries(major int) (binaries, error) {
	var newest binaries
	for _, dir := range candidates() {
		b, ok := inspect(dir)
		usable := b.major == major || major == 0 && b.major >= oldest
		if ok && usable && b.major > newest.major {
			newest = b
		}
	}
	switch {
	case newest.major > 0:
		return newest, nil
	case major != 0:
		return binaries{}, relabel.Errorf(relabel.CodeUnavailable,
			"PostgreSQL %d created the data folder's database and is not installed; install it (apt-get install postgresql-%d) or set DATABASE_URL", major, major)
	}
	return binaries{}, relabel.Errorf(relabel.CodeUnavailable,
		"no PostgreSQL %d or newer is installed; install one (apt-get install postgresql, brew install postgresql) or set DATABASE_URL", oldest)
}

// candidates lists the folders that may hold a Postgres.
func candidates() []string {
	var dirs []string
	for _, pattern := range usualPlaces {
		matches, _ := filepath.Glob(pattern) // the patterns are well-formed
		dirs = append(dirs, matches...)
	}
	if onPath, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(onPath); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	return dirs
}

// inspect reports whether dir contains both required programs, and their version.
func inspect(dir string) (binaries, bool) {
	for _, name := range []string{"postgres", "initdb"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return binaries{}, false
		}
	}
	out, err := exec.Command(filepath.Join(dir, "postgres"), "--version").Output()
	words := versionWords.FindSubmatch(out)
	if err != nil || words == nil {
		return binaries{}, false
	}
	major, err := strconv.Atoi(string(words[1]))
	return binaries{dir: dir, major: major}, err == nil
}

// Find returns which Postgres Start would use for a new folder; its error describes what to install.
func Find() (string, error) {
	b, err := findBinaries(0)
	if err != nil {
		return "", err
	}
	return "PostgreSQL " + strconv.Itoa(b.major) + " in " + b.dir, nil
}
