package tasks

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel"
)

// terminalFields are the fields of a task in a terminal. Others are refused.
var terminalFields = []string{"kind", "instance_id", "image", "workdir", "problem_statement", "hints_text", "tests", "solution", "settings"}

// inTerminal reports whether the line should be a task in a terminal.
func (l *taskLine) inTerminal(format Format) bool {
	return (format == FormatAuto || format == FormatRelabel) && l.quietText("kind") == string(relabel.Terminal)
}

// readTerminal reads a task in a terminal.
func (l *taskLine) readTerminal() relabel.Task {
	l.onlyFields(terminalFields)
	settings := l.settings()
	settings.Tests, settings.Solution = l.archive("tests", "test.sh"), l.archive("solution", "solve.sh")
	if settings.Tests.Bytes == 0 && !l.wrong("tests") {
		l.refuse("tests", "is missing or empty: without it nothing can be rewarded")
	}
	t := relabel.Task{Kind: relabel.Terminal, InstanceID: l.need("instance_id"), Image: l.image(FormatRelabel), Workdir: l.text("workdir"),
		ProblemStatement: l.need("problem_statement"), HintsText: l.text("hints_text"), Terminal: &settings}
	l.text("kind")
	l.checkInstanceID(t.InstanceID)
	if t.Workdir != "" && (!path.IsAbs(t.Workdir) || path.Clean(t.Workdir) != t.Workdir || strings.ContainsAny(t.Workdir, "\n\r")) {
		l.refuse("workdir", "%q is not an absolute, clean path", t.Workdir)
	}
	return t
}

// variable is the name of an environment variable.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// settings reads the settings of the sandbox, without tests and solution.
func (l *taskLine) settings() (s relabel.TerminalTask) {
	l.used["settings"] = true
	if !l.has("settings") {
		return s
	}
	decoder := json.NewDecoder(bytes.NewReader(l.fields["settings"]))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		l.refuse("settings", "cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
		return relabel.TerminalTask{}
	}
	if s.Tests.Bytes != 0 || s.Solution.Bytes != 0 {
		l.refuse("settings", "must not have tests and solution, which are fields of the line")
	}
	if s.TestSeconds < 0 || s.CPUs < 0 || s.MemoryBytes < 0 || s.DiskBytes < 0 {
		l.refuse("settings", "has a negative number")
	}
	for _, env := range []map[string]string{s.Env, s.TestEnv, s.SolutionEnv} {
		for name, value := range env {
			if !variable.MatchString(name) || strings.ContainsRune(value, 0) {
				l.refuse("settings", "%.100q is not the name of an environment variable, or its value has a NUL character", name)
			}
		}
	}
	return s
}

// archive reads a tar file that is compressed with gzip, in base64. Without the field it is empty.
func (l *taskLine) archive(field, script string) relabel.Archive {
	text := l.text(field)
	if text == "" {
		return relabel.Archive{}
	}
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		l.refuse(field, "is not base64")
		return relabel.Archive{}
	}
	if err := CheckArchive(content, script); err != nil {
		l.refuse(field, "%s", err)
		return relabel.Archive{}
	}
	return relabel.NewArchive(content)
}

// CheckArchive checks a folder of a task in a terminal: a tar file, compressed with gzip, of plain files with clean
// relative paths, within the bounds of relabel.MaxArchive, with the script at its root.
func CheckArchive(content []byte, script string) error {
	if len(content) > relabel.MaxArchive {
		return fmt.Errorf("has %d bytes, compressed; the most is %d", len(content), relabel.MaxArchive)
	}
	packed, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return errors.New("is not compressed with gzip")
	}
	var names []string
	left := int64(relabel.MaxUnpacked)
	for files := tar.NewReader(io.LimitReader(packed, 2*relabel.MaxUnpacked)); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.New("is not a tar file, or is truncated")
		}
		if header.Typeflag != tar.TypeReg || !fs.ValidPath(header.Name) || header.Name == "." {
			return fmt.Errorf("has %.200q, which is not a plain file with a clean, relative path", header.Name)
		}
		left -= header.Size
		names = append(names, header.Name)
		if left < 0 || len(names) > relabel.MaxArchiveFiles {
			return fmt.Errorf("has more than %d files, or more than %d MiB of them", relabel.MaxArchiveFiles, relabel.MaxUnpacked>>20)
		}
		if _, err := io.Copy(io.Discard, files); err != nil {
			return errors.New("is truncated")
		}
	}
	if !slices.Contains(names, script) {
		return fmt.Errorf("has no %s", script)
	}
	return nil
}

// WriteTerminal writes a task in a terminal as a line of relabel's own format.
func WriteTerminal(w io.Writer, t relabel.Task) error {
	settings := *t.Terminal
	settings.Tests, settings.Solution = relabel.Archive{}, relabel.Archive{}
	line := struct {
		Kind             relabel.TaskKind `json:"kind"`
		InstanceID       string           `json:"instance_id"`
		Image            string           `json:"image"`
		Workdir          string           `json:"workdir,omitempty"`
		ProblemStatement string           `json:"problem_statement"`
		Settings         any              `json:"settings"`
		Tests            []byte           `json:"tests"`
		Solution         []byte           `json:"solution,omitempty"`
	}{relabel.Terminal, t.InstanceID, t.Image, t.Workdir, t.ProblemStatement, settingsOf(settings), t.Terminal.Tests.Content, t.Terminal.Solution.Content}
	return json.NewEncoder(w).Encode(line)
}

// settingsOf are the settings as a line has them, without tests and solution.
func settingsOf(t relabel.TerminalTask) map[string]json.RawMessage {
	var settings map[string]json.RawMessage
	text, err := json.Marshal(t)
	if err == nil {
		err = json.Unmarshal(text, &settings)
	}
	if err != nil {
		panic(err) // maps of strings and numbers are always JSON
	}
	delete(settings, "tests")
	delete(settings, "solution")
	return settings
}
