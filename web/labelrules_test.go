package web_test

import (
	"encoding/json"
	"html"
	"math"
	"net/url"
	"slices"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

// TestLabelRulesAreComparedOnStoredLabels has six done trajectories of three student turns: the action
// at turn 2 differs from its label, and the calls of turn 3 fail.
func TestLabelRulesAreComparedOnStoredLabels(t *testing.T) {
	t.Parallel()
	s := start(t)
	run := "/runs/" + s.judged()["tests"].RunID.String()
	contains(t, s.get(200, run), run+"/label-rules")
	query := "?" + url.Values{"rule": {"first_after_parting:1", "all", ""}}.Encode()
	page := html.UnescapeString(s.get(200, run+"/label-rules"+query))
	contains(t, page, `value="first_after_parting:1"`, "12 of 18", "6 of 6", "1.000", "+0.667", "18.0", "biased", ">error</th>", "about 0 on average over seeds")
	contains(t, page, run+"/label-rules.csv?rule=first_after_parting%3A1&rule=all")
	contains(t, s.get(200, run+"/label-rules.csv"+query), "rule,unbiased,iteration,", "first_after_parting:1,false,,", "all,true,1,")
	contains(t, s.get(400, run+"/label-rules?rule=every:0"), "give all, every:K")
	contains(t, s.get(400, run+"/label-rules?"+url.Values{"rule": slices.Repeat([]string{"all"}, 21)}.Encode()), "20")
	contains(t, s.get(200, run+"/label-rules?"+url.Values{"rule": slices.Repeat([]string{"all"}, 20)}.Encode()), "18.0")

	var got relabel.LabelSimulation
	s.must(json.Unmarshal([]byte(s.get(200, "/v1"+run+"/label-rules?rule=every:3%2B0.5&rule=first_after_parting:1")), &got))
	if len(got.Rules) != 2 || !got.Rules[0].Unbiased || math.Abs(got.Rules[0].Total.Expected-12) > 1e-9 || got.Rules[1].Total.Selected != 6 {
		t.Errorf("%+v", got)
	}
	s.must(json.Unmarshal([]byte(s.get(200, "/v1"+run+"/label-rules")), &got))
	if len(got.Rules) != 5 {
		t.Errorf("without a rule: %+v", got)
	}
	contains(t, s.get(422, "/v1"+run+"/label-rules?rule=uncertain:0.5"), "log-probabilities", "rule")
	contains(t, s.get(422, "/v1"+run+"/label-rules?rule=teacher_turns:5"), "aggrevate")
}

// TestStatesWithoutARequestAreShownBesideTheOthers has three turns of the student, at one of which the teacher
// was not asked.
func TestStatesWithoutARequestAreShownBesideTheOthers(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := storetest.SeedWith(t, s.store, 1, func(d *storetest.Seeded) { d.Run.LabelRule, d.Iteration.LabelRule = "every:2", "every:2" })
	c := storetest.Claim(t, s.store, d.Trajectories[0].ID, "roller")
	label := storetest.Received(c.Teacher.ID, "label")
	for i := 1; i <= 6; i++ {
		turn := storetest.Turn(c, i, &label)
		if i == 1 {
			turn.Label, turn.LabelChance = &relabel.Action{PolicyID: c.Teacher.ID, Status: relabel.NotSelected}, new(0.5)
		}
		s.must(s.store.CommitTurn(t.Context(), c.Fence, turn))
	}
	s.must(s.store.EndRollout(t.Context(), c.Fence, relabel.Ending{Reason: relabel.EndMaxTurns}))
	s.must(s.store.BeginVerifying(t.Context(), c.Fence))
	s.must(s.store.Finish(t.Context(), c.Fence, relabel.Verdict{Reason: "no patch"}))
	page := s.get(200, "/runs/"+d.Run.ID.String()+"/label-rules")
	contains(t, page, `<td class="n">2 <span class="meta">+1 not asked</span></td>`, "unbiased, asked states", "At 1 of the student’s states the teacher was not asked")
}
