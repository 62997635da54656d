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
