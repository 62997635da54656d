package store_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/chat"
	"relabel/store"
	"relabel/store/storetest"
)

// searchOf asks for one page of a search in all that a filter lets through.
func searchOf(t *testing.T, s *store.Store, f relabel.TrajectoryFilter, ask relabel.TextSearch) relabel.TextPage {
	t.Helper()
	page, err := s.SearchTexts(t.Context(), f, relabel.Oldest, ask)
	must(t, err)
	return page
}

func TestATextIsFoundWhereverItStandsInATrajectory(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := storetest.SeedWith(t, s, 2, func(d *storetest.Seeded) { d.Trajectories[1].Executors = "sTsTsT" })
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	label := storetest.Received(c.Teacher.ID, "I say Needle.")
	one, two, three := storetest.Turn(c, 1, &label), storetest.Turn(c, 2, nil), storetest.Turn(c, 3, &relabel.Action{PolicyID: c.Teacher.ID, Status: relabel.Missing, Reason: "no needle came"})
	m := relabel.Message{Role: relabel.RoleAssistant, ReasoningContent: "a needle", ToolCalls: []relabel.ToolCall{{ID: "c", Name: "execute_bash", Arguments: `{"command":"grep \"NEEDLE\" x | grep needle"}`}}}
	one.Action.Message, one.Action.Raw = m, chat.AppendMessage(nil, m)
	two.Observations = []relabel.Observation{{Content: "hay"}, {Content: strings.Repeat("hay ", 50_000) + "\x00 the neeDLE\n" + strings.Repeat("hay ", 50_000)}}
	for _, turn := range []relabel.Turn{one, two, three} {
		must(t, s.CommitTurn(t.Context(), c.Fence, turn))
	}
	must(t, s.EndRollout(t.Context(), c.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("+needle\n"), Submitted: true}))
	must(t, s.BeginVerifying(t.Context(), c.Fence))
	must(t, s.Finish(t.Context(), c.Fence, relabel.Verdict{Reason: "tests", Output: []byte("FAILED needle")}))
	must(t, s.Fail(t.Context(), storetest.Claim(t, s, d.Trajectories[1].ID, "w").Fence, relabel.FailEnvironment, "the needle broke"))

	page := searchOf(t, s, relabel.TrajectoryFilter{}, relabel.TextSearch{Text: "nEEdle"})
	if page.Searched != 2 || page.Total != 2 || page.Next != "" || len(page.Items) != 2 || page.Bytes < 400_000 {
		t.Fatalf("%+v", page)
	}
	found := page.Items[slices.IndexFunc(page.Items, func(f relabel.TextFound) bool { return f.Trajectory.ID == d.Trajectories[0].ID })]
	if found.Matches != 8 || found.Places != 5 {
		t.Errorf("%d matches in %d places", found.Matches, found.Places)
	}
	var got []string
	for _, m := range found.First {
		got = append(got, fmt.Sprintf("%d %s %s %s", m.T, m.Executor, m.Place, m.Text))
	}
	if want := []string{"1 student thought needle", "2 teacher observation neeDLE", "3 student label, why it is missing needle"}; !slices.Equal(got, want) {
		t.Errorf("first %q, want %q", got, want)
	}
	for place, text := range map[string]string{"label, thought": "I say", "command": `"needle"`, "patch": "+needle", "test output": "failed needle", "failure": "needle broke", "the task": "ISSUE 0:"} {
		page := searchOf(t, s, relabel.TrajectoryFilter{}, relabel.TextSearch{Text: text})
		if len(page.Items) != 1 || page.Items[0].First[0].Place != place {
			t.Errorf("%s: %+v", place, page.Items)
		}
	}
	if page := searchOf(t, s, relabel.TrajectoryFilter{State: relabel.Failed}, relabel.TextSearch{Text: "needle"}); page.Searched != 1 || page.Of != 2 || len(page.Items) != 1 {
		t.Errorf("of what failed: %+v", page)
	}
}

// What the pages of a search find together is what one finds, and each is looked through
// once, whatever ends a page.
func TestASearchGoesOnWhereItsPageEnded(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 9)
	for i, tr := range d.Trajectories {
		if i%3 > 0 {
			storetest.Finish(t, s, storetest.Claim(t, s, tr.ID, "w"), i%6, i%2 == 0)
		}
	}
	for _, sort := range []relabel.TrajectorySort{relabel.Newest, relabel.MostTurns} {
		whole, err := s.SearchTexts(t.Context(), relabel.TrajectoryFilter{}, sort, relabel.TextSearch{Text: "observation"})
		must(t, err)
		if whole.Searched != 9 || whole.Next != "" || len(whole.Items) != 6 {
			t.Fatalf("%d searched, %d found", whole.Searched, len(whole.Items))
		}
		for _, ask := range []relabel.TextSearch{{Bytes: 1}, {Bytes: 300}, {Limit: 1}, {Limit: 2}} {
			var found []relabel.TextFound
			searched, pages := 0, 0
			for ask.Text = "observation"; ; pages++ {
				page, err := s.SearchTexts(t.Context(), relabel.TrajectoryFilter{}, sort, ask)
				must(t, err)
				found, searched = append(found, page.Items...), searched+page.Searched
				if page.Searched == 0 || ask.Limit > 0 && len(page.Items) > ask.Limit {
					t.Fatalf("%+v: %d searched, %d found", ask, page.Searched, len(page.Items))
				}
				if ask.After = page.Next; page.Next == "" {
					break
				}
			}
			if searched != 9 || !reflect.DeepEqual(found, whole.Items) || ask.Bytes == 1 && pages != 8 {
				t.Errorf("%s %+v: %d searched on %d pages, %d found", sort, ask, searched, pages, len(found))
			}
		}
	}
	for _, ask := range []relabel.TextSearch{{}, {Text: strings.Repeat("x", 501)}, {Text: "x", After: "x"}, {Text: "x", Limit: -1}} {
		_, err := s.SearchTexts(t.Context(), relabel.TrajectoryFilter{}, relabel.Newest, ask)
		wantCode(t, err, relabel.CodeInvalid)
	}
}

// A search ends when its client disconnects. Searches beyond three at a time are refused.
func TestFewSearchesGoOnAtATimeAndEndWithTheirClients(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	storetest.Seed(t, s, 1)
	tx, err := s.Pool().Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), "LOCK TABLE observations")
	must(t, err)
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error)
	search := func(ctx context.Context) error {
		_, err := s.SearchTexts(ctx, relabel.TrajectoryFilter{}, relabel.Newest, relabel.TextSearch{Text: "x"})
		return err
	}
	for range 3 {
		go func() { ended <- search(ctx) }()
	}
	waiting := "SELECT count(*) FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND relation = 'observations'::regclass"
	for until := time.Now().Add(time.Minute); value[int](t, s, waiting) < 3; {
		if time.Now().After(until) {
			t.Fatal("the searches have not begun")
		}
	}
	wantCode(t, search(t.Context()), relabel.CodeBusy)
	leave()
	for range 3 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	}
	must(t, tx.Rollback(t.Context()))
	must(t, search(t.Context()))
}
