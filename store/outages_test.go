package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// seedAt stores a run with n queued trajectories whose policies are at these addresses.
func seedAt(t *testing.T, s *store.Store, n int, teacher, student string, change func(*storetest.Seeded)) storetest.Seeded {
	t.Helper()
	policyAt := func(url string) relabel.Policy {
		p, err := s.CreatePolicy(context.Background(), relabel.Policy{Name: "p-" + relabel.NewID().String(), BaseURL: url, Model: "m",
			Server: relabel.ServerGeneric, Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits})
		must(t, err)
		return p
	}
	return storetest.SeedWith(t, s, n, func(d *storetest.Seeded) {
		d.Teacher, d.Student = policyAt(teacher), policyAt(student)
		d.Run.TeacherID, d.Iteration.StudentID = d.Teacher.ID, d.Student.ID
		if change != nil {
			change(d)
		}
	})
}

// beta sets an iteration's β.
func beta(b float64) func(*storetest.Seeded) {
	return func(d *storetest.Seeded) { d.Iteration.Beta = &b }
}

const up, dead = "http://up/v1", "http://dead/v1"

func deadFor(t *testing.T, s *store.Store, worker string) {
	t.Helper()
	must(t, s.SeeEndpoints(context.Background(), worker, []relabel.EndpointStatus{{URL: dead, Down: "refused"}}))
}

// claimed are the runs of n claims, "" if nothing was to be claimed.
func claimedBy(t *testing.T, s *store.Store, worker string, n int) (runs []relabel.ID) {
	t.Helper()
	for range n {
		c, err := s.ClaimNext(context.Background(), worker, relabel.Repair, storetest.Lease)
		if relabel.CodeOf(err) == relabel.CodeNotFound {
			return runs
		}
		must(t, err)
		runs = append(runs, c.Run.ID)
	}
	return runs
}

func TestARunWhoseEndpointIsDownIsPassedOver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		teacher, student string
		change           func(*storetest.Seeded)
		passed           bool
	}{
		"the student is down":                        {up, dead + "/", beta(0.5), true},
		"the teacher is down":                        {dead, up, beta(0.5), true},
		"the teacher is down and only labels":        {dead, up, beta(0), false},
		"the student is down and executes no turn":   {up, dead, beta(1), false},
		"both are up":                                {up, up, beta(0.5), false},
		"the student is down in an evaluation":       {up, dead, evaluating, true},
		"the teacher is down beside an evaluation":   {dead, up, evaluating, false},
		"the teacher is down beside a sample":        {dead, up, sample, false},
		"the student is down in a sample":            {up, dead, sample, true},
		"the teacher is down after student prefixes": {dead, up, prefixes, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storetest.New(t)
			d := seedAt(t, s, 4, c.teacher, c.student, c.change)
			healthy := seedAt(t, s, 4, up, up, nil)
			deadFor(t, s, "w")
			got := claimedBy(t, s, "w", 8)
			mine := 0
			for _, run := range got {
				if run == d.Run.ID {
					mine++
				}
			}
			if want := map[bool]int{true: 0, false: 4}[c.passed]; mine != want || len(got)-mine != 4 {
				t.Errorf("%d claimed of it, %d of the healthy run", mine, len(got)-mine)
			}
			outages, err := s.ListOutages(context.Background(), &d.Run.ID)
			must(t, err)
			if (len(outages) == 1) != c.passed || c.passed && (outages[0].Waiting != 4 || outages[0].Reason != "refused" || outages[0].IterationID != d.Iteration.ID) {
				t.Errorf("outages: %+v", outages)
			}
			must(t, s.BalanceWakeups(context.Background()))
			if n := wakeups(t, s); n != 0 {
				t.Errorf("%d wake-ups for what is passed over", n)
			}
			must(t, s.SeeEndpoints(context.Background(), "w", nil))
			must(t, s.BalanceWakeups(context.Background()))
			if n, want := wakeups(t, s), 4-mine; n != want {
				t.Errorf("%d wake-ups when it is back, not %d", n, want)
			}
			if n := len(claimedBy(t, s, "w", 8)); n != 4-mine {
				t.Errorf("%d claimed when it is back", n)
			}
			_ = healthy
		})
	}
}

func evaluating(d *storetest.Seeded) { alone(d, relabel.Evaluate) }

func sample(d *storetest.Seeded) { alone(d, relabel.Sample) }

func alone(d *storetest.Seeded, kind relabel.IterationKind) {
	d.Iteration.Kind, d.Iteration.Beta = kind, nil
	for i := range d.Trajectories {
		d.Trajectories[i].Executors = "ssssss"
	}
}

func prefixes(d *storetest.Seeded) {
	rho := relabel.RhoSchedule{Kind: "uniform", Max: 3}
	d.Run.Recipe, d.Run.Beta, d.Run.Rho = relabel.AggreVaTe, nil, &rho
	d.Iteration.Beta, d.Iteration.Rho = nil, &rho
}

func TestWhoseStatusOfAnEndpointCounts(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	seedAt(t, s, 6, up, dead, nil)
	deadFor(t, s, "a")
	if n := len(claimedBy(t, s, "b", 1)); n != 0 {
		t.Error("what another worker knows is not heeded")
	}
	must(t, s.SeeEndpoints(ctx, "b", []relabel.EndpointStatus{{URL: dead}}))
	if n := len(claimedBy(t, s, "b", 1)); n != 1 {
		t.Error("its own status does not count")
	}
	if n := len(claimedBy(t, s, "a", 1)); n != 0 {
		t.Error("another's status outweighs its own")
	}
	if n := len(claimedBy(t, s, "c", 1)); n != 1 {
		t.Error("one that finds it up does not outweigh")
	}
	exec(t, s, "UPDATE endpoint_status SET until = clock_timestamp() - interval '1 second'")
	if n := len(claimedBy(t, s, "a", 1)); n != 1 {
		t.Error("a status holds for ever")
	}
}

func TestAReplicaThatIsUpIsEnough(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := seedAt(t, s, 2, up, dead, nil)
	exec(t, s, "ALTER TABLE policies DISABLE TRIGGER policies_immutable")
	exec(t, s, "UPDATE policies SET replicas = ARRAY['http://other/v1/'] WHERE id = $1", d.Student.ID)
	deadFor(t, s, "w")
	if n := len(claimedBy(t, s, "w", 1)); n != 1 {
		t.Error("it is passed over")
	}
	must(t, s.SeeEndpoints(context.Background(), "w", []relabel.EndpointStatus{{URL: dead, Down: "refused"}, {URL: "http://other/v1", Down: "refused"}}))
	if n := len(claimedBy(t, s, "w", 1)); n != 0 {
		t.Error("it is claimed with both down")
	}
}

func TestLabelsOfADeadTeacherWaitInTheQueueAndVerificationDoesNot(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := seedAt(t, s, 2, dead, up, beta(0.5))
	for i, tr := range d.Trajectories {
		c := storetest.Claim(t, s, tr.ID, "w")
		label := storetest.Received(d.Teacher.ID, "label")
		if i == 0 {
			must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, nil)))
		} else {
			must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, &label)))
		}
		must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish}))
		must(t, s.ReleaseWaiting(ctx, c.Fence, relabel.Wait{Step: "labels", For: time.Second}, "refused"))
	}
	deadFor(t, s, "w")
	c, err := s.ClaimNext(ctx, "w", relabel.Repair, storetest.Lease)
	must(t, err)
	if c.TrajectoryID != d.Trajectories[1].ID {
		t.Error("the one that owes a label was claimed")
	}
	wantNothing(t, s)
	must(t, s.SeeEndpoints(ctx, "w", nil))
	c, err = s.ClaimNext(ctx, "w", relabel.Repair, storetest.Lease)
	must(t, err)
	if c.Waited != (relabel.Wait{Step: "labels", For: time.Second}) {
		t.Errorf("waited %+v", c.Waited)
	}
	must(t, s.ReleaseWaiting(ctx, c.Fence, relabel.Wait{Step: "labels", For: time.Second}, "refused"))
	if ms := value[int](t, s, "SELECT waited_ms FROM trajectories WHERE id = $1", c.TrajectoryID); ms != 2000 {
		t.Errorf("waited %d ms in all", ms)
	}
	if n := value[int](t, s, "SELECT environment_failures FROM trajectories WHERE id = $1", c.TrajectoryID); n != 0 {
		t.Error("it used up its budget")
	}
}

func TestRelabelingsOfADeadPolicyArePassedOver(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := seedAt(t, s, 1, dead, up, nil)
	storetest.Finish(t, s, storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 2, true)
	_, err := s.RelabelTrajectory(ctx, d.Trajectories[0].ID, d.Teacher.ID, 0)
	must(t, err)
	deadFor(t, s, "w")
	_, err = s.ClaimRelabeling(ctx, "w", storetest.Lease)
	wantCode(t, err, relabel.CodeNotFound)
	must(t, s.SeeEndpoints(ctx, "w", nil))
	_, err = s.ClaimRelabeling(ctx, "w", storetest.Lease)
	must(t, err)
}

func TestAFaultThatRepeatsAtOneStepIsNotTransient(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	refused := fmt.Errorf("insert: %w", &pgconn.PgError{Code: "23514", ConstraintName: "actions_received"})
	away := relabel.Errorf(relabel.CodeUnavailable, "the database is out of disk").Because(&pgconn.PgError{Code: "53100"})
	release := func(at string, fault error) bool {
		t.Helper()
		exec(t, s, "UPDATE trajectories SET claimable_at = clock_timestamp()")
		c, err := s.Claim(ctx, d.Trajectories[0].ID, "w", storetest.Lease)
		must(t, err)
		again, err := s.ReleaseFault(ctx, c.Fence, at, fault)
		must(t, err)
		if !again {
			must(t, s.Release(ctx, c.Fence)) // the fence holds still
		}
		return again
	}
	for i, want := range []bool{true, true, false} {
		if release("turn 1", refused) != want {
			t.Errorf("time %d at turn 1: released %v", i+1, !want)
		}
	}
	if !release("turn 2", refused) || !release("turn 1", refused) {
		t.Error("another step is not another count")
	}
	if !release("turn 1", away) || !release("turn 1", refused) {
		t.Error("another fault is not another count")
	}
	for i := range 10 {
		if release("turn 3", away) != (i < 9) {
			t.Errorf("time %d of an outage", i+1)
		}
	}
}
