package forgeries

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// submission is one archive of testdata: what an agent does in its sandbox.
type submission struct {
	name  string // of the archive, without .txtar
	task  string // the archive of testdata/tasks that it works on
	kind  string // what the forgeries of one kind have in common
	about string // what the agent hopes for
	files []txtar.File
	run   string // bash commands, after the files were written; "" if none
	// raw says that the agent replaced git: what it wrote to /tmp/submission is the patch.
	raw bool
	// plain says that the task's command takes no canaries.
	plain bool
	// long says that it takes longer than others of its kind.
	long bool
	// seconds bounds its tests; 0: as those of all others.
	seconds int
	// left is what the run of an honest solution says of canaries that are left out.
	left string
	// allow lists reasons, besides failed tests, that the verdict may have.
	allow []string
}

// readSubmissions reads the archives of a folder of testdata, sorted by kind and name.
func readSubmissions(t *testing.T, folder string) []submission {
	t.Helper()
	var all []submission
	for _, path := range archives(t, folder) {
		header, files := readArchive(t, path)
		s := submission{
			name: nameOf(path), task: header["task"], kind: header["kind"], about: header["about"], left: header["left_out"],
			raw: header["raw"] == "true", plain: header["canaries"] == "none", long: header["long"] == "true",
		}
		if header["allow"] != "" {
			s.allow = list(header["allow"])
		}
		s.seconds, _ = strconv.Atoi(header["verify_seconds"])
		for _, f := range files {
			if f.Name == "run" {
				s.run = string(f.Data)
				continue
			}
			s.files = append(s.files, f)
		}
		if s.task == "" || s.kind == "" || s.about == "" {
			t.Fatalf("%s: its header needs task, kind and about", path)
		}
		all = append(all, s)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].kind < all[j].kind })
	return all
}

// ofEachKind returns the first submission of each kind that is not a long one.
func ofEachKind(all []submission) []submission {
	var first []submission
	seen := map[string]bool{}
	for _, s := range all {
		if !seen[s.kind] && !s.long {
			seen[s.kind] = true
			first = append(first, s)
		}
	}
	return first
}

func archives(t *testing.T, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("testdata/%s holds no archive: %v", folder, err)
	}
	return paths
}

func nameOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".txtar") }

// readArchive reads an archive, whose comment is lines of the form "key: value".
func readArchive(t *testing.T, path string) (header map[string]string, files []txtar.File) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(data)
	header, err = parseHeader(archive.Comment)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return header, archive.Files
}

func parseHeader(comment []byte) (map[string]string, error) {
	header := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(comment))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, fmt.Errorf("the header line %q is not of the form \"key: value\"", line)
		}
		header[key] = strings.TrimSpace(value)
	}
	return header, lines.Err()
}

// list splits the values of a header, which commas separate.
func list(value string) []string {
	parts := strings.Split(value, ",")
	for i, p := range parts {
		parts[i] = strings.TrimSpace(p)
	}
	return parts
}
