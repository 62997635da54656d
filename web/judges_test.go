package web_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/judge"
	"relabel/worker"
)

// TestJudgementsAreShownBesideComputedModes judges two trajectories: the page of modes has the progress, the
// judged counts and the agreement, a trajectory's page has the judgement with its turns, lists filter by it.
func TestJudgementsAreShownBesideComputedModes(t *testing.T) {
	t.Parallel()
	s := start(t)
	by := s.judged()
	modes, err := worker.NewFailureModes(worker.FailureModesConfig{Store: s.store, Log: zerolog.Nop()})
	s.must(err)
	s.must(modes.RunNow(t.Context()))
	ctx, run := t.Context(), by["tests"].RunID
	page := "/runs/" + run.String() + "/failures"
	p, err := s.store.CreatePolicy(ctx, relabel.Policy{Name: "the-judge", BaseURL: "http://127.0.0.1:9/v1", Model: "m", Server: relabel.ServerOpenAI,
		Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits, Price: &relabel.Price{Input: 1, Output: 1, Currency: "EUR"}})
	s.must(err)
	contains(t, s.get(200, "/runs/"+run.String()+"/judgings?policy=the-judge"), "tokens to send", "EUR", `name="modes"`)
	sel := relabel.JudgeSelection{RunID: run, Modes: []relabel.FailureMode{relabel.ModeWrongSolution, relabel.ModeBudget}}
	s.must(s.store.StartJudging(ctx, sel, p.ID, judge.Prompt(true), 0))
	contains(t, s.get(200, page), "judgings are queued or running", "Cancel judging…")
	said := map[relabel.ID]relabel.Judgement{}
	for {
		c, err := s.store.ClaimJudging(ctx, "w", 1e12)
		if relabel.CodeOf(err) == relabel.CodeNotFound {
			break
		}
		s.must(err)
		j := relabel.Judgement{Outcome: relabel.Judged, Mode: relabel.ModeLoop, ToolUseError: new(true), Explanation: "It <b>repeats</b> itself.", Turns: []int{2}, HiddenTurns: 7, Answers: 1}
		if *c.Evidence.Trajectory.Submitted {
			j.Mode = relabel.ModeWrongFile
			j.ToolUseError = new(false)
		}
		s.must(s.store.FinishJudging(ctx, c.JudgeFence, j))
		said[c.Evidence.Trajectory.ID] = j
	}
	s.must(s.store.StartJudging(ctx, sel, p.ID, judge.Prompt(false), 0))
	c, err := s.store.ClaimJudging(ctx, "w", 1e12)
	s.must(err)
	s.must(s.store.FailJudging(ctx, c.JudgeFence, "no such model"))
	contains(t, s.get(200, page), "<li>1 × no such model</li>")
	tests, budget := by["tests"].ID, by["turns"].ID
	if said[tests].Mode != relabel.ModeWrongFile || said[budget].Mode != relabel.ModeLoop {
		t.Fatalf("judged %+v", said)
	}
	contains(t, s.get(200, page), "Judged by the-judge@1", "wrong solution → wrong file: ", "budget exhausted → repetitive loop: ", "judged_mode=loop", judge.Prompt(true).Hash)
	var report relabel.FailureReport
	s.must(json.Unmarshal([]byte(s.get(200, "/v1"+page)), &report))
	if len(report.Judges) != 1 || report.Judges[0].PolicyID != p.ID || report.Judges[0].Agreements[0].Equal.Count != 0 || report.Judges[0].Agreements[0].Equal.Of == 0 {
		t.Errorf("%+v", report.Judges)
	}
	contains(t, s.get(200, "/trajectories/"+tests.String()), `the-judge@1 judged <b class="flag">wrong file</b>, which decides by`, `at turn <a href="#t2">2</a>: It &lt;b&gt;repeats&lt;/b&gt; itself.`, "7 turns were not shown to the judge")
	if text := s.get(200, "/trajectories/"+budget.String()); !strings.Contains(text, "repetitive loop") || strings.Contains(text, "decides by") {
		t.Error("a judged mode decides over a computed fact")
	}
	const saw = "saw a tool-use error"
	contains(t, s.get(200, "/trajectories/"+budget.String()), saw)
	if strings.Contains(s.get(200, "/trajectories/"+tests.String()), saw) {
		t.Error("a trajectory without a judged tool-use error shows one")
	}
	list := s.get(200, "/trajectories?judged_mode=loop")
	if !strings.Contains(list, budget.String()) || strings.Contains(list, tests.String()) {
		t.Error("the list of a judged mode has others, or lacks its own")
	}
}
