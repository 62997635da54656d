package store_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestAPolicyChangesByVersion(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	first := storetest.Policy(t, s, "qwen")
	if first.Version != 1 || first.CreatedAt.IsZero() {
		t.Errorf("policy: %+v", first)
	}
	if same := storetest.Policy(t, s, "qwen"); !reflect.DeepEqual(same, first) {
		t.Errorf("the same definition again is %+v", same)
	}
	changed := first
	changed.Replicas, changed.Price, changed.CacheMarkers = []string{"http://b/v1"}, &relabel.Price{Input: 0.1, Cached: 1e-3, Output: 1, Currency: "USD"}, relabel.CacheMarkersAnthropic
	changed.Limits = relabel.PolicyLimits{Concurrency: 1, RequestsPerMinute: 2, TokensPerMinute: 3, TimeoutSeconds: 4, Retries: 5, PatienceSeconds: 6, HedgeAfterSeconds: 7}
	changed.ID, changed.Sampling.Temperature = relabel.ID{}, 0.1
	changed.Sampling.TopK, changed.Sampling.MinP, changed.Sampling.RepetitionPenalty = new(-1), new(0.05), new(1.1)
	changed.Sampling.PresencePenalty, changed.Sampling.FrequencyPenalty, changed.Sampling.Stop = new(0.0), new(-2.0), []string{"\n\n", "é,"}
	changed.Sampling.ChatTemplateKwargs, changed.Sampling.Logprobs = map[string]json.RawMessage{"a": json.RawMessage(`{"z":null,"b":1.0}`)}, new(false)
	second, err := s.CreatePolicy(ctx, changed)
	must(t, err)
	if second.Version != 2 || second.ID == first.ID {
		t.Errorf("the change is %+v", second)
	}
	for name, want := range map[string]relabel.Policy{"qwen": second, "qwen@1": first, "qwen@2": second} {
		got, err := s.FindPolicyByName(ctx, name)
		must(t, err)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v", name, got)
		}
	}
	for name, code := range map[string]relabel.Code{"qwen@3": relabel.CodeNotFound, "qwen@x": relabel.CodeInvalid, "qwen@0": relabel.CodeInvalid, "\x00": relabel.CodeNotFound} {
		_, err := s.FindPolicyByName(ctx, name)
		wantCode(t, err, code)
	}
	_, err = s.CreatePolicy(ctx, relabel.Policy{Name: "a@b"})
	wantCode(t, err, relabel.CodeInvalid)
}

func TestVersionsMadeAtOnceHaveNoGaps(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			_, err := s.CreatePolicy(context.Background(), relabel.Policy{Name: "p", Model: fmt.Sprint(i)})
			if err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	if got := value[string](t, s, "SELECT string_agg(version::text, ' ' ORDER BY version) FROM policies"); got != "1 2 3 4 5 6 7 8" {
		t.Errorf("versions: %s", got)
	}
}

func TestATasksetIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	set := relabel.Taskset{ID: relabel.NewID(), Name: "lite", Digest: "ab"}
	var tasks []relabel.Task
	for _, id := range []string{"b", "a", "C", "ä"} {
		tasks = append(tasks, relabel.Task{ID: relabel.NewID(), TasksetID: set.ID, Kind: relabel.Repair, InstanceID: id, Repo: "r", BaseCommit: "c", Image: "i", Workdir: "/w",
			ProblemStatement: "NUL \x00 and \xff", HintsText: "h", Patch: "p\x00", TestPatch: "\xe9", TestCmd: "c", LogParser: "pytest",
			FailToPass: []string{"t::<a>", "\u2028"}, PassToPass: []string{}, HeldOut: id == "a", AddedIn: 1})
	}
	must(t, s.CreateTaskset(ctx, set, relabel.TaskList(tasks)))
	got, err := s.FindTaskset(ctx, set.ID)
	must(t, err)
	if got.Tasks != 4 || got.HeldOut != 1 || got.CreatedAt.IsZero() {
		t.Errorf("taskset: %+v", got)
	}
	var read []relabel.Task
	for p := (relabel.Page{Limit: 3}); ; {
		list, next, err := s.ListTasks(ctx, set.ID, 0, p)
		must(t, err)
		read = append(read, list...)
		if p.After = next; next == "" {
			break
		}
	}
	if want := []relabel.Task{tasks[2], tasks[1], tasks[0], tasks[3]}; !reflect.DeepEqual(read, want) {
		t.Errorf("tasks %+v, not %+v", read, want)
	}
	one, err := s.FindTask(ctx, tasks[0].ID)
	must(t, err)
	if !reflect.DeepEqual(one, tasks[0]) {
		t.Errorf("task: %+v", one)
	}
	wantCode(t, s.CreateTaskset(ctx, relabel.Taskset{Name: "lite"}, relabel.TaskList(nil)), relabel.CodeConflict)
	wantCode(t, s.CreateTaskset(ctx, relabel.Taskset{Name: "twice"}, relabel.TaskList([]relabel.Task{{InstanceID: "a"}, {InstanceID: "a"}})), relabel.CodeInvalid)
	if n := value[int](t, s, "SELECT count(*) FROM tasksets"); n != 1 {
		t.Errorf("%d tasksets", n)
	}
	_, err = s.FindTask(ctx, relabel.NewID())
	wantCode(t, err, relabel.CodeNotFound)
}

func TestARunIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := storetest.SeedWith(t, s, 2, func(d *storetest.Seeded) {
		d.Run.Instances = []string{d.Tasks[1].InstanceID}
		d.Run.Prompts.Tools = []relabel.Tool{{Name: "f", Description: "<b> & \x00", Parameters: `{"b": 1.0, "a": 1e400}`}}
		d.Run.Rho = &relabel.RhoSchedule{Kind: "list", Values: []int{1, 2}}
		d.Run.Seed = -1 << 63
		d.Run.Draw, d.Run.TasksPerRound, d.Run.Generations, d.Run.Rounds, d.Run.Preset = relabel.DrawPermutation, 512, 8, 5, "grpo-paper"
		d.Run.Verify, d.Run.LabelRule = "sample:5", "every:4+0.1"
		d.Run.Trainer = &relabel.Trainer{BatchSize: 32, Schedule: "constant", LearningRate: 1e-6, Data: "fresh"}
	})
	got, err := s.FindRun(context.Background(), d.Run.ID)
	must(t, err)
	if got.CreatedAt.IsZero() {
		t.Error("it has no time")
	}
	d.Run.CreatedAt = got.CreatedAt
	d.Run.TaskKind, d.Run.TasksetRevision = relabel.Repair, 1 // the defaults
	if !reflect.DeepEqual(got, d.Run) {
		t.Errorf("run %+v, not %+v", got, d.Run)
	}
	bad := d.Run
	bad.ID, bad.Name, bad.Limits.MaxTurns = relabel.NewID(), "bad", 0
	wantCode(t, s.CreateRun(context.Background(), bad), relabel.CodeInvalid)
	bad = d.Run
	bad.ID, bad.Name, bad.TasksetID = relabel.NewID(), "bad", relabel.NewID()
	wantCode(t, s.CreateRun(context.Background(), bad), relabel.CodeInvalid)
}

func TestAnIdempotencyKeyIsUsedOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	ask := relabel.Idempotent{Key: "k", Route: "POST /v1/runs", BodyHash: "h"}
	var first atomic.Int32
	var work sync.WaitGroup
	for range 6 {
		work.Go(func() {
			earlier, err := s.BeginIdempotent(ctx, ask)
			if err == nil && earlier == nil {
				first.Add(1)
			} else if relabel.CodeOf(err) != relabel.CodeConflict {
				t.Errorf("%+v, %v", earlier, err)
			}
		})
	}
	work.Wait()
	if first.Load() != 1 {
		t.Fatalf("%d were first", first.Load())
	}
	must(t, s.EndIdempotent(ctx, relabel.Idempotent{Key: "k"})) // it failed: the key is free
	earlier, err := s.BeginIdempotent(ctx, ask)
	must(t, err)
	if earlier != nil {
		t.Errorf("earlier: %+v", earlier)
	}
	answered := ask
	answered.Status, answered.Answer = 201, []byte("{\x00}")
	must(t, s.EndIdempotent(ctx, answered))
	must(t, s.EndIdempotent(ctx, relabel.Idempotent{Key: "k"}))                // too late
	exec(t, s, "UPDATE idempotency_keys SET since = now() - interval '1 day'") // an answer stays
	earlier, err = s.BeginIdempotent(ctx, ask)
	must(t, err)
	if earlier == nil || !reflect.DeepEqual(*earlier, answered) {
		t.Errorf("earlier: %+v", earlier)
	}
	for _, other := range []relabel.Idempotent{{Key: "k", Route: "POST /v1/exports", BodyHash: "h"}, {Key: "k", Route: ask.Route, BodyHash: "x"}} {
		_, err := s.BeginIdempotent(ctx, other)
		wantCode(t, err, relabel.CodeIdempotency)
	}
	exec(t, s, "INSERT INTO idempotency_keys (key, route, body_hash, claim, since) VALUES ('dead', 'r', 'h', gen_random_uuid(), now() - interval '11 minutes')")
	earlier, err = s.BeginIdempotent(ctx, relabel.Idempotent{Key: "dead", Route: "r", BodyHash: "h"})
	if earlier != nil || err != nil {
		t.Errorf("the key of a dead request is not free: %+v, %v", earlier, err)
	}
}

func TestATokenIsCheckedByItsHashAlone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	secret, err := s.CreateToken(ctx, "ci", relabel.FullAccess)
	must(t, err)
	sum := sha256.Sum256([]byte(secret))
	hash := hex.EncodeToString(sum[:])
	check := func(h string, want relabel.Access) {
		t.Helper()
		access, err := s.CheckToken(ctx, h)
		must(t, err)
		if access != want {
			t.Errorf("%q: access %q", h, access)
		}
	}
	check(hash, relabel.FullAccess)
	check(secret, relabel.NoAccess)
	check("\x00", relabel.NoAccess)
	if all := value[string](t, s, "SELECT string_agg(k::text, ' ') FROM tokens k"); strings.Contains(all, secret) {
		t.Error("the secret is in the database")
	}
	_, err = s.CreateToken(ctx, "ci", relabel.FullAccess)
	wantCode(t, err, relabel.CodeConflict)
	must(t, s.RevokeToken(ctx, "ci"))
	check(hash, relabel.NoAccess)
	wantCode(t, s.RevokeToken(ctx, "ci"), relabel.CodeNotFound)
	_, err = s.CreateToken(ctx, "ci", relabel.FullAccess) // the name is free again
	must(t, err)
	tokens, err := s.ListTokens(ctx)
	must(t, err)
	if len(tokens) != 2 || tokens[0].RevokedAt != nil || tokens[1].RevokedAt == nil {
		t.Errorf("tokens: %+v", tokens)
	}
}
