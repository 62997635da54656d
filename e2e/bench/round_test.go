package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/envs/scaffold/openhands"
	"relabel/store"
)

// round is an iteration that a benchmark rolls out.
type round struct {
	store            *store.Store
	id               relabel.ID
	trajectories     []relabel.Trajectory
	student, teacher time.Duration
	times            times

	studentPolicy, teacherPolicy relabel.Policy
}

// roundOf says how a round is.
type roundOf struct {
	trajectories, turns int
	beta                float64
	student, teacher    time.Duration
	times               times
	hold                string // what models do not answer
}

// begin stores a run with one iteration, and models to ask.
func begin(b *testing.B, s *store.Store, o roundOf) round {
	b.Helper()
	ctx := context.Background()
	r := rand.New(rand.NewPCG(7, uint64(o.trajectories)))
	task := relabel.Task{ID: relabel.NewID(), InstanceID: "owner__repo-1", Repo: "owner/repo", Image: "bench", Workdir: "/testbed",
		ProblemStatement: piece(r, 2000), TestCmd: "pytest -rA", LogParser: "pytest", FailToPass: []string{"a::b"}, PassToPass: []string{}}
	set := relabel.Taskset{ID: relabel.NewID(), Name: "tasks of " + relabel.NewID().String(), Digest: strings.Repeat("ab", 32)}
	task.TasksetID = set.ID
	must(b, s.CreateTaskset(ctx, set, relabel.TaskList([]relabel.Task{task})))
	teacher := storePolicy(b, s, "teacher", serve(b, o.teacher, o.hold))
	student := storePolicy(b, s, "student", serve(b, o.student, o.hold))
	run := relabel.Run{ID: relabel.NewID(), Name: "run " + relabel.NewID().String(), Recipe: relabel.DAgger, Scaffold: "openhands",
		Prompts: openhands.DefaultPrompts(), TasksetID: set.ID, TeacherID: teacher.ID, Limits: relabel.PaperLimits, Seed: 7,
		Beta: &relabel.BetaSchedule{Kind: "constant", Start: o.beta}}
	run.Limits.MaxContextTokens = 1 << 30
	must(b, s.CreateRun(ctx, run))
	beta := o.beta
	planned := relabel.PlannedIteration{Iteration: relabel.Iteration{ID: relabel.NewID(), RunID: run.ID, Number: 1, Kind: relabel.Collect,
		StudentID: student.ID, Beta: &beta, Generations: o.trajectories}}
	for g := range o.trajectories {
		planned.Trajectories = append(planned.Trajectories, relabel.Trajectory{ID: relabel.NewID(), TaskID: task.ID, Generation: g, Executors: draw(r, o.beta, o.turns)})
	}
	must(b, s.CreateIteration(ctx, planned))
	return round{s, planned.Iteration.ID, planned.Trajectories, o.student, o.teacher, o.times, student, teacher}
}

// storePolicy stores a policy whose endpoint bears whatever comes.
func storePolicy(b *testing.B, s *store.Store, name, url string) relabel.Policy {
	b.Helper()
	p, err := s.CreatePolicy(context.Background(), relabel.Policy{Name: name + relabel.NewID().String(), BaseURL: url, Model: "m", Server: relabel.ServerGeneric,
		Sampling: relabel.PaperSampling, Limits: relabel.PolicyLimits{Concurrency: 4096, TimeoutSeconds: 3600, PatienceSeconds: 60}})
	must(b, err)
	return p
}

// draw draws who executes which turn, with exactly β of them the teacher's: the longest
// of some trajectories is then no longer than β says.
func draw(r *rand.Rand, beta float64, turns int) relabel.Executors {
	marks := []byte(strings.Repeat("s", turns))
	for i := range int(math.Round(beta * float64(turns))) {
		marks[i] = 'T'
	}
	r.Shuffle(turns, func(i, j int) { marks[i], marks[j] = marks[j], marks[i] })
	return relabel.Executors(marks)
}

// wait waits until each trajectory of the round is done.
func (r round) wait(b *testing.B) {
	b.Helper()
	for one[string](b, r.store, "SELECT state FROM iterations WHERE id = $1", r.id) == "running" {
		time.Sleep(200 * time.Millisecond)
	}
	if n := one[int](b, r.store, `SELECT count(*) FROM trajectories WHERE iteration_id = $1
		AND (state <> 'done' OR labels_missing > 0 OR turns < length(executors))`, r.id); n > 0 {
		b.Fatalf("%d trajectories are not done and whole", n)
	}
}

// ideal is how long a trajectory takes whose turns wait for nothing but their executor
// and its command, and its end for nothing but late labels and the verifier.
func (r round) ideal(e relabel.Executors) time.Duration {
	at, labelled := r.times.Start, time.Duration(0)
	for t := 1; t <= len(e); t++ {
		wait := r.teacher
		if e.At(t) == relabel.Student {
			labelled = max(labelled, at+r.teacher)
			wait = r.student
		}
		at += wait + r.times.Command
	}
	return max(at, labelled) + r.times.Verify
}

// efficiency compares ideal with actual times, each counted from when the round was
// there to be claimed: the sums over all trajectories, and the slowest.
func (r round) efficiency(b *testing.B) (mean, slowest float64) {
	b.Helper()
	var sum, longest time.Duration
	for _, tr := range r.trajectories {
		sum += r.ideal(tr.Executors)
		longest = max(longest, r.ideal(tr.Executors))
	}
	actual := one[float64](b, r.store, `SELECT sum(extract(epoch FROM tr.ended_at - it.created_at))::float8
		FROM trajectories tr JOIN iterations it ON it.id = tr.iteration_id WHERE it.id = $1`, r.id)
	last := one[float64](b, r.store, `SELECT max(extract(epoch FROM tr.ended_at - it.created_at))::float8
		FROM trajectories tr JOIN iterations it ON it.id = tr.iteration_id WHERE it.id = $1`, r.id)
	return sum.Seconds() / actual, longest.Seconds() / last
}

// claimed is how long trajectories waited for their claim, in seconds, on the mean.
func (r round) claimed(b *testing.B) float64 {
	b.Helper()
	return one[float64](b, r.store, `SELECT avg(extract(epoch FROM tr.started_at - it.created_at))::float8
		FROM trajectories tr JOIN iterations it ON it.id = tr.iteration_id WHERE it.id = $1`, r.id)
}

// reportTime reports where the engine's own time of a turn went, in milliseconds, on the
// mean: in the sandbox beyond the command, waiting for the database, at the endpoint
// beyond the answered request, in that beyond what the model takes, and the rest.
func (r round) reportTime(b *testing.B) {
	b.Helper()
	var turns, teacher, sandbox, database, endpoint, model, engine float64
	must(b, r.store.Pool().QueryRow(context.Background(), `SELECT sum(tr.turns)::float8, sum(tr.teacher_turns)::float8, sum(ti.sandbox_ms)::float8,
		sum(ti.database_ms)::float8, sum(ti.endpoint_ms)::float8, sum(ti.model_ms)::float8, sum(ti.engine_ms)::float8
		FROM trajectories tr JOIN attempt_times ti ON ti.trajectory_id = tr.id WHERE tr.iteration_id = $1`, r.id).
		Scan(&turns, &teacher, &sandbox, &database, &endpoint, &model, &engine))
	stated := teacher*float64(r.teacher.Milliseconds()) + (turns-teacher)*float64(r.student.Milliseconds())
	b.ReportMetric(sandbox/turns-float64(r.times.Command.Milliseconds()), "ms-sandbox/turn")
	b.ReportMetric(database/turns, "ms-database/turn")
	b.ReportMetric(endpoint/turns, "ms-endpoint/turn")
	b.ReportMetric((model-stated)/turns, "ms-line/turn")
	b.ReportMetric(engine/turns, "ms-engine/turn")
}

// hosts names n Docker hosts.
func hosts(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("tcp://docker-%02d:2376", i)
	}
	return names
}
