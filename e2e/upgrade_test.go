package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

// dumpedPlace is a place whose database is of an earlier version. Two of its
// trajectories pass and were not submitted.
func dumpedPlace(t *testing.T) place {
	t.Helper()
	return place{data: t.TempDir(), database: storetest.Dumped(t, 3)}
}

// fetched is the body of a page, which must be there.
func fetched(t *testing.T, cl *session, path string) string {
	t.Helper()
	res, err := http.Get(cl.Base + path)
	noError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	noError(t, err)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s\n%s", path, res.Status, body)
	}
	return string(body)
}

// TestAPatchThatWasNeverSubmittedIsNotResolved opens the database of an earlier version,
// which called every passing patch resolved, and asks every surface.
func TestAPatchThatWasNeverSubmittedIsNotResolved(t *testing.T) {
	t.Parallel()
	p := dumpedPlace(t)
	said := p.must(t, "export", "start", "demo-dagger-3f722383", "--aggregated", "--resolved") // builds it itself: no server runs yet
	if !strings.Contains(said, "not_resolved") {
		t.Errorf("an export of resolved trajectories leaves none out:\n%s", said)
	}
	_, cl := p.serve(t, "--no-work")
	ctx := bounded(t)
	unsubmitted := map[relabel.ID]relabel.Trajectory{}
	all, err := cl.Trajectories(ctx, url.Values{"resolved": {"false"}, "verdict": {"passed"}})
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

// TestAStudentThatNeverFinishesResolvesNothing has patches that pass of rollouts that ran
// out of turns.
func TestAStudentThatNeverFinishesResolvesNothing(t *testing.T) {
	t.Parallel()
	p := place{data: t.TempDir(), database: storetest.Schema(t)}
	s := storetest.Open(t, p.database)
	ctx := bounded(t)
	noError(t, s.Migrate(ctx))
	d := storetest.Seed(t, s, 2)
	for _, tr := range d.Trajectories {
		c := storetest.Claim(t, s, tr.ID, "w")
		noError(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, new(storetest.Received(c.Teacher.ID, "label")))))
		noError(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndMaxTurns, Patch: []byte("diff --git a/a b/a\n")}))
		noError(t, s.BeginVerifying(ctx, c.Fence))
		noError(t, s.Finish(ctx, c.Fence, relabel.Verdict{Passed: true, Reason: relabel.VerdictTestsPassed, Protections: relabel.ProtectionsVersion}))
	}
	_, cl := p.serve(t, "--no-work")
	var over relabel.Overview
	noError(t, cl.get(ctx, "/v1/overview", &over))
	if over.Total.Resolved != 0 || over.Total.PassedUnsubmitted != 2 || over.Total.Verified != 2 {
		t.Errorf("the overview sums %+v", over.Total)
	}
	for _, tr := range d.Trajectories {
		noError(t, cl.get(ctx, "/v1/trajectories/"+tr.ID.String(), &tr))
		if *tr.Resolved || !*tr.Passed || tr.EndReason != relabel.EndMaxTurns {
			t.Errorf("%+v", tr)
		}
		neverResolved(t, p, cl, tr)
	}
	if show := p.must(t, "run", "show", d.Run.ID.String()); !strings.Contains(show, "0 of 2") {
		t.Errorf("run show:\n%s", show)
	}
}

// neverResolved holds the lists and sums of an unsubmitted trajectory's iteration to it.
func neverResolved(t *testing.T, p place, cl *session, tr relabel.Trajectory) {
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

// TestAnExportCanRequireVerdictsOfTheCurrentProtections exports by verdict: the manifest
// counts the versions, and older verdicts are excluded on demand.
func TestAnExportCanRequireVerdictsOfTheCurrentProtections(t *testing.T) {
	t.Parallel()
	p := dumpedPlace(t)
	s := storetest.Open(t, p.database)
	noError(t, s.Migrate(bounded(t)))
	said, code := p.command(t, "export", "start", "demo-dagger-3f722383", "--aggregated", "--verdict-protections", "newest")
	if code == 0 || !strings.Contains(said, "verdict_outdated") {
		t.Errorf("no verdict is of the present protections, and yet [%d]:\n%s", code, said)
	}
	_, err := s.Pool().Exec(bounded(t), `UPDATE trajectories SET protections = $1 WHERE id IN (SELECT tr.id FROM trajectories tr JOIN iterations it ON it.id = tr.iteration_id
		JOIN runs ru ON ru.id = tr.run_id WHERE ru.name = 'demo-dagger-3f722383' AND it.kind = 'collect' AND tr.resolved ORDER BY tr.id LIMIT 3)`, relabel.ProtectionsVersion)
	noError(t, err)
	present := fmt.Sprint(relabel.ProtectionsVersion)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--verdict-protections", "newest"}, `{"` + present + `":3}`},
		{[]string{"--resolved"}, `{"0":10,"` + present + `":3}`},
		{nil, "null"},
	} {
		p.must(t, append([]string{"export", "start", "demo-dagger-3f722383", "--aggregated"}, c.args...)...)
		exports, _, err := s.ListExports(bounded(t), relabel.ExportFilter{}, relabel.Page{Limit: 1})
		noError(t, err)
		text, err := os.ReadFile(filepath.Join(exports[0].Directory, "manifest.json"))
		noError(t, err)
		var m relabel.Manifest
		noError(t, json.Unmarshal(text, &m))
		got, err := json.Marshal(m.VerdictProtections)
		noError(t, err)
		if string(got) != c.want || c.args == nil && exports[0].Excluded["verdict_outdated"] != 0 {
			t.Errorf("%v: the manifest counts %s, not %s; left out %v", c.args, got, c.want, exports[0].Excluded)
		}
	}
	if said, code := p.command(t, "export", "start", "demo-dagger-3f722383", "--verdict-protections", "99"); code == 0 || !strings.Contains(said, "verdict") {
		t.Errorf("[%d] %s", code, said)
	}
}
