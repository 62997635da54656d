package web

import (
	"context"
	"strings"

	"relabel"
)

// firstStep is a step to the first run, with its command.
type firstStep struct {
	Does, Command  string
	Done           bool
	Link, LinkText string // to what there is of it, when it is done
}

// firstSteps lead from an empty database to the first iteration. Steps that are done are marked,
// and commands name existing tasksets and policies.
func (v *viewer) firstSteps(ctx context.Context) ([]firstStep, error) {
	tasksets, _, err := v.Store.ListTasksets(ctx, relabel.Page{Limit: 1})
	if err != nil {
		return nil, err
	}
	policies, _, err := v.Store.ListPolicies(ctx, relabel.Page{Limit: 20})
	if err != nil {
		return nil, err
	}
	tasks := firstStep{Does: "Import tasks from SWE-bench, SWE-Gym or your own", Command: "relabel tasks import tasks.jsonl"}
	taskset := "tasks"
	if len(tasksets) > 0 {
		taskset = tasksets[0].Name
		tasks.Done, tasks.Link, tasks.LinkText = true, "/tasks", taskset
	}
	models := firstStep{Does: "Register the endpoints of a teacher and of the student",
		Command: "relabel policy add teacher --base-url https://teacher.example/v1 --model MODEL --secret teacher\nrelabel policy add student --base-url http://gpu-7:8000/v1 --model checkpoint-0 --server-kind vllm"}
	var names []string
	for _, p := range policies {
		names = append(names, p.Name)
	}
	teacher, student := "teacher", "student"
	if len(names) > 1 {
		teacher, student = "TEACHER", "STUDENT"
		models.Done, models.Link, models.LinkText = true, "/policies", strings.Join(names, ", ")
	}
	return []firstStep{tasks, models,
		{Does: "Create a run: what to collect, with which teacher", Command: "relabel run create first --taskset " + word(taskset) + " --teacher " + teacher},
		{Does: "Start its first iteration, on the run’s page or with", Command: "relabel run iterate first --student " + student + " --count 16"},
	}, nil
}
