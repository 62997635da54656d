package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"relabel"
	"relabel/api"
	"relabel/safetext"
	"relabel/web/chart"
)

func (v *viewer) createBenchmark(r *http.Request, chosen url.Values) (operation, error) {
	tasksets, err := v.tasksetNames(r.Context(), offeredNames)
	if err != nil {
		return operation{}, err
	}
	filled, err := excludedByLine(chosen)
	if err != nil {
		return operation{}, err
	}
	body := api.NewBenchmark{}
	if err := (form{chosen: filled}).read(&body); err != nil {
		return operation{}, err
	}
	if len(tasksets) > 0 {
		body.Taskset = cmp.Or(body.Taskset, tasksets[0])
	}
	note, err := v.benchmarkNote(r.Context(), body)
	return operation{Title: "Create a benchmark", Verb: "Create", Back: "/benchmarks", Done: madeAt("/benchmarks/"), Call: call{http.MethodPost, "/v1/benchmarks", body},
		Notes: []string{note, "A benchmark never changes. None of its tasks is drawn for collection or exported afterwards, in any task set, unless that is allowed."},
		Fields: form{chosen: chosen}.fields(body, map[string]func(*operationField){
			"taskset":   with(tasksets, body.Taskset),
			"all":       func(f *operationField) { f.Label = "All tasks" },
			"tasks":     func(f *operationField) { f.Label = "Tasks to draw" },
			"instances": func(f *operationField) { f.Help += " One instance id per line." },
			"excluded":  func(f *operationField) { f.Help += " One per line: INSTANCE=REASON." },
		})}, err
}

// deleteBenchmark deletes a benchmark, which then reserves nothing.
func (v *viewer) deleteBenchmark(r *http.Request, b relabel.Benchmark, _ url.Values) (operation, error) {
	reserves, err := v.Store.CountReserved(r.Context(), b.ID)
	o := remove("/benchmarks/"+b.ID.String(), "Delete benchmark "+benchmarkWord(b.Name, b.ID), "Delete permanently",
		fmt.Sprintf("It reserves its tasks no longer: %s that are not held out, counted in each task set, and %s finished trajectories for training.", chart.Grouped(int64(reserves.Trainable)), chart.Grouped(int64(reserves.Trajectories))),
		"It cannot be deleted while an evaluation or a sample is on it.")
	o.Done = func([]byte) string { return "/benchmarks" }
	return o, err
}

// excludedByLine replaces lines INSTANCE=REASON in the field excluded with their JSON, which may be
// given directly.
func excludedByLine(chosen url.Values) (url.Values, error) {
	text := strings.TrimSpace(strings.Join(chosen["excluded"], "\n"))
	if text == "" || strings.HasPrefix(text, "[") {
		return chosen, nil
	}
	var excluded []relabel.ExcludedTask
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		instance, reason, found := strings.Cut(line, "=")
		if instance, reason = strings.TrimSpace(instance), strings.TrimSpace(reason); !found || instance == "" || reason == "" {
			return nil, relabel.Errorf(relabel.CodeInvalid, "has the line %.100q: give INSTANCE=REASON", safetext.Plain(line)).On("excluded")
		}
		excluded = append(excluded, relabel.ExcludedTask{InstanceID: instance, Reason: reason})
	}
	asJSON, err := json.Marshal(excluded)
	filled := maps.Clone(chosen)
	filled["excluded"] = []string{string(asJSON)}
	return filled, err
}

// benchmarkNote says how many tasks the chosen selection has.
func (v *viewer) benchmarkNote(ctx context.Context, b api.NewBenchmark) (string, error) {
	set, err := v.findTaskset(ctx, b.Taskset)
	switch {
	case b.Taskset == "":
		return "There is no task set yet: import one first.", nil
	case relabel.CodeOf(err) == relabel.CodeNotFound:
		return "", relabel.Errorf(relabel.CodeInvalid, "no task set has this id or name").On("taskset")
	case err != nil:
		return "", err
	}
	n := -len(b.Excluded)
	switch {
	case len(b.Instances) > 0:
		n += len(b.Instances)
	case b.HeldOut:
		n += set.HeldOut
	case b.All:
		n += set.Tasks
	case b.Tasks > 0:
		n = b.Tasks
	default:
		return fmt.Sprintf("Select tasks of %s in one way: instances, held out, all, or a number to draw. It has %s tasks, %s of them held out.",
			set.Name, chart.Grouped(int64(set.Tasks)), chart.Grouped(int64(set.HeldOut))), nil
	}
	return fmt.Sprintf("Stores %s of the %s tasks of %s.", chart.Grouped(int64(n)), chart.Grouped(int64(set.Tasks)), set.Name), nil
}
