package testlog

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
)

// compared is a log that a parser and the reference read.
type compared struct {
	Parser  string `json:"parser"` // the reference's name
	ID      string `json:"id"`
	Version string `json:"version"`
	Log     string `json:"log"`
	from    string // the file that the log comes from
}

// reference runs the program of swebench's parsers.
func reference(t *testing.T, stdin []byte, args ...string) []byte {
	t.Helper()
	python, err := exec.Command("../scripts/python.sh", "testdata/requirements.txt").Output()
	if err != nil {
		t.Fatalf("no Python with testdata/requirements.txt: %v", err)
	}
	cmd := exec.Command(strings.TrimSpace(string(python)), append([]string{"testdata/reference.py"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), &stderr
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	return out
}

// found are the statuses of each test in the order in which the reference finds them; nil where it
// fails on the log.
type found map[string][]relabel.TestStatus

// referenceOutcomes are what the reference reads.
func referenceOutcomes(t *testing.T, cases []compared) (all []found) {
	t.Helper()
	var in bytes.Buffer
	for _, c := range cases {
		if err := json.NewEncoder(&in).Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	for dec := json.NewDecoder(bytes.NewReader(reference(t, in.Bytes()))); dec.More(); {
		var of found
		if err := dec.Decode(&of); err != nil {
			t.Fatal(err)
		}
		all = append(all, of)
	}
	if len(all) != len(cases) {
		t.Fatalf("the reference answered %d of %d cases", len(all), len(cases))
	}
	return all
}

// referenceNames are the names that the reference knows.
func referenceNames(t *testing.T) []string {
	t.Helper()
	var names []string
	if err := json.Unmarshal(reference(t, nil, "names"), &names); err != nil {
		t.Fatal(err)
	}
	return names
}

// logs are the logs in testdata by their file names.
func logs(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/logs/*.log")
	if err != nil || len(files) == 0 {
		t.Fatalf("no logs: %v", err)
	}
	all := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(file)] = string(data)
	}
	return all
}

// instances are tasks for which names that stand for several parsers have one.
var instances = map[string][]struct{ id, version string }{
	"parse_log_next":         {{"a__b-1", "1.27"}, {"a__b-1", "1.21"}},
	"parse_log_lighthouse":   {{"a__b-1", "10.2"}, {"a__b-1", "2.4"}, {"a__b-1", "7.1"}},
	"parse_log_jekyll":       {{"jekyll__jekyll-8761", "8761"}, {"jekyll__jekyll-9141", "9141"}},
	"parse_log_immutable_js": {{"immutable-js__immutable-js-2006", "2006"}, {"immutable-js__immutable-js-2005", "2005"}},
}

// casesOf are a log for a name, once for each of its instances.
func casesOf(name, from, log string) []compared {
	tasks := instances[name]
	if tasks == nil {
		tasks = []struct{ id, version string }{{"a__b-1", "1.0"}}
	}
	var cases []compared
	for _, task := range tasks {
		cases = append(cases, compared{name, task.id, task.version, log, from})
	}
	return cases
}

// inColour are the parsers that read the escape sequences of the log.
var inColour = []string{"bpmn_js", "quarto_cli"}

// plainFor is the log as the reference is to read it: it removes no colours, so its differences
// on logs with colours are its own.
func plainFor(p Parser, log string) string {
	if slices.Contains(inColour, p.Name) {
		return rawText([]byte(log))
	}
	return plainText([]byte(log))
}
