// Package harbor reads tasks in the folders of Harbor and Terminal-Bench 2: task.toml, instruction.md, environment/,
// tests/ and solution/. It makes tasks in a terminal of them, and refuses by name what sandboxes do not have.
package harbor

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel"
)

// The files and folders of a task.
const (
	configFile      = "task.toml"
	instructionFile = "instruction.md"
	environmentDir  = "environment"
	dockerfile      = "environment/Dockerfile"
	testsDir        = "tests"
	solutionDir     = "solution"
)

// maxText bounds task.toml and instruction.md, in bytes.
const maxText = 1 << 20

// Folder is one task of a set, or why it cannot be one.
type Folder struct {
	Path string       // within the set; "." for the set itself
	Task relabel.Task // kind terminal, without an id
	// Build is set if its image is built from its environment, rather than pulled.
	Build bool
	// Downloads is a command of test.sh that needs a network; "" if none was found.
	Downloads string
	Unused    []string // fields of task.toml that change nothing here
	Refused   error    // CodeInvalid, with the file or field; nil if the task can be used
}

// Read reads every task folder of a set: the root, or folders in it at any depth, in the order of their paths.
// Folders within a task folder, and hidden ones, are not searched. CodeInvalid if there is none.
func Read(set fs.FS) ([]Folder, error) {
	var found []Folder
	names := map[string]string{}
	err := fs.WalkDir(set, ".", func(p string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			return nil
		case p != "." && strings.HasPrefix(path.Base(p), "."):
			return fs.SkipDir
		}
		if _, err := fs.Stat(set, path.Join(p, configFile)); err != nil {
			return nil
		}
		f := readFolder(set, p)
		if first := names[f.Task.InstanceID]; f.Refused == nil && first != "" {
			f.Refused = refused("task.name", "%q is that of %s too", f.Task.InstanceID, first)
		}
		names[f.Task.InstanceID] = p
		found = append(found, f)
		return fs.SkipDir
	})
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "the folder cannot be read").Because(err)
	}
	if len(found) == 0 {
		return nil, relabel.Errorf(relabel.CodeInvalid, "there is no folder with a %s", configFile)
	}
	return found, nil
}

// IsSet reports whether a folder is a task of Harbor, or has one as a direct entry.
func IsSet(set fs.FS) bool {
	for _, pattern := range []string{configFile, "*/" + configFile, "*/*/" + configFile} {
		if found, err := fs.Glob(set, pattern); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

func refused(field, format string, args ...any) error {
	return relabel.Errorf(relabel.CodeInvalid, format, args...).On(field)
}

// readFolder reads the task in folder p.
func readFolder(set fs.FS, p string) (f Folder) {
	f.Path = p
	dir, err := fs.Sub(set, p)
	if err != nil {
		f.Refused = refused(p, "%v", err)
		return f
	}
	text, err := readText(dir, configFile)
	if err != nil {
		f.Refused = err
		return f
	}
	c, unused, err := decode(text)
	if err != nil {
		f.Refused = refused(configFile, "%s", err)
		return f
	}
	f.Unused = unused
	f.Task = relabel.Task{Kind: relabel.Terminal, InstanceID: instanceID(c.Task.Name, p), Workdir: c.Environment.Workdir}
	if field, why := c.unsupported(); field != "" {
		f.Refused = refused(field, "%s", why)
		return f
	}
	settings, err := c.settings()
	if err != nil {
		f.Refused = refused(configFile, "%s", err)
		return f
	}
	f.Task.Terminal = &settings
	f.Refused = f.fill(dir, c)
	return f
}

// fill reads the other files of the task.
func (f *Folder) fill(dir fs.FS, c config) (err error) {
	instruction, err := readText(dir, instructionFile)
	if err != nil {
		return err
	}
	f.Task.ProblemStatement = strings.TrimSpace(withoutCanary(instruction))
	if f.Task.ProblemStatement == "" {
		return refused(instructionFile, "is empty")
	}
	if f.Task.InstanceID == "" {
		return refused("task.name", "is missing, and the folder has no name that can be one")
	}
	if f.Task.Image, f.Build, err = imageOf(dir, c.Environment.DockerImage); err != nil {
		return err
	}
	t := f.Task.Terminal
	if t.Tests, err = pack(dir, testsDir, "test.sh"); err != nil {
		return err
	}
	if t.Tests.Bytes == 0 {
		return refused(testsDir, "has no test.sh")
	}
	if t.Solution, err = pack(dir, solutionDir, "solve.sh"); err != nil {
		return err
	}
	script, _ := readText(dir, "tests/test.sh") // pack has read it
	f.Downloads = downloads(script)
	return nil
}

// readText reads a text file of a task.
func readText(dir fs.FS, name string) (string, error) {
	info, err := fs.Stat(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", refused(name, "is missing")
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxText {
		return "", refused(name, "is not a file of at most %d bytes", maxText)
	}
	data, err := fs.ReadFile(dir, name)
	if err != nil {
		return "", refused(name, "cannot be read: %v", err)
	}
	if text := strings.ToValidUTF8(string(data), "\uFFFD"); text == string(data) && !strings.ContainsRune(text, 0) {
		return strings.TrimPrefix(text, "\uFEFF"), nil
	}
	return "", refused(name, "is not text in UTF-8")
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9._+-]+`)

// instanceID is the name of a task, org/name, or else the name of its folder, in the letters of an instance id.
func instanceID(name, folder string) string {
	if name == "" && folder != "." {
		name = path.Base(folder)
	}
	id := strings.TrimLeft(notInID.ReplaceAllString(strings.ReplaceAll(name, "/", "__"), "-"), ".+-")
	return id[:min(len(id), 200)]
}

// canary matches a line that marks a text as part of a benchmark, which no agent is to read.
var canary = regexp.MustCompile(`(?i)^(<!--.*canary.*-->|#.*canary.*)$`)

// withoutCanary removes such lines from the beginning of a text.
func withoutCanary(text string) string {
	lines := strings.Split(text, "\n")
	for len(lines) > 0 && canary.MatchString(strings.TrimSpace(lines[0])) {
		lines = lines[1:]
	}
	return strings.Join(lines, "\n")
}

// network matches commands that need a network.
var network = regexp.MustCompile(`(?m)^[^#\n]*?\b(apt-get|apt|apk|yum|dnf|pip3?|uv|conda|npm|cargo|gem|go) (?:-\S+ )*(install|update|add|ci|get|i)\b|^[^#\n]*?\b(curl|wget|uvx|npx|git clone)\b`)

// downloads returns the first command of a script that needs a network.
func downloads(script string) string {
	match := strings.TrimSpace(network.FindString(script))
	return match[:min(len(match), 80)]
}

// Images lists the images that are built, each with the folder of a task that has it, in the order of folders.
func Images(folders []Folder) (builds []Folder) {
	for _, f := range folders {
		if f.Refused == nil && f.Build && !slices.ContainsFunc(builds, func(b Folder) bool { return b.Task.Image == f.Task.Image }) {
			builds = append(builds, f)
		}
	}
	return builds
}

// String names a folder and its problem.
func (f Folder) String() string {
	if f.Refused == nil {
		return f.Path
	}
	known, _ := errors.AsType[*relabel.Error](f.Refused)
	return fmt.Sprintf("%s: %s: %s", f.Path, known.Field, known.Message)
}
