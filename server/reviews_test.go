package server_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"relabel"
)

func TestReviewsAreMadeEditedListedAndRemoved(t *testing.T) {
	t.Parallel()
	s := startOnPostgres(t)
	ids := s.seed()
	id := s.get("/v1/trajectories").field("items", 0, "id").(string)
	path := "/v1/trajectories/" + id + "/reviews"
	attack := "</textarea><script>alert(1)</script> \x1b]0;x\a \u202e"
	body, err := json.Marshal(map[string]any{"flag": "leak", "note": attack, "author": attack})
	if err != nil {
		t.Fatal(err)
	}
	made := s.want(201, s.post(path, string(body), "Idempotency-Key", "once"))
	again := s.want(201, s.post(path, string(body), "Idempotency-Key", "once"))
	if made.field("id") != again.field("id") || made.field("note") != attack || made.field("author") != attack || made.field("run_id") != ids.run || made.field("t") != nil {
		t.Errorf("%s, again %s", made.body, again.body)
	}
	one := path + "/" + made.field("id").(string)
	put := func(at, body string) answerOf { return s.send("PUT", at, body, "Content-Type", "application/json") }
	edited := s.want(200, put(one, `{"flag":"wrong-label"}`))
	if edited.field("flag") != "wrong-label" || edited.field("note") != nil || edited.field("edited_at") == nil || edited.field("created_at") != made.field("created_at") {
		t.Errorf("edited: %s", edited.body)
	}
	if got := s.want(200, s.get(one)); string(got.body) != string(edited.body) {
		t.Errorf("%s, not %s", got.body, edited.body)
	}
	s.want(201, s.post(path, `{"note":"nothing wrong"}`))
	for query, n := range map[string]int{"": 2, "?run=" + ids.run: 2, "?run=" + relabel.NewID().String(): 0, "?flag=wrong-label": 1, "?flag=leak": 0, "?flag=" + url.QueryEscape("*"): 1} {
		if items := s.want(200, s.get("/v1/reviews"+query)).field("items").([]any); len(items) != n {
			t.Errorf("%q lists %v", query, items)
		}
	}
	first := s.want(200, s.get(path+"?limit=1"))
	rest := s.want(200, s.get(path+"?limit=1&after="+url.QueryEscape(first.field("next").(string))))
	if first.field("items", 0, "note") != "nothing wrong" || rest.field("items", 0, "flag") != "wrong-label" || rest.field("next") != "" {
		t.Errorf("pages %s %s", first.body, rest.body)
	}
	if items := s.want(200, s.get("/v1/trajectories?flag=wrong-label")).field("items").([]any); len(items) != 1 {
		t.Errorf("flagged: %v", items)
	}
	s.want(204, s.send("DELETE", one, ""))
	s.refused(s.send("DELETE", one, ""), 404, "not_found", "")
	s.refused(put(one, `{"flag":"x"}`), 404, "not_found", "")
}

func TestReviewsThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	s := startOnPostgres(t)
	run := s.seed().run
	path := "/v1/trajectories/" + s.get("/v1/trajectories").field("items", 0, "id").(string) + "/reviews"
	for body, field := range map[string]string{
		`{}`:                       "flag",
		`{"note":" \n "}`:          "flag",
		`{"flag":"Wrong label"}`:   "flag",
		`{"flag":"-x"}`:            "flag",
		`{"flag":"*"}`:             "flag",
		`{"flag":"<b>"}`:           "flag",
		`{"flag":"x","t":0}`:       "t",
		`{"flag":"x","t":1}`:       "t", // it has no turn yet
		`{"flag":"x","t":1e300}`:   "t",
		`{"flag":"x","weight":1}`:  "weight",
		`{"note":"\u0000"}`:        "body.note",
		`{"note":"x","author":[]}`: "author",
		fmt.Sprintf(`{"flag":%q}`, strings.Repeat("x", 61)):               "flag",
		fmt.Sprintf(`{"note":%q}`, strings.Repeat("ä", 10001)):            "note",
		fmt.Sprintf(`{"note":"x","author":%q}`, strings.Repeat("ä", 101)): "author",
	} {
		s.refused(s.post(path, body), 422, "invalid", field)
	}
	s.want(201, s.post(path, fmt.Sprintf(`{"note":%q,"author":%q}`, strings.Repeat("ä", 10000), strings.Repeat("ä", 100))))
	s.refused(s.post("/v1/trajectories/"+relabel.NewID().String()+"/reviews", `{"flag":"x"}`), 404, "not_found", "")
	s.refused(s.get("/v1/trajectories/"+relabel.NewID().String()+"/reviews"), 404, "not_found", "")
	s.want(201, s.post(path, `{"flag":"leak"}`))
	s.refused(s.post("/v1/exports", fmt.Sprintf(`{"run":%q,"exclude_flags":["leak","No!"]}`, run)), 422, "invalid", "exclude_flags[1]")
	mistyped := s.post("/v1/exports", fmt.Sprintf(`{"run":%q,"exclude_flags":["*","laek"]}`, run))
	s.refused(mistyped, 422, "invalid", "exclude_flags[1]")
	if said := mistyped.fieldText("detail"); !strings.Contains(said, `no review of this run has the flag "laek"`) {
		t.Errorf("it says %q", said)
	}
	export := s.want(201, s.post("/v1/exports", fmt.Sprintf(`{"run":%q,"unfinished":true,"exclude_flags":["leak","*"]}`, run)))
	if got := export.field("selection", "exclude_flags", 1); got != "*" {
		t.Errorf("%s", export.body)
	}
	mistyped = s.post("/v1/exports", fmt.Sprintf(`{"run":%q,"unfinished":true,"exclude_flags":["leak","mode:lop"]}`, run))
	s.refused(mistyped, 422, "invalid", "exclude_flags[1]")
	if said := mistyped.fieldText("detail"); !strings.Contains(said, "mode:loop, mode:overflow") || strings.Contains(said, "mode:,") {
		t.Errorf("it says %q", said)
	}
	export = s.want(201, s.post("/v1/exports", fmt.Sprintf(`{"run":%q,"unfinished":true,"exclude_flags":["mode:loop","mode:tool_use_error"]}`, run)))
	if got := export.field("selection", "exclude_flags", 0); got != "mode:loop" {
		t.Errorf("%s", export.body)
	}
}
