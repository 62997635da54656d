package web_test

import (
	"encoding/json"
	"fmt"
	"html"
	"math"
	"strings"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestTheDivergencePageHasTheFiguresOfScoresAndTheirCost(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := storetest.Seed(t, s.store, 2)
	for _, tr := range d.Trajectories {
		c := storetest.Claim(t, s.store, tr.ID, "roller")
		for i := 1; i <= 6; i++ {
			label := storetest.Received(c.Teacher.ID, "label")
			turn := storetest.Turn(c, i, &label)
			turn.Action.PromptTokenIDs, turn.Action.TokenIDs = []int32{1, 2, 3}, []int32{4}
			s.must(s.store.CommitTurn(t.Context(), c.Fence, turn))
		}
		s.must(s.store.EndRollout(t.Context(), c.Fence, relabel.Ending{Reason: relabel.EndMaxTurns}))
		s.must(s.store.BeginVerifying(t.Context(), c.Fence))
		s.must(s.store.Finish(t.Context(), c.Fence, relabel.Verdict{Reason: "no patch"}))
	}
	p, err := s.store.CreatePolicy(t.Context(), relabel.Policy{Name: "white-box", BaseURL: "http://h/v1", Model: "m", Server: relabel.ServerVLLM,
		Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits, Price: &relabel.Price{Input: 1_000_000, Currency: "EUR"}})
	s.must(err)
	run := "/runs/" + d.Run.ID.String()
	page := html.UnescapeString(s.get(200, run+"/scores"))
	contains(t, page, "The server will refuse this: teacher cannot score", `name="top_k"`)
	page = html.UnescapeString(s.get(200, run+"/scores?top_k=2&policy="+p.Name))
	contains(t, page, "8 to 24", "120 bytes in the database", "8.00 to 24.00 EUR", "/v1"+run+"/scores")

	for of, logprob := range map[relabel.ID]float64{d.Student.ID: math.Log(0.5), d.Teacher.ID: math.Log(0.25), p.ID: math.Log(0.9)} {
		s.must(s.store.StartScoring(t.Context(), relabel.ScoreSelection{RunID: d.Run.ID}, of, 0, 0))
		for range d.Trajectories {
			c, err := s.store.ClaimScoring(t.Context(), "scorer", storetest.Lease)
			s.must(err)
			for _, turn := range c.Pending {
				s.must(s.store.SettleScores(t.Context(), c.ScoreFence, []relabel.Score{{T: turn.T, PolicyID: of, Logprobs: []float32{float32(logprob)}}}))
			}
			s.must(s.store.FinishScoring(t.Context(), c.ScoreFence))
		}
	}
	gone := storetest.Policy(t, s.store, "gone")
	s.must(s.store.StartScoring(t.Context(), relabel.ScoreSelection{RunID: d.Run.ID}, gone.ID, 0, 0))
	c, err := s.store.ClaimScoring(t.Context(), "scorer", storetest.Lease)
	s.must(err)
	s.must(s.store.FailScoring(t.Context(), c.ScoreFence, "it is <gone>"))
	page = s.get(200, run+"/divergence")
	contains(t, page, fmt.Sprintf("<td>%d × it is &lt;gone&gt;<br></td>", len(c.Pending)))
	_, err = s.store.CancelScorings(t.Context(), relabel.ScoreSelection{RunID: d.Run.ID}, nil)
	s.must(err)
	page = s.get(200, run+"/divergence")
	contains(t, page, "Reverse KL divergence of student and teacher", "0.1931 (0.1931 to 0.1931)", "0.6931 (0.6931 to 0.6931)", "2 done", "no call")
	if strings.Contains(page, "Cancel scoring") {
		t.Error("it offers to cancel what is done")
	}
	contains(t, page, "k3 over the tokens", `"policies"`, ">the run’s<")
	contains(t, s.get(200, run), `href="`+run+`/divergence"`)

	// Another teacher has no first labels. Its k1 is negative, in CSV as a number.
	page = html.UnescapeString(s.get(200, run+"/divergence?policy=white-box"))
	contains(t, page, "-0.5878 (-0.5878 to -0.5878)", "0.2122 (", "white-box@1", `value="white-box"`)
	if strings.Contains(page, "no call") {
		t.Error("it compares the labels of the run's teacher with another policy")
	}
	csv := s.get(200, "/divergence.csv?policy=white-box&runs="+d.Run.ID.String())
	contains(t, csv, "k1_low", ",-0.5877", "white-box@1")
	if strings.Contains(csv, "'") {
		t.Errorf("numbers are texts: %s", csv)
	}
	contains(t, s.get(200, "/divergence.csv?by=tool&runs="+d.Run.ID.String()), "no call")
	s.get(400, "/divergence.csv?by=x&runs="+d.Run.ID.String())
	s.get(400, run+"/divergence?policy=nobody")
	s.get(400, "/divergence?runs=nothing")
	contains(t, s.get(400, "/divergence?"+strings.Repeat("runs=nothing&", 9)), "are 9: give at most 8") // none is looked up
	contains(t, s.get(400, "/scaling?"+strings.Repeat("runs=nothing&", 9)), "are 9: give at most 8")
	contains(t, s.get(200, "/divergence"), "Choose runs to compare", d.Run.Name)

	// A run without a teacher needs a policy.
	other := d.Run
	other.ID, other.Name, other.Recipe, other.TeacherID, other.Beta = relabel.NewID(), "rewarded", relabel.GRPO, relabel.ID{}, nil
	s.must(s.store.CreateRun(t.Context(), other))
	both := "/divergence?runs=" + d.Run.ID.String() + "&runs=rewarded"
	contains(t, s.get(200, both), "The run rewarded has no teacher")
	contains(t, s.get(200, "/runs/"+other.ID.String()+"/divergence"), "The run rewarded has no teacher")
	contains(t, html.UnescapeString(s.get(200, both+"&policy=teacher")), `href="/divergence.csv?policy=teacher&runs=`+d.Run.ID.String()+"&runs="+other.ID.String()+`&by=tool"`)
	contains(t, s.get(200, both+"&policy=teacher"), "0.1931 (0.1931 to 0.1931)", d.Run.Name+": mixture, student", "/runs/"+d.Run.ID.String()+"/divergence")
	s.get(422, "/v1"+both)
	var report relabel.DivergenceReport
	s.must(json.Unmarshal([]byte(s.get(200, "/v1"+both+"&policy=teacher")), &report))
	if len(report.Runs) != 2 || report.Runs[0].Teacher != "teacher@1" || len(report.Runs[0].Items) != 1 || report.Runs[0].Items[0].Agreement == nil || report.Runs[1].Run != "rewarded" {
		t.Errorf("the report is %+v", report)
	}
}

// TestARunWithoutATeacherPreselectsNoPolicy asks a run of recipe grpo for scores and judgements.
func TestARunWithoutATeacherPreselectsNoPolicy(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := storetest.SeedWith(t, s.store, 1, func(d *storetest.Seeded) {
		d.Run.Recipe, d.Run.TeacherID, d.Iteration.Kind = relabel.GRPO, relabel.ID{}, relabel.Sample
		d.Run.Beta, d.Iteration.Beta, d.Trajectories[0].Kind = nil, nil, relabel.Sample
	})
	for _, form := range []string{"scores", "judgings"} {
		page := html.UnescapeString(s.get(200, "/runs/"+d.Run.ID.String()+"/"+form))
		contains(t, page, "The run has no teacher: choose a policy.", `name="policy" type="text" value="" required`)
		if strings.Contains(page, `"none"`) {
			t.Errorf("%s posts a policy named none", form)
		}
		contains(t, html.UnescapeString(s.get(200, "/runs/"+d.Run.ID.String()+"/"+form+"?policy=student")), `value="student"`)
	}
}
