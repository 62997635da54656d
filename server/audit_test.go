package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"relabel"
	"relabel/server"
	"relabel/store"
	"relabel/store/storetest"
)

func TestWhoChangedWhatIsKept(t *testing.T) {
	t.Parallel()
	var db *store.Store
	s := start(t, func(c *server.Config) {
		db = storetest.New(t)
		c.Store, c.RequireToken = db, true
	})
	ctx := t.Context()
	admin, err := db.CreateToken(ctx, "admin", relabel.FullAccess)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := db.CreateToken(ctx, "reader", relabel.ReadAccess)
	if err != nil {
		t.Fatal(err)
	}
	as := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	line := fmt.Sprintf(taskLine, "a__b-1")
	set := s.want(201, s.post("/v1/tasksets?name=audited", line, append(as(admin), "Content-Type", "application/x-ndjson")...)).fieldText("id")
	s.want(201, s.post("/v1/policies", `{"name":"p","base_url":"http://h/v1","model":"m","secret":"CANARY"}`, as(admin)...))
	run := s.want(201, s.post("/v1/runs", `{"name":"r","recipe":"sft","taskset":"audited","teacher":"p"}`, as(admin)...)).fieldText("id")
	s.want(200, s.post("/v1/runs/r/pause", `{"text":"CANARY"}`, as(admin)...))
	s.want(422, s.post("/v1/policies", `{"name":"CANARY"}`, as(admin)...))
	s.want(404, s.post("/v1/nothing", `{}`, as(admin)...))
	s.want(403, s.post("/v1/runs/r/pause", `{}`, as(reader)...))
	s.want(403, s.send("DELETE", "/v1/runs/r", "", as(reader)...))
	s.want(403, s.post("/runs/"+run+"/pause", ``, as(reader)...)) // as a page sends it
	s.want(404, s.send("DELETE", "/v1/runs/none", "", as(admin)...))
	s.want(422, s.post("/v1/runs/r/pause?text=", `{}`, as(admin)...))
	s.want(401, s.post("/v1/runs/r/pause", `{}`, as("unknown")...))
	s.want(405, s.post("/healthz", ``))
	s.refused(s.get("/v1/audit", as(reader)...), 403, "forbidden", "")
	log := s.want(200, s.get("/v1/audit", as(admin)...))
	var page struct{ Items []relabel.AuditEntry }
	if err := json.Unmarshal(log.body, &page); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"token admin pause-run " + run + " 422", "token admin delete-run none 404", "token reader unknown " + run + " 403", "token reader delete-run " + run + " 403", "token reader pause-run " + run + " 403",
		"token admin unknown  404", "token admin create-policy  422", "token admin pause-run " + run + " 200", "token admin create-run " + run + " 201",
		"token admin create-policy * 201", "token admin import-taskset " + set + " 201", "command  create-token reader 200", "command  create-token admin 200",
	}
	if len(page.Items) != len(want) {
		t.Fatalf("%d entries: %s", len(page.Items), log.body)
	}
	for i, e := range page.Items {
		got := fmt.Sprintf("%s %s %s %s %d", e.Actor, e.Token, e.Operation, e.Resource, e.Status)
		if strings.Contains(want[i], "*") {
			got = strings.Replace(got, e.Resource, "*", 1)
		}
		if got != want[i] {
			t.Errorf("entry %d is %q, want %q", i, got, want[i])
		}
		secret := map[string]string{"admin": admin, "reader": reader}[e.Token]
		if e.Actor == relabel.ActorToken && (e.Address != "127.0.0.1" || !strings.HasPrefix(relabel.HashSecret(secret), e.TokenID) || e.TokenID == "") {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
	if text := string(log.body); strings.Contains(text, "CANARY") || strings.Contains(text, admin) || strings.Contains(text, "name=audited") {
		t.Errorf("the log holds what it must not: %s", text)
	}
	for query, n := range map[string]int{"token_name=admin": 8, "token_name=reader": 3, "token_name=nobody": 0, "resource=" + run: 6, "resource=r": 6, "resource=audited": 1, "resource=p": 1, "resource=reader": 1, "resource=none": 1, "since=2999-01-01T00:00:00Z": 0, "limit=2": 2} {
		if items := s.want(200, s.get("/v1/audit?"+query, as(admin)...)).field("items").([]any); len(items) != n {
			t.Errorf("%s: %d entries, want %d", query, len(items), n)
		}
	}
	if purged, err := db.PurgeAudit(ctx, 0); err != nil || purged != int64(len(want)) {
		t.Errorf("purged %d, %v", purged, err)
	}
}

// TestALongPathIsCutInTheAuditLog sends random texts: an index compresses others.
func TestALongPathIsCutInTheAuditLog(t *testing.T) {
	t.Parallel()
	s := startOnPostgres(t)
	word := strings.Builder{}
	for word.Len() < 12_000 {
		fmt.Fprintf(&word, "%c", 'α'+rand.N('ω'-'α'))
	}
	s.want(422, s.post("/v1/iterations/"+word.String()+"/cancel", ""))
	s.want(404, s.post("/v1/runs/"+word.String()+"/cancel", ""))
	entries := s.want(200, s.get("/v1/audit")).field("items").([]any)
	for _, e := range entries[:2] {
		e := e.(map[string]any)
		if resource, path := []rune(e["resource"].(string)), []rune(e["path"].(string)); len(resource) != 200 || len(path) != 1000 {
			t.Errorf("%d characters of the resource and %d of the path are kept", len(resource), len(path))
		}
	}
}

func TestWithoutAnAuditLogNothingIsChanged(t *testing.T) {
	s := start(t)
	s.store.noAudit = errors.New("no room")
	s.refused(s.post("/v1/policies", policyBody), 503, "unavailable", "")
	if len(s.store.policies) > 0 {
		t.Error("the policy was made")
	}
	s.want(200, s.get("/v1/policies"))
}

func TestRefusedRequestsDoNotFillTheAuditLog(t *testing.T) {
	t.Parallel()
	var db *store.Store
	s := start(t, func(c *server.Config) {
		db = storetest.New(t)
		c.Store, c.RequireToken = db, true
	})
	ctx := t.Context()
	admin, err := db.CreateToken(ctx, "admin", relabel.FullAccess)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := db.CreateToken(ctx, "reader", relabel.ReadAccess)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 150 {
		s.want(403, s.send("DELETE", fmt.Sprintf("/v1/runs/%d", i), "", "Authorization", "Bearer "+reader))
	}
	s.want(404, s.post("/v1/runs/none/pause", `{}`, "Authorization", "Bearer "+admin)) // has a count of its own
	for i := range 65 {
		body := strings.Replace(policyBody, `"name":"p"`, fmt.Sprintf(`"name":"p%d"`, i), 1)
		s.want(201, s.post("/v1/policies", body, "Authorization", "Bearer "+admin)) // what is carried out is listed
	}
	count := func(token string) (entries, more int) {
		list, _, err := db.ListAudit(ctx, relabel.AuditFilter{Token: token}, relabel.Page{Limit: 500})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if more += e.More; e.More > 0 && e.Status != 403 {
				t.Errorf("%+v counts refused ones", e)
			}
		}
		return len(list), more
	}
	if entries, more := count("reader"); entries != 60 || more != 90 {
		t.Errorf("%d entries of 150 refused requests, and %d more", entries, more)
	}
	if entries, more := count("admin"); entries != 66 || more != 0 {
		t.Errorf("%d entries of the other token, and %d more", entries, more)
	}
}
