package web_test

import (
	"strings"
	"testing"
)

func TestDeletingARunSaysFirstWhatGoes(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("demo", "s")
	page := s.get(200, "/runs/"+s.run.ID.String()+"/delete")
	for _, part := range []string{"1 iterations", "1 trajectories", "files that exports wrote", "cannot be deleted now", "curl -X DELETE"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}

func TestARunThatIsBeingDeletedSaysSo(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("demo", "s")
	if _, err := s.store.CancelRun(t.Context(), s.run.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.store.BeginDeletion(t.Context(), s.run.ID); err != nil {
		t.Fatal(err)
	}
	if page := s.get(200, "/"); !strings.Contains(page, "being deleted") {
		t.Error("the list of runs does not say so")
	}
	page := s.get(200, "/runs/"+s.run.ID.String())
	if !strings.Contains(page, "being deleted") || strings.Contains(page, "Start an iteration…") {
		t.Error("the run's page does not say so, or offers work")
	}
	if page := s.get(200, "/runs/"+s.run.ID.String()+"/delete"); !strings.Contains(page, "being deleted already") {
		t.Error("the page does not show that the run is being deleted")
	}
}
