package web_test

import (
	"strings"
	"testing"

	"relabel"
)

func TestThePageOfOverlapsNamesWhatTasksHaveInCommon(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.verified()
	train := relabel.Taskset{ID: relabel.NewID(), Name: "train", Digest: strings.Repeat("2", 64)}
	patch := "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n+value = compute(first, second, third, fourth) + offset\n"
	s.must(s.store.CreateTaskset(s.t.Context(), train, relabel.TaskList([]relabel.Task{
		{InstanceID: "DJANGO__django-00", Repo: "x/y", Image: "i", Workdir: "/w", ProblemStatement: "It fails.", Patch: patch},
		{InstanceID: "twin<b>", Repo: "x/y", Image: "i", Workdir: "/w", ProblemStatement: "It fails.", Patch: patch},
		{InstanceID: "own", Repo: "pytest-dev/pytest", Image: "i", Workdir: "/w", ProblemStatement: "It fails."},
	})))
	s.post(201, "/v1/benchmarks", `{"name": "verified", "taskset": "`+set.ID.String()+`", "all": true}`, nil)
	s.post(201, "/v1/exclusions", `{"name": "lis<t>", "entries": ["https://github.com/pytest-dev/pytest.git"]}`, nil)
	page := s.get(200, "/tasks/"+train.ID.String()+"/overlaps")
	contains(t, page, "3 overlaps, 3 tasks", "<td>DJANGO__django-00</td><td>instance</td><td>verified</td><td>django__django-00</td>",
		"<td>own</td><td>repository</td><td>lis&lt;t&gt;</td><td>https://github.com/pytest-dev/pytest.git</td>",
		"<td>DJANGO__django-00</td><td>patch</td><td>train</td><td>twin&lt;b&gt;</td><td>1.00, ")
	contains(t, s.get(400, "/tasks/"+train.ID.String()+"/overlaps?threshold=2"), "is not a number from 0.01 to 1")
}
