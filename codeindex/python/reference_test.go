package python

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"relabel/codeindex"
)

const (
	packagesVariable = "RELABEL_TEST_PACKAGES" // a folder of Python packages that are compared too
	python2Variable  = "RELABEL_TEST_PYTHON2"  // a Python 2.7 whose library is compared
)

// reference is what Python's ast module says of a file.
type reference struct {
	Path        string
	Error       string
	Definitions [][4]any // kind, name, first line, last line
	Imports     [][2]int
}

// comparison counts what was compared.
type comparison struct {
	files, bytes, definitions, imports int
	refused                            map[codeindex.Problem]int // files with an error, by our problem
	took                               time.Duration
}

func (c comparison) String() string {
	return fmt.Sprintf("%d files, %d definitions, %d imports, %.1f MB/s; refused by ast: %v",
		c.files, c.definitions, c.imports, float64(c.bytes)/1e6/c.took.Seconds(), c.refused)
}

// standardLibrary returns the Python of the machine and the folder of its library.
func standardLibrary(t testing.TB) (python, folder string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("python3 is not installed: make test-needs installs it")
	}
	return python, libraryOf(t, python)
}

func libraryOf(t testing.TB, python string) string {
	t.Helper()
	out, err := exec.Command(python, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestRecordsAreThoseOfPython(t *testing.T) {
	t.Parallel()
	python, folder := standardLibrary(t)
	compare(t, python, folder)
}

// TestRecordsOfPackagesAreThoseOfPython compares packages that are on the machine.
func TestRecordsOfPackagesAreThoseOfPython(t *testing.T) {
	folder := os.Getenv(packagesVariable)
	if folder == "" {
		t.Skip(packagesVariable + " names no folder of Python packages")
	}
	python, _ := standardLibrary(t)
	compare(t, python, folder)
}

// compare compares the files below a folder: what ast parses has the same records and no problem.
func compare(t *testing.T, python, folder string) {
	counts := comparison{refused: map[codeindex.Problem]int{}}
	for _, want := range references(t, python, folder) {
		source, err := os.ReadFile(want.Path)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		got := Parser{}.Parse(want.Path, source)
		counts.took += time.Since(began)
		counts.files++
		counts.bytes += len(source)
		if want.Error != "" {
			counts.refused[got.Problem]++
			if got.Problem == "" {
				t.Logf("not found in %s: %s", want.Path, want.Error)
			}
			continue
		}
		counts.definitions += len(want.Definitions)
		counts.imports += len(want.Imports)
		if got.Problem != "" {
			t.Errorf("%s has the problem %s", want.Path, got.Problem)
		}
		if a, b := lines(got), want.lines(); !slices.Equal(a, b) {
			t.Errorf("%s: %s", want.Path, difference(a, b))
		}
	}
	if counts.files == 0 {
		t.Errorf("no files in %s", folder)
	}
	t.Log(counts)
}

// references runs the script over a folder.
func references(t *testing.T, python, folder string) []reference {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.Command(python, "testdata/records.py", folder)
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var all []reference
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var one reference
		switch err := decoder.Decode(&one); err {
		case nil:
			all = append(all, one)
		case io.EOF:
			return all
		default:
			t.Fatal(err)
		}
	}
}

// lines writes records one per line.
func lines(r codeindex.Records) []string {
	var all []string
	for _, d := range r.Definitions {
		all = append(all, fmt.Sprintf("%s %s %d-%d", d.Kind, d.Name, d.Start, d.End))
	}
	for _, i := range r.Imports {
		all = append(all, fmt.Sprintf("import %d-%d", i.Start, i.End))
	}
	return all
}

func (r reference) lines() []string {
	var all []string
	for _, d := range r.Definitions {
		all = append(all, fmt.Sprintf("%s %s %v-%v", d[0], d[1], d[2], d[3]))
	}
	for _, i := range r.Imports {
		all = append(all, fmt.Sprintf("import %d-%d", i[0], i[1]))
	}
	return all
}

// difference returns the first lines that differ.
func difference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		a, b := "nothing", "nothing"
		if i < len(got) {
			a = got[i]
		}
		if i < len(want) {
			b = want[i]
		}
		if a != b {
			return fmt.Sprintf("got %s, want %s", a, b)
		}
	}
	return ""
}
