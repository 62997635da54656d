package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/api"
)

func TestCreatingABenchmarkSaysWhatItReserves(t *testing.T) {
	b := api.BenchmarkView{Benchmark: relabel.Benchmark{Name: "all", Tasks: 6}, Reserves: &relabel.Reservation{Trainable: 5, Trajectories: 61}}
	want := "6 tasks are now reserved, in any task set: neither drawn for collection nor exported (5 were trainable, counted in each task set; 61 finished trajectories are of these tasks); " +
		"`relabel benchmark delete all` undoes that while no evaluation or sample is on it"
	if text := reservedText(b); text != want {
		t.Error(text)
	}
}

func TestErrorsAboutTasksNameWhereTheyWereGiven(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ids")
	noError(t, os.WriteFile(file, []byte("a\n\nb c\n"), 0o600))
	c := benchmarkCreate{File: file, Exclude: map[string]string{"c": "no image"}}
	noError(t, c.Validate())
	body, places, err := c.request()
	noError(t, err)
	if strings.Join(body.Instances, " ") != "a b c" || len(body.Excluded) != 1 {
		t.Errorf("%+v", body)
	}
	for field, want := range map[string]string{"instances[1]": "--file: " + file + ", line 3: is wrong", "excluded[0].instance_id": "--exclude: is wrong", "name": "name: is wrong"} {
		if got := asGiven(relabel.Errorf(relabel.CodeInvalid, "is wrong").On(field), places).Error(); got != want {
			t.Errorf("%s: %s", field, got)
		}
	}
	for _, wrong := range []benchmarkCreate{{}, {File: file, NewBenchmark: api.NewBenchmark{All: true}}, {File: file, Exclude: map[string]string{"c": ""}}, {File: file, Exclude: map[string]string{"": "x"}}} {
		if err := wrong.Validate(); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "--") {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

func TestExcludedTasksOfABenchmarkNameIt(t *testing.T) {
	want := "states of tasks that all, a benchmark or exclusion list, reserves: --allow-benchmark all would include them"
	if text := reasonText(relabel.BenchmarkReason("all")); text != want {
		t.Error(text)
	}
}

func TestAnEvaluationOnTrainedTasksSaysSo(t *testing.T) {
	e := relabel.Results{Run: "q", Kind: relabel.Evaluate, Number: 1, Student: "student@1", Trained: &relabel.TrainedTasks{Tasks: 1, Of: 2}, BenchmarkID: relabel.NewID(), Benchmark: "fromfile"}
	if text := trainedText(e); text != "q, evaluate 1 (student@1): 1 of 2 tasks was in its training" {
		t.Error(text)
	}
	with := relabel.Results{Run: "p3", Kind: relabel.Evaluate, Number: 5, Student: "base@1"}
	if text := comparedText(relabel.Comparison{Evaluation: &e, With: &with}); text != "q, evaluate 1 (student@1) minus p3, evaluate 5 (base@1) on fromfile" {
		t.Error(text)
	}
	if text := (relabel.TrainedTasks{Of: 2, Deleted: 3}).Text(); text != "0 of 2 tasks were in its training; the tasks of deleted exports (3) are unknown" {
		t.Error(text)
	}
}
