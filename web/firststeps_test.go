package web_test

import (
	"strings"
	"testing"

	"relabel"
)

func TestANewcomerIsToldWhatToDoNext(t *testing.T) {
	t.Parallel()
	s := start(t)
	page := s.get(200, "/")
	contains(t, page, "No worker is running", "relabel tasks import", "relabel policy add teacher", "relabel policy add student", "relabel run create first --taskset tasks", "relabel run iterate first")
	if strings.Contains(page, "done</span>") {
		t.Error("a step is done before anything was")
	}
	contains(t, s.get(200, "/trajectories"), "No trajectories yet")
	s.must(s.store.CreateTaskset(t.Context(), relabel.Taskset{ID: relabel.NewID(), Name: "swe gym", Digest: strings.Repeat("0", 64)}, relabel.TaskList(nil)))
	page = s.get(200, "/")
	contains(t, page, `done</span> Import tasks`, `<a href="/tasks">swe gym</a>`, "--taskset &#39;swe gym&#39;")
	if strings.Contains(page, "relabel tasks import") {
		t.Error("what is done is still asked for")
	}
}
