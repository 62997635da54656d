package web_test

import (
	"strings"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestARunShowsWhereItsTimeWent(t *testing.T) {
	s := start(t)
	d := storetest.Seed(t, s.store, 1)
	if page := s.get(200, "/runs/"+d.Run.ID.String()); strings.Contains(page, "Where the time went") {
		t.Error("nothing has ended, and a bar is shown")
	}
	c := storetest.Claim(t, s.store, d.Trajectories[0].ID, "w")
	s.must(s.store.RecordTime(t.Context(), c.Fence, relabel.TimeSpent{Model: 3000, Sandbox: 750, Endpoint: 250}))
	storetest.Finish(t, s.store, c, 2, true)
	page := s.get(200, "/runs/"+d.Run.ID.String())
	for _, want := range []string{"Where the time went", `<rect class="work" x="0.0" width="750.0"`, `<rect class="work" x="750.0" width="187.5"`,
		`<rect class="wait" x="937.5" width="62.5"`, "3s", "75.0%", "6.2%", "Critical-path efficiency of finished trajectories: 0.00."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<td>labels</td>") {
		t.Error("a part without time is shown")
	}
}
