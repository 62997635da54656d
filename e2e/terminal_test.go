package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"relabel"
	"relabel/api"
	"relabel/envs/envstest"
	"relabel/policy/scripted"
	"relabel/store/storetest"
	"relabel/tasks/harbor"
)

// harborSet is a set of task folders: one whose reward is 0 or 1, one with rewards in between, and a broken one.
const harborSet = "../tasks/harbor/testdata/set"

// terminals is a server with the tasks of harborSet and the scripted models.
type terminals struct {
	searching
	arguments []string
}

func newTerminals(t *testing.T, delay time.Duration) *terminals {
	t.Helper()
	envstest.Image(t)
	folders, err := harbor.Read(os.DirFS(harborSet))
	noError(t, err)
	var tasks []relabel.Task
	for _, f := range folders {
		tasks = append(tasks, f.Task)
	}
	s := &terminals{searching: searching{place: place{data: t.TempDir(), database: storetest.Migrated(t)}}, arguments: []string{"--lease", "3s"}}
	s.must(t, "tasks", "build-images", harborSet)
	s.server, s.api = s.serve(t, s.arguments...)
	s.models = &models{server: scripted.NewServer(scripted.Config{Solvers: scripted.NewSolvers(tasks), TeacherDelay: delay, StudentDelay: delay})}
	s.models.url = listenFor(t, s.models) + "/v1"
	said := s.must(t, "tasks", "import", harborSet, "--name", "harbor")
	for _, want := range []string{"harbor: 3 tasks", "1 of 3 tasks allow a network", "never-solved (curl", "images to build from a Dockerfile: 3", "not used: agent.timeout_sec (2 tasks)"} {
		if !strings.Contains(said, want) {
			t.Errorf("import does not say %q: %s", want, said)
		}
	}
	s.set, err = s.api.Taskset(bounded(t), "harbor")
	noError(t, err)
	s.teacher = s.policy(t, s.models.teacher())
	return s
}

// TestHarborTasksAreRolledOutRewardedAndExported imports task folders, collects with a mixture, is killed in the
// middle, goes on, and exports by reward.
func TestHarborTasksAreRolledOutRewardedAndExported(t *testing.T) {
	t.Parallel()
	s := newTerminals(t, 300*time.Millisecond)
	run, err := s.api.CreateRun(bounded(t), api.NewRun{Name: "terminal", Taskset: s.set.ID.String(), Teacher: s.teacher.ID.String(), Seed: 3,
		Beta: &relabel.BetaSchedule{Kind: "constant", Start: 0.6}})
	noError(t, err)
	if run.TaskKind != relabel.Terminal || run.Scaffold != "terminal" {
		t.Errorf("the run is %+v", run)
	}
	it := s.start(t, run, api.NewIteration{}, "1")
	eventually(t, "a rollout has turns", func() bool {
		now, err := s.api.Iteration(bounded(t), it.ID)
		noError(t, err)
		return now.Progress.Turns >= 4
	})
	s.server.signal(syscall.SIGKILL)
	s.server, s.api = s.serve(t, s.arguments...)
	end, all := s.finish(t, it)
	if end.State != relabel.IterationDone || len(all) != 3 || end.Progress.Resolved != 2 || end.Progress.Scored != 3 || end.Progress.LabelsReceived != end.Progress.Turns {
		t.Fatalf("%s, %+v, %d trajectories", end.State, end.Progress, len(all))
	}
	for _, tr := range all {
		want := relabel.VerdictTestsPassed
		if tr.InstanceID == "never-solved" {
			want = relabel.VerdictNoReward
		}
		if tr.VerdictReason != want || tr.Score == nil || (*tr.Score == 1) != (want == relabel.VerdictTestsPassed) || tr.Passed == nil || tr.Hits != nil || !*tr.Submitted {
			t.Errorf("%s: %s, score %v, passed %v", tr.InstanceID, tr.VerdictReason, tr.Score, tr.Passed)
		}
	}
	said := s.must(t, "export", "start", run.Name, "--view", "messages", "--min-score", "0.5")
	if manifests, err := filepath.Glob(filepath.Join(s.data, "exports", "*", "manifest.json")); err != nil || len(manifests) != 1 || !strings.Contains(said, "score_too_low") {
		t.Errorf("%d exports: %s", len(manifests), said)
	}
	if said, code := s.command(t, "run", "verify", run.Name); code == 0 || !strings.Contains(said, "not graded again") {
		t.Errorf("run verify ended with %d: %s", code, said)
	}
}

func TestHarborTasksAreValidatedAndRefusedByName(t *testing.T) {
	t.Parallel()
	envstest.Image(t)
	p := place{data: t.TempDir(), database: storetest.Migrated(t)}
	p.must(t, "tasks", "build-images", harborSet)
	said, code := p.command(t, "tasks", "validate", harborSet, "--results", t.TempDir())
	if code == 0 || strings.Count(said, " sound\n") != 2 || !strings.Contains(said, "never-solved: its solution does not have reward 1: 0 (no_reward)") {
		t.Errorf("validate ended with %d: %s", code, said)
	}
	set := t.TempDir()
	noError(t, os.CopyFS(set, os.DirFS(harborSet)))
	noError(t, os.WriteFile(filepath.Join(set, "sum-column", "task.toml"), []byte("[environment]\ngpus = 1\n"), 0o644))
	said, code = p.command(t, "tasks", "validate", set)
	if code == 0 || !strings.Contains(said, "sum-column: environment.gpus: sandboxes have no GPU") {
		t.Errorf("validate ended with %d: %s", code, said)
	}
}
