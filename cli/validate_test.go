package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"relabel"
)

// validator validates tasks without containers: by the first letter of their instance ids, a task is sound, flaky or
// broken. It ends the context after some tasks.
type validator struct {
	mu     sync.Mutex
	calls  []string
	after  int // tasks after which cancel is called; 0: never
	cancel func()
}

func (v *validator) ports() *Ports {
	return &Ports{OpenValidation: func(context.Context, DockerFlags) (ValidateTask, func() error, error) {
		return v.validate, func() error { return nil }, nil
	}}
}

func (v *validator) validate(ctx context.Context, task relabel.Task, o ValidateOptions) (relabel.Validation, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.after > 0 && len(v.calls) == v.after {
		v.cancel()
		return relabel.Validation{}, ctx.Err()
	}
	v.calls = append(v.calls, task.InstanceID)
	verdict := func(failed ...string) relabel.Verdict {
		r := relabel.Verdict{Passed: len(failed) == 0, Reason: relabel.VerdictTestsPassed, Tests: map[string]relabel.TestStatus{}, Output: []byte("log of " + task.InstanceID), Millis: 5}
		for _, test := range append(append([]string{}, task.FailToPass...), task.PassToPass...) {
			r.Tests[test] = relabel.TestPassed
		}
		for _, test := range failed {
			r.Tests[test], r.Reason = relabel.TestFailed, relabel.VerdictTests
		}
		return r
	}
	mend := task.FailToPass[0]
	gold := []relabel.Verdict{verdict(), verdict()}
	switch task.InstanceID[0] {
	case 'f':
		gold[1] = verdict("waver")
	case 'b':
		gold[0], gold[1] = verdict(mend), verdict(mend)
	}
	return relabel.Assess(task, o.Times, o.VerifySeconds, gold, []relabel.Verdict{verdict(mend), verdict(mend)}), nil
}

// writeTasks writes a file with a task for each instance id and blank lines between them.
func writeTasks(t *testing.T, instances ...string) (path string, lines []string) {
	t.Helper()
	for _, instance := range instances {
		lines = append(lines, `{"instance_id":"`+instance+`","repo":"o/r","image":"i:1","workdir":"/w","problem_statement":"p","patch":"diff --git a/x b/x\n",`+
			`"test_cmd":"pytest -rA","log_parser":"pytest","FAIL_TO_PASS":["mend"],"PASS_TO_PASS":["keep","waver"],  "base_commit":""}`)
	}
	path = filepath.Join(t.TempDir(), "tasks.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, lines
}

func TestAValidationContinuesWhereItStopped(t *testing.T) {
	path, _ := writeTasks(t, "sound-1", "broken-1", "sound-2", "sound-3")
	ctx, cancel := context.WithCancel(context.Background())
	first := &validator{after: 2, cancel: cancel}
	c := &TasksValidate{File: path, Times: 2, Jobs: 1, VerifySeconds: 60}
	err := c.Run(ctx, first.ports())
	if !errors.Is(err, context.Canceled) || !strings.Contains(Message(err), "2 of 4 tasks have a result; the same command continues") {
		t.Fatalf("%v", err)
	}
	journal := filepath.Join(path+".validation", "results.jsonl")
	file, err := os.OpenFile(journal, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = file.WriteString(`{"digest":"torn`) // as a crash leaves it
	_ = file.Close()

	second := &validator{}
	if err := c.Run(context.Background(), second.ports()); !errors.Is(err, ErrSomeFailed) {
		t.Fatal(err)
	}
	if got := strings.Join(second.calls, " "); got != "sound-2 sound-3" {
		t.Errorf("the second command validates %s", got)
	}
	third := &validator{}
	if err := c.Run(context.Background(), third.ports()); !errors.Is(err, ErrSomeFailed) || len(third.calls) > 0 {
		t.Errorf("the third command validates %v: %v", third.calls, err)
	}
	text, _ := os.ReadFile(journal)
	if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); len(lines) != 4 {
		t.Errorf("the journal has %d lines:\n%s", len(lines), text)
	}
	packed, err := os.ReadFile(filepath.Join(path+".validation", "logs", "broken-1-empty-2.log.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if log, err := relabel.UnpackLog(packed); err != nil || string(log) != "log of broken-1" {
		t.Errorf("the log is %q: %v", log, err)
	}
	more := &validator{}
	c.Times = 3
	if err := c.Run(context.Background(), more.ports()); !errors.Is(err, ErrSomeFailed) || len(more.calls) != 4 {
		t.Errorf("with more runs it validates %v: %v", more.calls, err)
	}
}

func TestTheSoundLinesAreWrittenAsTheyAre(t *testing.T) {
	path, lines := writeTasks(t, "sound-1", "flaky-1", "broken-1", "sound-2")
	to := filepath.Join(t.TempDir(), "sound.jsonl")
	c := &TasksValidate{File: path, Times: 2, Jobs: 2, VerifySeconds: 60, Sound: to}
	if err := c.Run(context.Background(), (&validator{}).ports()); !errors.Is(err, ErrSomeFailed) {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(to); string(text) != lines[0]+"\n"+lines[3]+"\n" {
		t.Errorf("%s", text)
	}
	c.DropFlaky = true
	if err := c.Run(context.Background(), (&validator{}).ports()); !errors.Is(err, ErrSomeFailed) {
		t.Fatal(err)
	}
	tasks, err := ReadTaskFile(to)
	if err != nil || len(tasks) != 3 || len(tasks[1].FailToPass) != 1 || len(tasks[1].PassToPass) != 1 || tasks[1].PassToPass[0] != "keep" {
		t.Errorf("%+v, %v", tasks, err)
	}
}

func TestTheSoundTasksOfOtherFilesAreWrittenAsLines(t *testing.T) {
	_, lines := writeTasks(t, "sound-1", "flaky-1", "broken-1", "sound-2")
	dir := t.TempDir()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = zip.Write([]byte(strings.Join(lines[2:], "\n")))
	_ = zip.Close()
	array := "[\n" + strings.ReplaceAll(strings.Join(lines[:2], ",\n"), `,"repo"`, ",\n  \"repo\"") + "\n]"
	for name, content := range map[string]string{"a.json": array, "b.jsonl.gz": packed.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(t.TempDir(), "sound.jsonl")
	c := &TasksValidate{File: dir, Times: 2, Jobs: 2, VerifySeconds: 60, Sound: to, DropFlaky: true}
	if err := c.Run(context.Background(), (&validator{}).ports()); !errors.Is(err, ErrSomeFailed) {
		t.Fatal(err)
	}
	tasks, err := ReadTaskFile(to)
	if err != nil || len(tasks) != 3 || tasks[0].InstanceID != "sound-1" || len(tasks[1].PassToPass) != 1 || tasks[2].InstanceID != "sound-2" {
		t.Errorf("%+v, %v", tasks, err)
	}
	if text, _ := os.ReadFile(to); !strings.HasSuffix(string(text), "\n"+lines[3]+"\n") || strings.Count(string(text), "\n") != 3 {
		t.Errorf("%s", text)
	}
}

func TestFlakyTestsAreDroppedFromListsOfBothForms(t *testing.T) {
	line := `{"instance_id":"a","mine": 1.50,"FAIL_TO_PASS":"[\"mend\"]","PASS_TO_PASS":"[\"keep\", \"waver\"]"}`
	got, err := withoutTests([]byte(line), []relabel.FlakyTest{{Test: "waver"}})
	if want := `{"FAIL_TO_PASS":"[\"mend\"]","PASS_TO_PASS":"[\"keep\"]","instance_id":"a","mine":1.50}`; err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := withoutTests([]byte(line), []relabel.FlakyTest{{Test: "elsewhere"}}); err == nil {
		t.Error("a test that is in no list is dropped")
	}
}

func TestOneValidationAtATimeWritesItsResults(t *testing.T) {
	dir := t.TempDir()
	r, err := openResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openResults(dir); relabel.CodeOf(err) != relabel.CodeConflict {
		t.Errorf("a second one opens it: %v", err)
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	if r, err = openResults(dir); err != nil {
		t.Fatal(err)
	}
	_ = r.close()
}

func TestValidateRefusesOptionsThatDoNotFit(t *testing.T) {
	for flag, c := range map[string]TasksValidate{
		"--times":          {File: "f", Times: 11, Jobs: 1, VerifySeconds: 1},
		"--jobs":           {File: "f", Times: 1, VerifySeconds: 1},
		"--sound":          {Taskset: "s", Sound: "x", Times: 1, Jobs: 1, VerifySeconds: 1},
		"--exclude-broken": {File: "f", ExcludeBroken: true, Times: 1, Jobs: 1, VerifySeconds: 1},
		"--drop-flaky":     {File: "f", DropFlaky: true, Times: 1, Jobs: 1, VerifySeconds: 1},
		"either":           {Times: 1, Jobs: 1, VerifySeconds: 1},
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

func TestTheNumberOfExpectedTestsIsShown(t *testing.T) {
	lists := relabel.Task{InstanceID: "lists", FailToPass: []string{"a"}, PassToPass: []string{"b", "c"}}
	exact := relabel.Task{InstanceID: "exact", Expected: map[string]relabel.TestStatus{"a": relabel.TestPassed, "b": relabel.TestFailed, "c": relabel.TestPassed}}
	found := map[string]relabel.Validation{}
	if lines := validationTable([]relabel.Task{lists}, found).lines; strings.Contains(lines[0], "EXPECTED") {
		t.Errorf("without expected tests: %q", lines)
	}
	lines := validationTable([]relabel.Task{lists, exact}, found).lines
	if !strings.Contains(lines[0], "FAIL_TO_PASS\tPASS_TO_PASS\tEXPECTED\tFLAKY") || !strings.Contains(lines[1], "\t1\t2\t0\t") || !strings.Contains(lines[2], "\t0\t0\t3\t") {
		t.Errorf("the table is %q", lines)
	}
}
