package web_test

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/worker"
)

// TestFailureModesAreShownWithTheirTurns computes the modes of a trajectory for each way to fail:
// the run's page of modes, REST, the list and the trajectory's page show the same.
func TestFailureModesAreShownWithTheirTurns(t *testing.T) {
	t.Parallel()
	s := start(t)
	by := s.judged()
	run := "/runs/" + by["tests"].RunID.String()
	var before relabel.FailureReport
	s.must(json.Unmarshal([]byte(s.get(200, "/v1"+run+"/failures")), &before))
	if f := before.Iterations[len(before.Iterations)-1]; f.Done == 0 || f.Unclassified+f.Unverified != f.Done || f.ToolUseError.Of != 0 {
		t.Errorf("before they are computed: %+v", f)
	}
	s.get(404, "/v1/trajectories/"+by["tests"].ID.String()+"/failure")
	modes, err := worker.NewFailureModes(worker.FailureModesConfig{Store: s.store, Log: zerolog.Nop()})
	s.must(err)
	s.must(modes.RunNow(t.Context()))
	for name, want := range map[string]relabel.FailureMode{"resolved": "", "tests": relabel.ModeWrongSolution, "empty": relabel.ModeOther, "turns": relabel.ModeBudget, "endpoint": ""} {
		tr, err := s.store.FindTrajectory(t.Context(), by[name].ID)
		s.must(err)
		if tr.FailureMode != want {
			t.Errorf("%s: %q, not %q", name, tr.FailureMode, want)
		}
	}
	var report relabel.FailureReport
	s.must(json.Unmarshal([]byte(s.get(200, "/v1"+run+"/failures")), &report))
	f := report.Iterations[len(report.Iterations)-1]
	sum := func(counts []relabel.FailureCount) (n int) {
		for _, c := range counts {
			n += c.Count
			if c.Of > 0 && (*c.Low > *c.Share || *c.High < *c.Share) {
				t.Errorf("an interval without its share: %+v", c)
			}
		}
		return n
	}
	if f.Unclassified != 0 || sum(f.Unresolved)+sum(f.NoSubmission)+f.Resolved.Count+f.Unverified != f.Done {
		t.Errorf("the partitions do not add up: %+v", f)
	}
	contains(t, s.get(200, run+"/failures"), "repetitive loop", "budget exhausted", "failure_mode=budget", "submitted and unresolved")
	contains(t, s.get(200, run), run+"/failures")
	s.listsAsManyAs(f.ToolUseError.Count, s.get(200, run+"/failures"))
	var disagreements relabel.DisagreementReport
	s.must(json.Unmarshal([]byte(s.get(200, "/v1"+run+"/disagreements")), &disagreements))
	if d := disagreements.Iterations[len(disagreements.Iterations)-1]; d.Differ.Count != 6 || d.Differ.Of != 18 || len(d.Pairs) != 1 || d.Pairs[0] != (relabel.PhasePair{Student: relabel.PhaseTest, Teacher: relabel.PhaseExplore, Turns: 6}) {
		t.Errorf("six done trajectories with one turn of three that differs: %+v", d)
	}
	contains(t, s.get(200, run+"/failures"), "test → explore: 6", "execute_bash")
	if d := disagreements.Iterations[len(disagreements.Iterations)-1]; len(d.ToolPairs) != 1 || d.ToolPairs[0] != (relabel.ToolPair{Student: "execute_bash", Teacher: "execute_bash", Turns: 6}) {
		t.Errorf("pairs of tools: %+v", d.ToolPairs)
	}
	contains(t, s.get(200, run+"/failures"), "<code>execute_bash</code> → <code>execute_bash</code>: 6", run+"/failures.csv")
	contains(t, s.get(200, run+"/failures.csv"), "among,what,count", ",no submission,loop,", ",computed,")
	contains(t, s.get(200, run+"/failures.csv?of=disagreements"), ",tool_pair,execute_bash,execute_bash,6,")
	s.get(400, run+"/failures.csv?of=x")
	budget := by["turns"].ID.String()
	contains(t, s.get(200, "/trajectories/"+budget), "budget exhausted", "all turns were used at turn <a href=\"#t3\">3</a>")
	list := s.get(200, "/trajectories?failure_mode=budget")
	if !strings.Contains(list, budget) || strings.Contains(list, by["tests"].ID.String()) {
		t.Error("the list of a mode has others, or lacks its own")
	}
}

var toolUseLink = regexp.MustCompile(`href="/trajectories(\?[^"]*tool_use_error[^"]*)"`)

// listsAsManyAs checks that the link of the page's cell of tool-use errors lists that many trajectories, which
// are fewer than those with such an error.
func (s *site) listsAsManyAs(want int, page string) {
	s.t.Helper()
	link := toolUseLink.FindStringSubmatch(page)
	if link == nil || want == 0 {
		s.t.Fatalf("the page has %d trajectories with tool-use errors, and the link %q", want, link)
	}
	total := func(query string) (list relabel.TrajectoryPage) {
		s.must(json.Unmarshal([]byte(s.get(200, "/v1/trajectories"+query)), &list))
		return list
	}
	query := html.UnescapeString(link[1])
	listed, all := total(query).Total, total(strings.Replace(query, "unresolved", "true", 1)).Total
	if listed != want || all <= listed {
		s.t.Errorf("%s lists %d of %d trajectories, and its cell says %d", query, listed, all, want)
	}
}
