package tasks

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"relabel"
)

// parquetRow is a row of SWE-bench's form with nested columns.
type parquetRow struct {
	InstanceID string           `parquet:"instance_id"`
	Repo       string           `parquet:"repo"`
	Base       string           `parquet:"base_commit"`
	Image      string           `parquet:"image_name"`
	Problem    string           `parquet:"problem_statement"`
	Hints      *string          `parquet:"hints_text,optional"`
	Patch      string           `parquet:"patch"`
	TestPatch  string           `parquet:"test_patch"`
	Fail       []string         `parquet:"FAIL_TO_PASS,list"`
	Pass       []string         `parquet:"PASS_TO_PASS,list"`
	Setup      string           `parquet:"environment_setup_commit"`
	Meta       map[string]int64 `parquet:"meta"`
}

// parquetRows are rows with and without their optional parts.
func parquetRows(t testing.TB, n int) []parquetRow {
	first, _, _ := strings.Cut(string(readTaskFile(t, "swebench")), "\n")
	var line struct{ Patch, Test_patch, Base_commit string }
	if err := json.Unmarshal([]byte(first), &line); err != nil {
		t.Fatal(err)
	}
	hint := "try\tthis \"é\""
	rows := make([]parquetRow, n)
	for i := range rows {
		rows[i] = parquetRow{InstanceID: fmt.Sprintf("a__b-%d", i), Repo: "a/b", Base: line.Base_commit, Image: "a/b:1", Problem: "It fails.\n\x01",
			Patch: line.Patch, TestPatch: line.Test_patch, Fail: []string{"t::x", fmt.Sprint("t::y", i)}, Setup: line.Base_commit}
		if i%2 == 0 {
			rows[i].Hints, rows[i].Pass, rows[i].Meta = &hint, []string{"t::p"}, map[string]int64{"k": int64(i)}
		}
	}
	return rows
}

func parquetOf[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestParquetReadsAsTheSameRowsInJSON(t *testing.T) {
	rows := parquetRows(t, 25)
	var jsonl, array bytes.Buffer
	for i, r := range rows {
		fields := map[string]any{"instance_id": r.InstanceID, "repo": r.Repo, "base_commit": r.Base, "image_name": r.Image, "problem_statement": r.Problem,
			"hints_text": r.Hints, "patch": r.Patch, "test_patch": r.TestPatch, "FAIL_TO_PASS": r.Fail, "PASS_TO_PASS": r.Pass, "environment_setup_commit": r.Setup}
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		jsonl.Write(append(text, '\n'))
		array.WriteString(map[bool]string{true: " [\n", false: ",\n"}[i == 0] + string(text))
	}
	array.WriteString("\n]\n")
	want, err := readTasks(bytes.NewReader(jsonl.Bytes()), FormatAuto)
	if err != nil || len(want) != 25 || want[0].HintsText == "" || want[1].HintsText != "" || len(want[1].PassToPass) != 0 {
		t.Fatal(err)
	}
	var gz, zst bytes.Buffer
	g, z := gzip.NewWriter(&gz), must(zstd.NewWriter(&zst))
	_, _ = g.Write(jsonl.Bytes())
	_, _ = z.Write(array.Bytes())
	_, _ = g.Close(), z.Close()
	for name, file := range map[string][]byte{
		"parquet": parquetOf(t, rows, parquet.MaxRowsPerRowGroup(10), parquet.PageBufferSize(256)), "snappy": parquetOf(t, rows, parquet.Compression(&parquet.Snappy)),
		"version 1": parquetOf(t, rows, parquet.DataPageVersion(1)), "array": array.Bytes(), "gzip": gz.Bytes(), "zstd": zst.Bytes(),
	} {
		got, err := readTasks(bytes.NewReader(file), FormatAuto)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, %d tasks, the first %+v", name, err, len(got), got[:min(1, len(got))])
		}
		again, err := readTasks(bytes.NewReader(linesOf(t, file)), FormatAuto)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(want) {
			t.Errorf("%s, written as lines: %v, %d tasks", name, err, len(again))
		}
	}
}

// linesOf is a file as JSONL.
func linesOf(t *testing.T, file []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	for line, err := range must(Open(bytes.NewReader(file), Options{})).Lines() {
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(slices.Clone(line), '\n'))
	}
	return out.Bytes()
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// archiveOf makes a tar archive of names and contents in turn.
func archiveOf(t testing.TB, parts ...string) *bytes.Reader {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for i := 0; i < len(parts); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: parts[i], Size: int64(len(parts[i+1])), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(parts[i+1]))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(out.Bytes())
}

func TestAnArchiveIsReadFileByFile(t *testing.T) {
	rows := parquetRows(t, 6)
	in := archiveOf(t, "README.md", "# card", "./data/train-00001-of-00002.parquet", string(parquetOf(t, rows[2:4])), "data/train-00000-of-00002.parquet", string(parquetOf(t, rows[:2])),
		"data/test-00000-of-00001.parquet", string(parquetOf(t, rows[4:])), ".cache/x.jsonl", "no", "dataset_info.json", "{}")
	for split, want := range map[string][]string{
		"":      {"a__b-4", "a__b-5", "a__b-0", "a__b-1", "a__b-2", "a__b-3"},
		"train": {"a__b-0", "a__b-1", "a__b-2", "a__b-3"},
	} {
		set, err := Open(in, Options{Split: split})
		if err != nil {
			t.Fatal(err)
		}
		report, err := set.Check()
		if err != nil || !slices.Equal(report.IDs, want) || report.Files[len(report.Files)-1] != "data/train-00001-of-00002.parquet" {
			t.Errorf("split %q: %+v, %v", split, report, err)
		}
	}
	if _, err := Open(in, Options{Split: "dev"}); err == nil || !strings.Contains(err.Error(), `"dev" is not one of the splits: test, train`) {
		t.Errorf("an unknown split gave %v", err)
	}
	if _, err := Open(strings.NewReader("{}"), Options{Split: "train"}); err == nil {
		t.Error("a single file has a split")
	}
}

func TestBadFilesAreRefusedByName(t *testing.T) {
	rows := parquetRows(t, 4)
	whole := parquetOf(t, rows)
	own := ownLine(t, nil)
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 7\n"
	type numbers struct {
		InstanceID string `parquet:"instance_id"`
		Image      string `parquet:"image"`
		Problem    string `parquet:"problem_statement"`
		Patch      int64  `parquet:"patch"`
	}
	torn := slices.Clone(whole)
	copy(torn[8:], bytes.Repeat([]byte{0xff}, 64))
	big := parquetRows(t, 2)
	big[1].Problem = strings.Repeat("x", MaxLine+1)
	huge := parquetRows(t, maxPage>>20+1)
	for i := range huge {
		huge[i].Problem = strings.Repeat("x", 1<<20)
	}
	var bomb bytes.Buffer
	g := gzip.NewWriter(&bomb)
	for range freeInflation>>20 + 40 {
		_, _ = g.Write(bytes.Repeat([]byte("\n"), 1<<20))
	}
	_ = g.Close()
	for name, c := range map[string]struct {
		in   Input
		want string
	}{
		"truncated":        {bytes.NewReader(whole[:len(whole)-20]), "the file: is a Parquet file that is cut off"},
		"torn":             {bytes.NewReader(torn), "the file: is damaged"},
		"truncated inside": {archiveOf(t, "data/train.parquet", string(whole[:100]), "x.jsonl", own), "data/train.parquet: is a Parquet file that is cut off"},
		"column type":      {bytes.NewReader(parquetOf(t, []numbers{{"a", "b/c", "p", 7}})), "row 1: patch: is not a string"},
		"large row":        {bytes.NewReader(parquetOf(t, big)), "row 2: problem_statement: makes the row longer than 32 MiB"},
		"large page":       {bytes.NewReader(parquetOf(t, huge, parquet.PageBufferSize(2*maxPage))), "row 1 and below: problem_statement: a page has 97 MiB, more than 96"},
		"same id":          {archiveOf(t, "a.jsonl", own, "b.jsonl", "\n"+own), `b.jsonl: line 2: instance_id: "pypi__shelf-1.4.2" is that of a.jsonl: line 1 too; read one split: --split b`},
		"same id, splits":  {archiveOf(t, "data/filtered-00000-of-00001.jsonl", own, "data/test-00000-of-00001.jsonl", own), `is that of data/filtered-00000-of-00001.jsonl: line 1 too; read one split: --split test`},
		"pointer":          {strings.NewReader(pointer), "the file: is a pointer of Git LFS, not the file: run git lfs pull"},
		"pointer in tar":   {archiveOf(t, "data/x.parquet", pointer), "data/x.parquet: is a pointer of Git LFS"},
		"bomb":             {bytes.NewReader(bomb.Bytes()), "grows to more than 250 times its size"},
		"damaged gzip":     {bytes.NewReader(bomb.Bytes()[:1000]), "the file: cannot be read in line"},
		"name":             {archiveOf(t, "../../etc/x.jsonl", own), `"../../etc/x.jsonl": is not a path within the archive`},
		"absolute":         {archiveOf(t, "/etc/x.jsonl", own), "is not a path within the archive"},
		"twice":            {archiveOf(t, "x.jsonl", own, "./x.jsonl", own), "is in the archive twice"},
		"Harbor":           {archiveOf(t, "hello/task.toml", "x", "hello/instruction.md", "y"), "hello/task.toml: is a task folder of Harbor"},
		"no rows":          {archiveOf(t, "README.md", "x"), "the file: has no file with rows"},
		"cut tar":          {cutShort(archiveOf(t, "x.jsonl", own)), "is a damaged tar archive"},
		"tar in tar":       {archiveOf(t, "x.jsonl", strings.Repeat("\x00", 257)+"ustar\x0000"), "x.jsonl: is an archive within an archive"},
		"zip":              {strings.NewReader("PK\x03\x04"), "is a zip file, which is not read: unpack it"},
		"array, cut":       {strings.NewReader("[" + own), "is damaged in row 1"},
		"array, text":      {strings.NewReader("[" + own + "] x"), "follows the array"},
		"array, no comma":  {strings.NewReader("[" + own + own + "]"), "row 1: is not JSON"},
		"array, numbers":   {strings.NewReader("[1, {}]"), "row 1: is not a JSON object"},
		"array, long":      {strings.NewReader(`["` + strings.Repeat("x", MaxLine) + `"]`), "row 1: is longer than 32 MiB"},
		"patch":            {bytes.NewReader(parquetOf(t, []parquetRow{{InstanceID: "a", Image: "b/c", Problem: "p", Patch: "+x", Setup: "1", Repo: "a/b"}})), "row 1: patch: is not a diff"},
	} {
		tasks, err := readTasks(c.in, FormatAuto)
		if err == nil || !strings.Contains(err.Error(), c.want) || tasks != nil || relabel.CodeOf(err) != relabel.CodeInvalid {
			t.Errorf("%s: got %.400v, want %q", name, err, c.want)
		}
	}
}

func TestErrorsBeginWithTheNameOfAFile(t *testing.T) {
	own := ownLine(t, nil)
	for text, want := range map[string]string{
		"":                         "a.jsonl contains no task",
		"{":                        "a.jsonl: line 1: is not JSON",
		own + "\n" + own:           "a.jsonl: line 2: instance_id: \"pypi__shelf-1.4.2\" is that of a.jsonl: line 1 too",
		"PK\x03\x04":               "a.jsonl: is a zip file",
		"PAR1":                     "a.jsonl: is a Parquet file that is cut off",
		ownLine(t, nil)[:40]:       "a.jsonl: line 1: is not JSON",
		"\x1f\x8b\x08 and no gzip": "a.jsonl: is damaged",
	} {
		set, err := Open(strings.NewReader(text), Options{File: "a.jsonl"})
		if err == nil {
			_, err = set.Check()
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	set, err := Open(strings.NewReader(own), Options{File: "a.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	if report, err := set.Check(); err != nil || report.Files != nil {
		t.Errorf("the files %q, %v: only those of an archive are listed", report.Files, err)
	}
}

// cutShort is an archive without its end.
func cutShort(in *bytes.Reader) Input {
	all := make([]byte, in.Size())
	_, _ = in.ReadAt(all, 0)
	return bytes.NewReader(all[:700])
}

func TestBadRowsCanBeSkippedAndAreReported(t *testing.T) {
	file := ownLine(t, nil) + "\n{\"x\":\n" + ownLine(t, map[string]any{"instance_id": "b", "patch": "no"}) + "\n" + ownLine(t, nil) + "\n" + ownLine(t, map[string]any{"instance_id": "c"}) + "\n"
	set, err := Open(strings.NewReader(file), Options{SkipBad: true})
	if err != nil {
		t.Fatal(err)
	}
	report, err := set.Check()
	if err != nil {
		t.Fatal(err)
	}
	var where []string
	for _, p := range report.Skipped {
		where = append(where, p.where())
	}
	if want := []string{"line 2", "line 3: patch", "line 4: instance_id"}; !slices.Equal(where, want) || report.Skips != 3 {
		t.Errorf("skipped %q, %d rows; want %q", where, report.Skips, want)
	}
	var ids []string
	for task, err := range set.Tasks() {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, task.InstanceID)
	}
	if !slices.Equal(ids, report.IDs) || !slices.Equal(ids, []string{"pypi__shelf-1.4.2", "c"}) {
		t.Errorf("read %q, reported %q", ids, report.IDs)
	}
	all, err := Open(strings.NewReader("{}\n[]\n"), Options{SkipBad: true})
	if err == nil {
		_, err = all.Check()
	}
	if err == nil || !strings.Contains(err.Error(), "line 1: image") {
		t.Errorf("a file of bad rows alone gave %v", err)
	}
}

func TestRepositoriesOfMultiSWEBenchHaveTheirParsers(t *testing.T) {
	first, _, _ := strings.Cut(string(readTaskFile(t, "multiswebench")), "\n")
	for _, c := range []struct {
		org, repo string
		number    int
		want      string
	}{
		{"FasterXML", "jackson-core", 1, "surefire"}, {"mockito", "mockito", 1, "gradle"}, {"nlohmann", "json", 1, "ctest"},
		{"iamkun", "dayjs", 1, "jest_titles"}, {"expressjs", "express", 1, "mocha_json"}, {"expressjs", "express", 5555, "mocha"},
	} {
		file, err := Read(strings.NewReader(changeLine(t, first, map[string]any{"org": c.org, "repo": c.repo, "number": c.number})), FormatAuto)
		if err != nil || len(file.Tasks) != 1 || file.Tasks[0].LogParser != c.want {
			t.Errorf("%s/%s %d: %+v, %v", c.org, c.repo, c.number, file.Tasks, err)
		}
	}
	for repo, name := range multiRepos {
		if !knownParser(name) || repo != strings.ToLower(repo) {
			t.Errorf("%s has the parser %s", repo, name)
		}
	}
}

func TestRowsOfOtherSetsAreRefusedWithTheReason(t *testing.T) {
	change := func(name string, changes map[string]any) string {
		first, _, _ := strings.Cut(string(readTaskFile(t, name)), "\n")
		return changeLine(t, first, changes)
	}
	for line, want := range map[string]string{
		change("swebenchpro", map[string]any{"run_script.sh": nil}):                                             "run_script.sh: is missing: SWE-bench Pro's rows do not say how their tests run",
		change("swebenchpro", map[string]any{"fail_to_pass": "[f(x)]"}):                                         "fail_to_pass: is neither a list",
		change("multiswebench", map[string]any{"lang": "java"}):                                                 "log_parser: is missing: for java",
		change("multiswebench", map[string]any{"resolved_issues": []int{}}):                                     "resolved_issues: is empty",
		change("multiswebench", map[string]any{"base": "x"}):                                                    "base: is not an object with the sha",
		change("scaleswe", map[string]any{"pre_commands": "pip install x"}):                                     "pre_commands: does more than check out",
		change("swesmith", map[string]any{"FAIL_TO_PASS": []string{"TestA"}, "instance_id": "a__b.12345678.x"}): "repo: a/b is not one of SWE-smith's Python repositories",
		change("swesmith", map[string]any{"patch": "no"}):                                                       "patch: cannot be reversed: it is not a diff",
		change("swesmith", map[string]any{"problem_statement": ""}):                                             "problem_statement: is missing or empty",
		change("r2egym", map[string]any{"expected_output_json": "{\"a\": \"GOOD\"}"}):                           `expected_output_json: "GOOD" of "a" is not one of`,
		change("r2egym", map[string]any{"parsed_commit_content": "{}"}):                                         "parsed_commit_content: changes no Python file",
		change("nemotron", map[string]any{"responses_create_params": map[string]any{"input": []int{}}}):         "responses_create_params: holds no task",
		`{"responses_create_params": {}, "expected_action": {}}`:                                                "is a step to imitate, not a task",
		`{"instance_id": "a", "trajectory": []}`:                                                                "is a trajectory, not a task",
		`{"instance_dict": "{\"instance_id\": \"a\", \"repo\": \"x/y\"}"}`:                                      "instance_dict.image: is missing",
		ownLine(t, map[string]any{"fail_to_pass": []string{"a"}}):                                               "fail_to_pass: is not a field of a task; FAIL_TO_PASS is",
		ownLine(t, map[string]any{"hidden": []string{"x"}}):                                                     `hidden: "x" is not an absolute`,
	} {
		if _, err := readTasks(strings.NewReader(line), FormatAuto); err == nil || !strings.Contains(err.Error(), "line 1: "+want) && !strings.Contains(err.Error(), "line 1: "+strings.TrimPrefix(want, ": ")) {
			t.Errorf("%.90s: got %.300v, want %q", line, err, want)
		}
	}
}
