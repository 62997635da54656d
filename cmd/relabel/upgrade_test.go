package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

// dumpedPlace is a place whose database is of an earlier version. Two of its
// trajectories pass and were not submitted.
func dumpedPlace(t *testing.T) place {
	t.Helper()
	return place{data: t.TempDir(), database: storetest.Dumped(t)}
}

// fetched is the body of a page, which must be there.
func fetched(t *testing.T, cl *client, path string) string {
	t.Helper()
	res, err := http.Get(cl.base + path)
	noError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	noError(t, err)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s\n%s", path, res.Status, body)
	}
	return string(body)
}

// TestWhatWasNeverSubmittedIsResolvedNowhere opens the database of an earlier version,
// which called every passing patch resolved, and asks every surface.
func TestWhatWasNeverSubmittedIsResolvedNowhere(t *testing.T) {
	t.Parallel()
	p := dumpedPlace(t)
	said := p.must(t, "export", "start", "demo-dagger-3f722383", "--aggregated", "--resolved") // builds it itself: no server runs yet
	if !strings.Contains(said, "not_resolved") {
		t.Errorf("an export of resolved trajectories leaves none out:\n%s", said)
	}
	_, cl := p.serve(t, "--no-work")
	ctx := bounded(t)
	unsubmitted := map[relabel.ID]relabel.Trajectory{}
	all, err := list[relabel.Trajectory](ctx, cl, "/v1/trajectories?resolved=false&verdict=passed")
	noError(t, err)
	for _, tr := range all {
		unsubmitted[tr.ID] = tr
		if *tr.Resolved || !*tr.Passed || *tr.Submitted || tr.EndReason == relabel.EndFinish {
			t.Errorf("REST lists %+v as passing and not submitted", tr)
		}
		page := fetched(t, cl, "/trajectories/"+tr.ID.String())
		if !strings.Contains(page, "passes, not submitted") || strings.Contains(page, "✓</span> resolved") {
			t.Errorf("the page of %s calls it resolved", tr.ID)
		}
	}
	if len(unsubmitted) != 2 {
		t.Fatalf("%d trajectories pass and were not submitted", len(unsubmitted))
	}
	for _, tr := range unsubmitted {
		neverResolved(t, p, cl, tr)
	}
}

// neverResolved holds the lists and sums of an unsubmitted trajectory's iteration to it.
func neverResolved(t *testing.T, p place, cl *client, tr relabel.Trajectory) {
	t.Helper()
	var it struct{ Progress relabel.Progress }
	noError(t, cl.get(bounded(t), "/v1/iterations/"+tr.IterationID.String(), &it))
	if it.Progress.Resolved+it.Progress.PassedUnsubmitted > it.Progress.Verified || it.Progress.PassedUnsubmitted == 0 {
		t.Errorf("REST sums %+v", it.Progress)
	}
	list := p.must(t, "trajectory", "list", "--iteration", tr.IterationID.String(), "--resolved", "true")
	if strings.Contains(list, tr.ID.String()) || strings.Count(list, "\n") != it.Progress.Resolved+1 {
		t.Errorf("trajectory list --resolved true:\n%s", list)
	}
	show := p.must(t, "run", "show", tr.RunID.String())
	if want := fmt.Sprintf("%d of %d", it.Progress.Resolved, it.Progress.Verified); !strings.Contains(show, want) || !strings.Contains(show, "PASSED ONLY") {
		t.Errorf("run show does not say %s:\n%s", want, show)
	}
	page := fetched(t, cl, "/trajectories?resolved=true&iteration="+tr.IterationID.String())
	if strings.Contains(page, tr.ID.String()) {
		t.Errorf("the page of resolved trajectories lists %s", tr.ID)
	}
	if page := fetched(t, cl, "/iterations/"+tr.IterationID.String()); !strings.Contains(page, fmt.Sprintf("%d of %d (", it.Progress.Resolved, it.Progress.Verified)) {
		t.Error("the iteration's page has another sum")
	}
}
