package tasks

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"relabel"
	"relabel/gitdiff"
	"relabel/testlog"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldenFiles has a made-up sample of each data set's form.
var goldenFiles = []string{
	"relabel", "swebench", "swebench_v5", "swebenchlive", "swegym", "swerebench", "swerebenchv2", "swesmith", "r2egym", "scaleswe", "swebenchpro", "multiswebench", "multisweflat", "nemotron",
}

// TestTaskFormsReadAsGolden reads a file of each data set's form and compares all that
// becomes of it.
func TestTaskFormsReadAsGolden(t *testing.T) {
	for _, name := range goldenFiles {
		t.Run(name, func(t *testing.T) {
			raw := readTaskFile(t, name)
			tasks, err := readTasks(bytes.NewReader(raw), FormatAuto)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(tasks, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".golden.json")
			if *update {
				if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(append(got, '\n'), want) {
				t.Errorf("read as\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// readTasks reads the tasks of a file.
func readTasks(in Input, format Format) ([]relabel.Task, error) {
	file, err := Read(in, format)
	return file.Tasks, err
}

func readTaskFile(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// ownLine is a line of relabel's own form with some fields changed; nil takes one away.
func ownLine(t testing.TB, changes map[string]any) string {
	t.Helper()
	first, _, _ := strings.Cut(string(readTaskFile(t, "relabel")), "\n")
	return changeLine(t, first, changes)
}

func changeLine(t testing.TB, line string, changes map[string]any) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		t.Fatal(err)
	}
	for name, value := range changes {
		fields[name] = value
		if value == nil {
			delete(fields, name)
		}
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestBadFieldsAreRefusedWithLineAndField(t *testing.T) {
	diff := func(p string) string {
		return "--- a/" + p + "\n+++ b/" + p + "\n@@ -1 +1 @@\n-a\n+b\n"
	}
	for _, c := range []struct {
		field string
		value any
		says  string
	}{
		{"instance_id", nil, "missing"}, {"instance_id", 7, "not a string"}, {"instance_id", "../x", "at most 200"},
		{"instance_id", "a/b", "at most 200"}, {"instance_id", strings.Repeat("x", 201), "at most 200"},
		{"image", nil, "missing"}, {"image", "team/UPPER", "not an image reference"}, {"image", "x y", "not an image reference"},
		{"workdir", "testbed", "absolute"}, {"workdir", "/a/../b", "absolute"}, {"workdir", "/", "absolute"},
		{"problem_statement", " \n", "missing or empty"}, {"problem_statement", "a\x00b", "NUL"},
		{"test_patch", diff("x") + "diff --git a/t.png b/t.png\nindex 1..2 100644\nBinary files a/t.png and b/t.png differ\n", "contents of a binary file"},
		{"patch", "diff --git a/t.png b/t.png\nindex 1..2 100644\nBinary files a/t.png and b/t.png differ\n", "contents of a binary file"},
		{"patch", "", "missing or empty"}, {"patch", "hello", "not a diff"},
		{"patch", diff("../etc/passwd"), "leaves the repository"}, {"patch", diff("/etc/passwd"), "leaves the repository"},
		{"patch", diff("sub/.git/config"), "leaves the repository"}, {"patch", diff("x") + "@@ -9,3 +9,3 @@\n a\n", "hunk at line 6 has"},
		{"patch", "diff --git a/x b/../y\nsimilarity index 100%\nrename from x\nrename to ../y\n", "leaves the repository"},
		{"test_patch", "x", "not a diff"}, {"test_patch", diff("a/../../b"), "leaves the repository"},
		{"FAIL_TO_PASS", nil, "missing or empty"}, {"FAIL_TO_PASS", []string{}, "missing or empty"},
		{"FAIL_TO_PASS", "['a']", "neither a list"}, {"FAIL_TO_PASS", []any{"a", 3}, "item 2"}, {"FAIL_TO_PASS", []string{""}, "item 1"},
		{"PASS_TO_PASS", map[string]int{"a": 1}, "neither a list"},
		{"PASS_TO_PASS", []string{"tests/test_index.py::test_equal_keys"}, "FAIL_TO_PASS too"},
		{"log_parser", "mine", "not one of pytest"}, {"base_commit", "main", "not a commit"},
		{"test_comand", "x", "not a field of a task"}, {"test_cmd", 1, "not a string"}, {"test_cmd", []string{"a\x00"}, "NUL"},
	} {
		t.Run(c.field+" "+c.says, func(t *testing.T) {
			file := ownLine(t, map[string]any{"instance_id": "good"}) + "\n\n" + ownLine(t, map[string]any{c.field: c.value})
			tasks, err := readTasks(strings.NewReader(file), FormatAuto)
			var e *relabel.Error
			if !errors.As(err, &e) || e.Code != relabel.CodeInvalid || e.Field != "line 3: "+c.field || !strings.Contains(e.Message, c.says) {
				t.Fatalf("got %v, want a refusal of line 3: %s that says %q", err, c.field, c.says)
			}
			if tasks != nil {
				t.Error("something of a bad file was returned")
			}
		})
	}
}

func TestBadLinesAreRefused(t *testing.T) {
	good := ownLine(t, nil)
	for name, c := range map[string]struct{ file, want string }{
		"empty":             {"", "contains no task"},
		"blank":             {"\ufeff\n \n\r\n", "contains no task"},
		"parquet":           {"PAR1\x15\x04", "the file: is a Parquet file that is cut off"},
		"cut":               {good[:len(good)-9], "line 1: is not JSON"},
		"two on a line":     {good + good, "line 1: is not JSON"},
		"number":            {"12", "line 1: is not a JSON object"},
		"duplicate key":     {strings.Replace(good, `{`, `{"patch":"x",`, 1), `has the field "patch" twice`},
		"broken UTF-8":      {strings.Replace(good, "pypi/shelf", "pypi/\xffshelf", 1), "line 1: is not UTF-8"},
		"lone surrogate":    {strings.Replace(good, "pypi/shelf", `pypi/\udcffshelf`, 1), "line 1: repo: contains a lone surrogate"},
		"same id":           {good + "\n" + good, `line 2: instance_id: "pypi__shelf-1.4.2" is that of line 1 too`},
		"deep":              {strings.Repeat(`{"a":`, 20000), "line 1: is not JSON"},
		"unknown data set":  {`{"instance_id":"a__b-1","repo":"a/b"}`, "line 1: image: is missing, and the row shows no known"},
		"over the limit":    {good + "\n{\"x\":\"" + strings.Repeat("x", MaxLine) + "\"}\n", "line 2: is longer than 32 MiB"},
		"swebench no tests": {changeLine(t, strings.Split(string(readTaskFile(t, "swebench")), "\n")[0], map[string]any{"base_commit": nil, "test_patch": nil}), "line 1: base_commit: is missing or empty\nline 1: test_patch: is missing"},
	} {
		if _, err := readTasks(strings.NewReader(c.file), FormatAuto); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %.300v, want %q", name, err, c.want)
		}
	}
}

func TestEscapesOfSurrogatesAreReadInPairs(t *testing.T) {
	for escape, want := range map[string]string{
		`\ud83d\ude42`: "🙂", `\\udcff`: `\udcff`, `\ufffd`: "\ufffd", "\ufffd\\\\udcff": "\ufffd\\udcff", `\ufffd\ud83d\ude42`: "\ufffd🙂",
		`\udcff`: "", `\ud83d`: "", `\ud83d\n`: "", `\ud83d\ud83d\ude42`: "", `\\\uDCFF`: "",
	} {
		for name, value := range map[string]string{
			"problem_statement": `"` + escape + `"`, "test_cmd": `["` + escape + `"]`,
			"FAIL_TO_PASS": strconv.Quote(`["` + escape + `"]`), "PASS_TO_PASS": `["` + escape + `"]`,
		} {
			line := changeLine(t, ownLine(t, nil), map[string]any{name: json.RawMessage(value)})
			tasks, err := readTasks(strings.NewReader(line), FormatAuto)
			if want == "" {
				if err == nil || !strings.Contains(err.Error(), name+": contains a lone surrogate") || strings.Count(err.Error(), "line 1: ") != 1 {
					t.Errorf("%s %s: got %v", name, value, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s %s: %v", name, value, err)
				continue
			}
			got := map[string]string{"problem_statement": tasks[0].ProblemStatement, "test_cmd": tasks[0].TestCmd}
			for field, list := range map[string][]string{"FAIL_TO_PASS": tasks[0].FailToPass, "PASS_TO_PASS": tasks[0].PassToPass} {
				got[field] = strings.Join(list, "")
			}
			if got[name] != want {
				t.Errorf("%s %s: got %q, want %q", name, value, got[name], want)
			}
		}
	}
}

func TestSeveralProblemsAreReportedAtOnceUpToALimit(t *testing.T) {
	var file strings.Builder
	for i := range 30 {
		file.WriteString(ownLine(t, map[string]any{"instance_id": fmt.Sprint("t", i), "image": "A B"}) + "\n")
	}
	_, err := readTasks(strings.NewReader(file.String()), FormatAuto)
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxProblems+1 || !strings.HasPrefix(lines[0], "line 1: image: ") || !strings.HasPrefix(lines[19], "line 20: image: ") || !strings.HasPrefix(lines[20], "and more") {
		t.Errorf("got %d lines:\n%v", len(lines), err)
	}
}

func TestBOMCRLFAndAMissingLastNewlineAreTolerated(t *testing.T) {
	file := "\ufeff" + ownLine(t, nil) + "\r\n\r\n" + ownLine(t, map[string]any{"instance_id": "second"})
	tasks, err := readTasks(strings.NewReader(file), FormatRelabel)
	if err != nil || len(tasks) != 2 || tasks[1].InstanceID != "second" {
		t.Fatalf("got %d tasks, %v", len(tasks), err)
	}
}

// failing is an input that cannot be read.
type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }
func (f failing) Size() int64                       { return 9 }

func TestAReaderThatFailsImportsNothing(t *testing.T) {
	cause := errors.New("the line dropped")
	if tasks, err := readTasks(failing{cause}, FormatAuto); tasks != nil || relabel.CodeOf(err) != relabel.CodeInvalid || !errors.Is(err, cause) {
		t.Errorf("got %v, %v", tasks, err)
	}
}

func TestTheFormatCanBeNamed(t *testing.T) {
	gym := string(readTaskFile(t, "swegym"))
	other := changeLine(t, gym, map[string]any{"repo": "acme/shelf", "instance_id": "Acme__shelf-1"})
	astropy := changeLine(t, gym, map[string]any{"repo": "Astropy/astropy", "instance_id": "astropy__astropy-1"})
	live := changeLine(t, other, map[string]any{"test_cmds": []string{"pytest"}, "log_parser": "pytest"})
	for format, c := range map[Format]struct{ line, want string }{
		FormatSWEGym:       {other, "xingyaoww/sweb.eval.x86_64.acme_s_shelf-1"},
		FormatSWEBench:     {astropy, "swebench/sweb.eval.x86_64.astropy_1776_astropy-1:latest"},
		FormatSWEBenchLive: {live, "starryzhang/sweb.eval.x86_64.acme_1776_shelf-1"},
		FormatSWERebench:   {other, "swerebench/sweb.eval.x86_64.acme_1776_shelf-1:latest"},
	} {
		want := c.want
		tasks, err := readTasks(strings.NewReader(c.line), format)
		if err != nil || tasks[0].Image != want {
			t.Errorf("%s: got %v, %v", format, tasks, err)
		}
	}
	if _, err := readTasks(strings.NewReader(gym), "yaml"); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("an unknown format gave %v", err)
	}
}

func TestFieldsAddedToASWEBenchLineAreKept(t *testing.T) {
	first, _, _ := strings.Cut(string(readTaskFile(t, "swebench")), "\n")
	line := changeLine(t, first, map[string]any{"image_name": "mine/x", "docker_image": "other/y", "test_cmd": "make test", "log_parser": "unittest", "workdir": "/repo"})
	tasks, err := readTasks(strings.NewReader(line), FormatAuto)
	if err != nil {
		t.Fatal(err)
	}
	if got := tasks[0]; got.Image != "mine/x" || got.TestCmd != "make test" || got.LogParser != "unittest" || got.Workdir != "/repo" {
		t.Errorf("got %+v", got)
	}
}

func TestLogParsersAreStoredUnderTheirNames(t *testing.T) {
	first, _, _ := strings.Cut(string(readTaskFile(t, "swebench")), "\n")
	stored := func(name, id, version string) (string, error) {
		changed := changeLine(t, first, map[string]any{"test_cmd": "make test", "log_parser": name, "instance_id": id, "version": version})
		tasks, err := readTasks(strings.NewReader(changed), FormatAuto)
		if err != nil {
			return "", err
		}
		return tasks[0].LogParser, nil
	}
	for _, name := range testlog.Names() {
		for _, prefix := range []string{"", "parse_log_"} {
			if got, err := stored(prefix+name, "a__b-1", "1.0"); err != nil || got != name {
				t.Errorf("%s%s is stored as %q, %v", prefix, name, got, err)
			}
		}
	}
	for _, c := range []struct{ name, id, version, want string }{
		{"parse_log_astropy", "a__b-1", "1.0", "pytest_v2"}, {"parse_log_requests", "a__b-1", "1.0", "pytest_options"},
		{"parse_log_xarray", "a__b-1", "1.0", "pytest"}, {"parse_log_react_pdf", "a__b-1", "1.0", "jest_files"},
		{"parse_log_next", "a__b-1", "1.27", "next_v2"}, {"parse_log_next", "a__b-1", "1.26", "next_v1"},
		{"parse_log_lighthouse", "a__b-1", "10.2", "lighthouse_mocha"}, {"parse_log_lighthouse", "a__b-1", "2.4", "lighthouse_json"},
		{"parse_log_lighthouse", "a__b-1", "9.1", "jest_files"}, {"parse_log_immutable_js", "immutable-js__immutable-js-2005", "2005", "jest_json"},
		{"parse_log_jekyll", "jekyll__jekyll-8761", "8761", "cucumber"}, {"parse_log_jekyll", "jekyll__jekyll-9141", "9141", "minitest"},
		{"parse_log_jekyll", "jekyll__jekyll-1", "1", ""}, {"parse_log_unknown", "a__b-1", "1.0", ""},
	} {
		got, err := stored(c.name, c.id, c.version)
		if got != c.want || (relabel.CodeOf(err) == relabel.CodeInvalid) != (c.want == "") {
			t.Errorf("%s of %s at %s is stored as %q, %v, not as %q", c.name, c.id, c.version, got, err, c.want)
		}
	}
}

func TestHeldOutTasksMustExist(t *testing.T) {
	ids := []string{"a", "b", "c"}
	if _, err := HeldOut(ids, []string{"b", "x", "y"}); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "x, y") {
		t.Errorf("unknown ids gave %v", err)
	}
	if got, err := HeldOut(ids, []string{"b", "c", "b"}); err != nil || len(got) != 2 || !got["b"] || !got["c"] {
		t.Errorf("got %v, %v", got, err)
	}
}

// FuzzRead looks for input that panics, or gives a task which breaks a promise.
func FuzzRead(f *testing.F) {
	for _, name := range goldenFiles {
		for line := range strings.Lines(string(readTaskFile(f, name))) {
			f.Add([]byte(line))
		}
	}
	f.Add([]byte(localiseLine(f, nil)))
	f.Fuzz(func(t *testing.T, data []byte) {
		tasks, err := readTasks(bytes.NewReader(data), FormatAuto)
		if err != nil {
			if tasks != nil || relabel.CodeOf(err) != relabel.CodeInvalid {
				t.Fatalf("refused with %v, but returned %v", err, tasks)
			}
			return
		}
		for _, task := range tasks {
			if task.Kind == relabel.Localise {
				checkLocalise(t, task)
				continue
			}
			if task.Kind != relabel.Repair || !instanceID.MatchString(task.InstanceID) || !validImage(task.Image) || len(task.FailToPass)+len(task.Expected) == 0 ||
				!slices.Contains(append(testlog.Names(), ""), task.LogParser) || task.ID != (relabel.ID{}) {
				t.Fatalf("took %+v", task)
			}
			changes, err := gitdiff.Parse(task.Patch)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range changes {
				if strings.HasPrefix(c.New, "/") || strings.Contains("/"+c.New+"/", "/../") {
					t.Fatalf("took a patch of %q", c.New)
				}
			}
		}
	})
}

// checkLocalise checks what is promised of a task to localise.
func checkLocalise(t *testing.T, task relabel.Task) {
	t.Helper()
	if !instanceID.MatchString(task.InstanceID) || !repositoryName.MatchString(task.Repo) || !fullCommit.MatchString(task.BaseCommit) || len(task.GoldFiles) == 0 {
		t.Fatalf("took %+v", task)
	}
	for _, function := range task.GoldFunctions {
		file, name, _ := strings.Cut(function, "::")
		if name == "" || !slices.Contains(task.GoldFiles, file) || strings.HasPrefix(file, "/") || strings.Contains("/"+file+"/", "/../") {
			t.Fatalf("took %q of %q", function, task.GoldFiles)
		}
	}
}

func TestAnImageThatNobodyPublishedIsNotDerived(t *testing.T) {
	first, _, _ := strings.Cut(string(readTaskFile(t, "swebench")), "\n")
	line := changeLine(t, first, map[string]any{"repo": "acme/shelf", "environment_setup_commit": "298ccb478e6bf092953bca67a3d29dc6c35f6752"})
	_, err := readTasks(strings.NewReader(line), FormatAuto)
	if err == nil || !strings.Contains(err.Error(), `line 1: image: is missing, and SWE-bench publishes no image for the repository "acme/shelf"`) {
		t.Errorf("got %v", err)
	}
}

func TestFieldsThatAreNotUsedAreCountedByName(t *testing.T) {
	for name, want := range map[string]map[string]int{
		"swerebench": {"created_at": 2, "version": 2, "environment_setup_commit": 2, "meta": 2,
			"install_config.python": 2, "install_config.pre_install": 1},
		"swerebenchv2": {"created_at": 1, "language": 1, "interface": 1, "install_config.base_image_name": 1, "install_config.install": 1},
		"swebenchlive": {"created_at": 1, "pull_number": 1},
	} {
		file, err := Read(bytes.NewReader(readTaskFile(t, name)), FormatAuto)
		if err != nil || !maps.Equal(file.Unused, want) {
			t.Errorf("%s: not used are %v, %v; want %v", name, file.Unused, err, want)
		}
	}
}

func TestAnEvaluationScriptIsCutAtItsMarks(t *testing.T) {
	script := "export A=1\ngit apply -v - <<'E'\n+ : '>>>>> Start Test Output'\nE\n: '>>>>> Start Test Output'\npytest a\n: '>>>>> End Test Output'\ngit checkout x\n"
	got, ok := SplitEvalScript(script)
	if !ok || got.Tests != "pytest a" || got.After != "git checkout x\n" || !strings.HasSuffix(got.Before, "E") || !got.AppliesTestPatch() {
		t.Errorf("got %+v, %v", got, ok)
	}
	for _, broken := range []string{"", "pytest", ": '>>>>> Start Test Output'\npytest", ": '>>>>> End Test Output'\n: '>>>>> Start Test Output'"} {
		if _, ok := SplitEvalScript(broken); ok {
			t.Errorf("%q was cut", broken)
		}
	}
}

func TestARecipesVariablesAreSetBeforeItsTests(t *testing.T) {
	first, _, _ := strings.Cut(string(readTaskFile(t, "swerebench")), "\n")
	recipe := func(variables any) string {
		return changeLine(t, first, map[string]any{"install_config": map[string]any{"test_cmd": "pytest", "env_vars": variables}})
	}
	tasks, err := readTasks(strings.NewReader(recipe(map[string]string{"B": "it's", "A": "1"})), FormatAuto)
	if err != nil || !strings.Contains(tasks[0].EvalScript, "export A=1\nexport B='it'\\''s'\n: '") {
		t.Errorf("got %v, %v", tasks, err)
	}
	for _, bad := range []any{map[string]int{"A": 1}, map[string]string{"A;x": "1"}, "not JSON"} {
		if _, err := readTasks(strings.NewReader(recipe(bad)), FormatAuto); err == nil || !strings.Contains(err.Error(), "line 1: install_config.env_vars: ") {
			t.Errorf("%v gave %v", bad, err)
		}
	}
}
