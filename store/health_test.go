package store_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestHealthIsWhatTheLastCallsAndTheWorkersSay(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	p, err := s.CreatePolicy(ctx, relabel.Policy{Name: "two", BaseURL: "http://a/v1/", Replicas: []string{"http://b/v1"}, Model: "m",
		Server: relabel.ServerVLLM, Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits})
	must(t, err)
	call := func(url string, millis int64, tries int, fault string) {
		must(t, s.RecordCall(ctx, relabel.Call{PolicyID: p.ID, TrajectoryID: &d.Trajectories[0].ID, Attempt: 1, T: 1, Purpose: relabel.PurposeAct, BaseURL: url,
			Millis: millis, QueueMillis: millis / 10, Tries: tries, Status: 200, Error: fault, ErrorBody: []byte("because\x00of \x1b[31mthat")}))
	}
	for i := range 99 {
		call("http://a/v1"+[]string{"", "/"}[i%2], int64(i+1)*10, 1, "") // one address
	}
	call("http://b/v1", 5, 3, "")
	call("http://b/v1", 60000, 4, "HTTP 500")
	call("", 0, 0, "the secret is missing")
	for i, down := range []string{"", "connection refused"} {
		w := relabel.Worker{Name: string(rune('v' + i)), Machine: "m", Rollouts: 1}
		must(t, s.SeeWorker(ctx, w))
		must(t, s.ShowActivity(ctx, w.Name, relabel.WorkerActivity{Endpoints: []relabel.EndpointActivity{
			{URL: "http://a/v1", InFlight: 2, Limit: 8, WaitingActs: 1, WaitingLabels: 3}, {URL: "http://b/v1", Limit: 1, Down: down}, {URL: "http://c/v1"}}}))
	}
	must(t, s.SeeWorker(ctx, relabel.Worker{Name: "gone", Machine: "m", Rollouts: 1}))
	must(t, s.ShowActivity(ctx, "gone", relabel.WorkerActivity{Endpoints: []relabel.EndpointActivity{{URL: "http://a/v1", InFlight: 9}}}))
	exec(t, s, "UPDATE workers SET seen_at = now() - interval '1 minute' WHERE name = 'gone'")

	all, err := s.ListHealth(ctx, []relabel.Policy{d.Student, p})
	must(t, err)
	if unused := all[0]; unused.PolicyID != d.Student.ID || unused.Recent != (relabel.RecentCalls{}) || len(unused.Addresses) != 1 || unused.Addresses[0].Workers != 0 {
		t.Errorf("%+v", unused)
	}
	got := all[1]
	if got.Recent.Since == nil {
		t.Fatal("no calls")
	}
	got.Recent.Since = nil
	if want := (relabel.RecentCalls{Calls: 102, Failed: 2, Retried: 2, Tries: 106, Median: 490, P95: 940, QueueMedian: 49, QueueP95: 94}); got.Recent != want {
		t.Errorf("%+v, not %+v", got.Recent, want)
	}
	for i := range got.Addresses {
		got.Addresses[i].Recent.Since = nil
	}
	want := []relabel.AddressHealth{
		{EndpointActivity: relabel.EndpointActivity{URL: "http://a/v1", InFlight: 4, Limit: 16, WaitingActs: 2, WaitingLabels: 6}, Workers: 2,
			Recent: relabel.RecentCalls{Calls: 99, Tries: 99, Median: 500, P95: 950, QueueMedian: 50, QueueP95: 95}},
		{EndpointActivity: relabel.EndpointActivity{URL: "http://b/v1", Limit: 2, Down: "connection refused"}, Workers: 2, DownFor: 1,
			Recent: relabel.RecentCalls{Calls: 2, Failed: 1, Retried: 2, Tries: 7, Median: 5, P95: 5}},
	}
	if !reflect.DeepEqual(got.Addresses, want) {
		t.Errorf("%+v, not %+v", got.Addresses, want)
	}
	failed, err := s.ListFailedCalls(ctx, p.ID, 1)
	must(t, err)
	if len(failed) != 1 || failed[0].Error != "the secret is missing" || string(failed[0].ErrorBody) != "because\x00of \x1b[31mthat" {
		t.Errorf("%+v", failed)
	}
}

func TestHealthIsReadByIndices(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	exec(t, s, "ALTER TABLE calls DISABLE TRIGGER USER")
	exec(t, s, `INSERT INTO calls SELECT gen_random_uuid(), CASE WHEN n % 50 = 0 THEN $1::uuid ELSE $2::uuid END, NULL, 0, 0, 'probe', now() - n * interval '1 s', 1, 0, '', false, 1, 200,
		'', 1, 1, 1, 1, '', CASE WHEN n % 500 = 0 THEN 'x' ELSE '' END, NULL FROM generate_series(1, 50000) n`, d.Student.ID, d.Teacher.ID)
	exec(t, s, "ANALYZE calls")
	for _, policy := range []relabel.Policy{d.Student, d.Teacher} {
		plan, err := s.ExplainHealth(ctx, policy.ID)
		must(t, err)
		if !strings.Contains(plan, "calls_of_policy") || !strings.Contains(plan, "calls_in_vain") || strings.Contains(plan, "Seq Scan on calls") {
			t.Errorf("not served by indices:\n%s", plan)
		}
	}
}

func TestSpendingIsToldByIterationPolicyAndRun(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	first, second := storetest.Seed(t, s, 2), storetest.Seed(t, s, 1) // the same two policies
	next := relabel.PlannedIteration{Iteration: first.Iteration, Trajectories: []relabel.Trajectory{{ID: relabel.NewID(), TaskID: first.Tasks[0].ID, Executors: "s"}}}
	next.Iteration.ID, next.Iteration.Number = relabel.NewID(), 2
	must(t, s.CreateIteration(ctx, next))
	for range 5 {
		used(t, s, first.Trajectories[0].ID, first.Teacher.ID, 100, 10, 1500)
		used(t, s, first.Trajectories[1].ID, first.Student.ID, 10, 1, 0)
		used(t, s, next.Trajectories[0].ID, first.Teacher.ID, 100, 10, 1500)
		used(t, s, second.Trajectories[0].ID, first.Teacher.ID, 100, 10, 1500)
	}
	all, err := s.ListSpending(ctx, first.Run.ID)
	must(t, err)
	five := relabel.Spent{Calls: 5, Tokens: 550, PromptTokens: 500, CachedTokens: 250, CompletionTokens: 50, Cost: 0.0075}
	want := []relabel.Spending{{IterationID: first.Iteration.ID, PolicyID: first.Teacher.ID, Spent: five},
		{IterationID: first.Iteration.ID, PolicyID: first.Student.ID, Spent: relabel.Spent{Calls: 5, Tokens: 55, PromptTokens: 50, CachedTokens: 25, CompletionTokens: 5}},
		{IterationID: next.Iteration.ID, PolicyID: first.Teacher.ID, Spent: five}}
	if strings.Compare(first.Teacher.ID.String(), first.Student.ID.String()) > 0 {
		want[0], want[1] = want[1], want[0]
	}
	if !slices.Equal(all, want) {
		t.Errorf("%+v, not %+v", all, want)
	}
	runs, after, err := s.ListPolicySpending(ctx, first.Teacher.ID, relabel.Page{Limit: 1})
	must(t, err)
	rest, none, err := s.ListPolicySpending(ctx, first.Teacher.ID, relabel.Page{Limit: 1, After: after})
	must(t, err)
	if len(runs) != 1 || runs[0].RunID != second.Run.ID || runs[0].Calls != 5 || runs[0].RunName != second.Run.Name ||
		len(rest) != 1 || rest[0].RunID != first.Run.ID || rest[0].Calls != 10 || rest[0].Cost != 0.015 || none != "" {
		t.Errorf("%+v, %+v, %q", runs, rest, none)
	}
}
