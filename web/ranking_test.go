package web_test

import (
	"html"
	"strings"
	"testing"

	"relabel"
	"relabel/chat"
	"relabel/store/storetest"
	"relabel/web/webtest"
)

// searchedFor takes a trajectory to done with the calls of a search, the answer and its score.
func searchedFor(t *testing.T, s *site, c relabel.Claim, verdict relabel.Verdict) {
	t.Helper()
	seen := []relabel.Observation{
		{Tool: "GetRepoStructure", Content: "lib/\n  deep.py\na.py\n"},
		{Tool: "SearchFunction", Content: "a.py, lines 3-4:\n3\tdef f(x):\n4\t    return x < 1\n"},
		{Tool: "SearchClass", Content: `error: no class "G" in b.go; similar: g`, Failed: true},
		{Tool: "Exit", Content: "The search has ended."},
	}
	for i := range len(seen) + 1 {
		turn, m := storetest.Turn(c, i+1, nil), relabel.Message{Role: relabel.RoleAssistant, Content: "Here:\n```\na.py::f\n```"}
		turn.Label, turn.Observations = nil, nil
		if i < len(seen) {
			seen[i].CallID = relabel.CallID(i+1, 0)
			m.Content, m.ToolCalls = "I look.", []relabel.ToolCall{{ID: seen[i].CallID, Name: seen[i].Tool, Arguments: "{}"}}
			turn.Observations = seen[i : i+1]
		}
		turn.Action = relabel.Action{PolicyID: c.Student.ID, Status: relabel.Received, Raw: chat.AppendMessage(nil, m), Message: m, FinishReason: "stop", Parse: relabel.ParsedOK}
		if turn.Executor == relabel.Teacher {
			turn.Action.PolicyID = c.Teacher.ID
			label := turn.Action
			turn.Label = &label
		}
		s.must(s.store.CommitTurn(t.Context(), c.Fence, turn))
	}
	s.must(s.store.EndRollout(t.Context(), c.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("a.py::f\n"), Submitted: true}))
	s.must(s.store.BeginVerifying(t.Context(), c.Fence))
	s.must(s.store.Finish(t.Context(), c.Fence, verdict))
}

func TestATrajectoryShowsTheRankedAnswerBesideTheGold(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := storetest.SeedLocalise(t, s.store, 2)
	searchedFor(t, s, storetest.Claim(t, s.store, d.Trajectories[0].ID, "w"), relabel.Verdict{Reason: relabel.VerdictScored, Score: new(0.6131471), Hits: new(1),
		Ranking: []relabel.Location{{Name: "a.py::f", Known: true, Hit: true}, {Name: "b.go::h", Known: true}, {Name: hostile}}})
	storetest.Localise(t, s.store, storetest.Claim(t, s.store, d.Trajectories[1].ID, "w"), 0)

	path := "/trajectories/" + d.Trajectories[0].ID.String()
	page := s.get(200, path)
	contains(t, html.UnescapeString(page), "Score 0.613: the answer names 1 of 2 gold functions.", "Finished, with a valid submission.", "Score <b>0.613</b>", "nDCG@5 of functions", "the places 1 to 2",
		`✓</span> gold</span> <code>a.py::f`, `–</span> not gold</span> <code>b.go::h`, `?</span> not in the repository</span>`,
		`✓</span> place 1</span> <code>a.py::f`, `✗</span> missed</span> <code>b.go::g`, "Gold files", `✓</span> place 2</span> <code>b.go`, `href="#ranking"`, "owner/repo")
	for _, absent := range []string{`id="patch"`, `id="tests"`, "Grade again", "image <code>", "<script>alert"} {
		if strings.Contains(page, absent) {
			t.Errorf("the page has %q", absent)
		}
	}
	cards := s.get(200, path+"/turns?from=1&to=5")
	contains(t, cards, "lib/\n  deep.py", `<span class="no">3</span>`+"\tdef f(x):", "return x &lt; 1", "✗ the tool failed", "answered")
	if strings.Count(cards, "answered") != 1 {
		t.Error("more than the last turn is the answer")
	}
	if strings.Contains(cards, "No call.") {
		t.Error("an answer is shown as an action that lacks a call")
	}
	both := s.get(200, "/compare?a="+d.Trajectories[0].ID.String()+"&b="+d.Trajectories[0].ID.String())
	contains(t, both, "Ranked answers", "<small>score 0.613</small>", "not in the repository")
	if strings.Contains(both, `id="patches"`) || strings.Contains(both, `id="tests"`) {
		t.Error("answers are compared as patches")
	}
	contains(t, s.get(200, "/runs/"+d.Run.ID.String()), "hit=false", "/localisation")
	contains(t, s.get(200, "/runs/"+d.Run.ID.String()+"/verify"), "a score follows from the gold alone")
	contains(t, s.get(200, path+"/file.html"), "Score <b>0.613</b>")
	contains(t, s.get(200, "/trajectories/"+d.Trajectories[1].ID.String()), "Score 0: there is no ranked answer.", "None.")

	p := webtest.Open(t, s.URL+path)
	p.Wait("document.querySelector('#ranking')")
	p.Look("ranking")
}

func TestATaskToLocaliseHasGoldAndNoTests(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := storetest.SeedLocalise(t, s.store, 1)
	path := "/tasks/" + d.Taskset.ID.String()
	contains(t, s.get(200, "/tasks"), "<td>localise</td>")
	contains(t, s.get(200, path), "tasks to localise: 1")
	page := s.get(200, path+"/owner__repo-0000")
	contains(t, page, "<dd>localise</dd>", "owner/repo", strings.Repeat("0", 40), "2 functions", "<code>a.py::f</code>", "2 files", "<code>b.go</code>")
	for _, absent := range []string{"<dt>image</dt>", "test command", "gold patch", "must pass"} {
		if strings.Contains(page, absent) {
			t.Errorf("the page of the task has %q", absent)
		}
	}
	contains(t, s.get(200, "/runs/"+d.Run.ID.String()), "<dt>tasks to</dt><dd>localise</dd>")
	webtest.Open(t, s.URL+path+"/owner__repo-0000").Look("task-localise")
}

func TestTheFormOfARunFollowsTheKindOfItsTasks(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := storetest.SeedLocalise(t, s.store, 1)
	form := s.get(200, "/runs/new?scaffold=bare&taskset="+d.Taskset.ID.String())
	contains(t, form, "reposearcher, the default", `name="limits.score_depth"`, `name="limits.observation_bytes"`, "has tasks to localise")
	for _, absent := range []string{">bare<", `name="limits.verify_seconds"`, `name="limits.command_seconds"`} {
		if strings.Contains(form, absent) {
			t.Errorf("the form of a run to localise has %q", absent)
		}
	}
	repair := s.get(200, "/runs/new?taskset="+storetest.Seed(t, s.store, 1).Taskset.ID.String())
	contains(t, repair, "openhands, the default", ">bare<", `name="limits.verify_seconds"`)
	if strings.Contains(repair, `name="limits.score_depth"`) || strings.Contains(repair, "reposearcher, the") {
		t.Error("the form of a run to repair has what is of searches")
	}
}

func TestTheTrainersViewSaysThatTheAnswerIsTrainedOn(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := storetest.SeedLocalise(t, s.store, 1)
	s.run = d.Run
	s.run.ID, s.run.Name, s.run.Recipe, s.run.TeacherID, s.run.Beta = relabel.NewID(), "labelled", relabel.DAgger, d.Teacher.ID, &relabel.PaperBeta
	s.must(s.store.CreateRun(t.Context(), s.run))
	beta := 1.0
	it := relabel.Iteration{ID: relabel.NewID(), RunID: s.run.ID, Number: 1, Kind: relabel.Collect, StudentID: d.Student.ID, Beta: &beta, Generations: 1}
	tr := relabel.Trajectory{ID: relabel.NewID(), TaskID: d.Tasks[0].ID, Kind: relabel.Collect, Executors: relabel.Executors(strings.Repeat("T", s.run.Limits.MaxTurns))}
	s.must(s.store.CreateIteration(t.Context(), relabel.PlannedIteration{Iteration: it, Trajectories: []relabel.Trajectory{tr}}))
	searchedFor(t, s, storetest.Claim(t, s.store, tr.ID, "w"), relabel.Verdict{Reason: relabel.VerdictScored, Score: new(1.0), Hits: new(1),
		Ranking: []relabel.Location{{Name: "a.py::f", Known: true, Hit: true}}})
	e := s.export()
	for _, view := range relabel.Views {
		page := s.get(200, "/trajectories/"+tr.ID.String()+"/trainer?export="+e.ID.String()+"&view="+string(view))
		contains(t, page, "Turn 5, the ranked answer, is trained on")
	}
}
