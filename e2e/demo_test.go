package e2e

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/api"
)

// TestTheDemoLocalisesItsTasks runs the demo with mirrors and looks at what it left, and once more without
// mirrors.
func TestTheDemoLocalisesItsTasks(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	scripted := freeAddress(t)
	demo := func(args ...string) string {
		return l.must(t, append([]string{"demo", "--exit", "--listen", "127.0.0.1:0", "--scripted-listen", scripted, "--tasks", l.file, "--held-out", "calc__mul"}, args...)...)
	}
	said := demo("--repositories", made.mirrors)
	for _, part := range []string{"demo-localise-", "SCORE", "HITS", "successful tool calls: ", "/localisation"} {
		if !strings.Contains(said, part) {
			t.Errorf("the demo says nothing of %q:\n%s", part, said)
		}
	}
	if again := demo(); !strings.Contains(again, "No issues to localise") || strings.Contains(again, "SCORE") {
		t.Errorf("without mirrors the demo says\n%s", again)
	}
	_, cl := l.serve(t, "--no-work")
	runs, err := cl.Runs(bounded(t))
	noError(t, err)
	var localised *relabel.Run
	for i, r := range runs {
		if r.TaskKind == relabel.Localise {
			localised = &runs[i]
		}
	}
	if localised == nil {
		t.Fatalf("no run of the demo localises:\n%s", said)
	}
	report, err := cl.Localisation(bounded(t), localised.ID, api.LocalisationQuery{})
	noError(t, err)
	if len(report.Iterations) != 2 || report.Iterations[0].Score == nil || report.Iterations[0].Score.Mean != 1 || report.Iterations[0].Tasks != 2 {
		t.Errorf("the teacher does not find the functions that the issues name: %+v", report.Iterations)
	}
	answersAreSupervised(t, cl, l.data, *localised)
}

// freeAddress is a loopback address that nothing listened on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	noError(t, l.Close())
	return l.Addr().String()
}

// answersAreSupervised checks that each search of the run's export ends with the answer as a label.
func answersAreSupervised(t *testing.T, cl *session, data string, run relabel.Run) {
	t.Helper()
	exports, err := cl.Exports(bounded(t), url.Values{"run": {run.ID.String()}})
	noError(t, err)
	if len(exports) != 1 {
		t.Fatalf("%d exports of the run", len(exports))
	}
	answers := 0
	for _, row := range exportedRows(t, filepath.Join(data, "exports", exports[0].ID.String())) {
		if strings.Contains(row.Label, ".py::") && strings.Contains(row.Label, "```") {
			answers++
		}
	}
	if answers != 2 {
		t.Errorf("%d answers are labels, want those of 2 searches", answers)
	}
}
