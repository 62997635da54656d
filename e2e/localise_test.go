package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"relabel"
	"relabel/api"
	"relabel/e2e/e2etest"
	"relabel/policy/scripted"
	"relabel/shard/shardtest"
	"relabel/store/storetest"
)

// noDocker are the variables of a process whose Docker engine does not answer.
var noDocker = []string{"DOCKER_HOST=unix:///nonexistent/docker.sock"}

// shapes is a mirror of a small repository and tasks to localise in it.
type shapes struct {
	mirrors string // folder of mirrors
	commit  string
	tasks   []byte // JSONL
	count   int
}

// newShapes makes a repository with a module for each of many shapes, and a task for each module.
func newShapes(t *testing.T, count int) shapes {
	t.Helper()
	work, s := t.TempDir(), shapes{mirrors: t.TempDir(), count: count}
	for i := range count {
		e2etest.Write(t, work, fmt.Sprintf("shapes/shape%d.py", i), fmt.Sprintf(
			"import math\n\n\nclass Shape%[1]d:\n    def area%[1]d(self, side):\n        return side * %[1]d\n\n\ndef perimeter%[1]d(side):\n    return 4 * side\n", i))
	}
	e2etest.Git(t, work, "init", "-q", "-b", "main", ".")
	e2etest.Git(t, work, "add", ".")
	e2etest.Git(t, work, "-c", "user.name=t", "-c", "user.email=t@invalid", "commit", "-qm", "shapes")
	s.commit = strings.TrimSpace(e2etest.Git(t, work, "rev-parse", "HEAD"))
	e2etest.Git(t, s.mirrors, "clone", "-q", "--bare", work, "example__shapes.git")
	for i := range count {
		line, err := json.Marshal(map[string]any{
			"kind": "localise", "instance_id": fmt.Sprintf("example__shapes-%d", i), "repository": "example/shapes", "base_commit": s.commit,
			"problem_statement": fmt.Sprintf("The perimeter in shape%[1]d is wrong: `perimeter%[1]d(3)` returns 12 and should return 9, as the sides of this shape are only three in number.", i),
			"gold_files":        []string{fmt.Sprintf("shapes/shape%d.py", i)}, "gold_functions": []string{fmt.Sprintf("shapes/shape%[1]d.py::perimeter%[1]d", i)},
		})
		noError(t, err)
		s.tasks = append(append(s.tasks, line...), '\n')
	}
	return s
}

// searching is a server without Docker, with tasks to localise and scripted models.
type searching struct {
	place
	shapes
	server    *process
	api       *session
	models    *models
	set       relabel.Taskset
	teacher   relabel.Policy
	arguments []string
}

func newSearching(t *testing.T, count int, delay time.Duration, arguments ...string) *searching {
	t.Helper()
	s := &searching{place: place{data: t.TempDir(), database: storetest.Migrated(t), env: noDocker}, shapes: newShapes(t, count)}
	s.arguments = append([]string{"--repositories", s.mirrors, "--searches", "4", "--lease", "3s"}, arguments...)
	s.server, s.api = s.serve(t, s.arguments...)
	s.models = &models{server: scripted.NewServer(scripted.Config{TeacherDelay: delay, StudentDelay: delay})}
	s.models.url = listenFor(t, s.models) + "/v1"
	imported, err := s.api.ImportTaskset(bounded(t), url.Values{"name": {"shapes"}}, bytes.NewReader(s.tasks), int64(len(s.tasks)))
	noError(t, err)
	if imported.Kind != relabel.Localise {
		t.Fatalf("the kind of the tasks is %s", imported.Kind)
	}
	s.set, s.teacher = imported.Taskset, s.policy(t, s.models.teacher())
	return s
}

func (s *searching) policy(t *testing.T, p relabel.Policy) relabel.Policy {
	t.Helper()
	stored, err := s.api.CreatePolicy(bounded(t), api.NewPolicy{Name: p.Name, BaseURL: p.BaseURL, Model: p.Model})
	noError(t, err)
	return stored
}

func (s *searching) start(t *testing.T, run relabel.Run, in api.NewIteration, skill string) api.IterationView {
	t.Helper()
	in.Student = s.policy(t, s.models.student(skill)).ID.String()
	it, err := s.api.StartIteration(bounded(t), run.ID, in)
	noError(t, err)
	return it
}

func (s *searching) finish(t *testing.T, it api.IterationView) (api.IterationView, []relabel.Trajectory) {
	t.Helper()
	end, err := s.api.FollowIteration(bounded(t), it.ID, func(api.IterationView) {})
	noError(t, err)
	all, err := s.api.Trajectories(bounded(t), url.Values{"iteration": {it.ID.String()}})
	noError(t, err)
	return end, all
}

// TestLocalisationNeedsNoDockerAndSurvivesAKill collects with a mixture, is killed in the middle, goes
// on, and exports the answers as labels.
func TestLocalisationNeedsNoDockerAndSurvivesAKill(t *testing.T) {
	t.Parallel()
	s := newSearching(t, 12, 50*time.Millisecond, "--rollouts", "0")
	run, err := s.api.CreateRun(bounded(t), api.NewRun{Name: "search", Taskset: s.set.ID.String(), Teacher: s.teacher.ID.String(), Seed: 3,
		Beta: &relabel.BetaSchedule{Kind: "constant", Start: 0.6}})
	noError(t, err)
	if run.TaskKind != relabel.Localise || run.Scaffold != "reposearcher" || run.Limits.ScoreDepth != 5 {
		t.Errorf("the run is %+v", run)
	}
	it := s.start(t, run, api.NewIteration{}, "0.7")
	eventually(t, "some searches have ended and others run", func() bool {
		now, err := s.api.Iteration(bounded(t), it.ID)
		noError(t, err)
		return now.Progress.Trajectories[relabel.Done] >= 2 && now.Progress.Trajectories[relabel.Running] >= 1
	})
	s.server.signal(syscall.SIGKILL)
	s.server, s.api = s.serve(t, s.arguments...)
	end, all := s.finish(t, it)
	if end.State != relabel.IterationDone || len(all) != s.count || end.Progress.LabelsReceived != end.Progress.Turns || end.Progress.Scored != s.count {
		t.Fatalf("%s, %+v, %d trajectories", end.State, end.Progress, len(all))
	}
	resumed := 0
	for _, tr := range all {
		s.scored(t, tr)
		if tr.Attempt > 1 {
			resumed++
		}
	}
	if resumed == 0 {
		t.Error("no search was taken over")
	}
	s.exported(t, run, all)
	report, err := s.api.Localisation(bounded(t), run.ID, api.LocalisationQuery{})
	noError(t, err)
	if len(report.Iterations) != 1 {
		t.Errorf("the report is %+v", report)
	}
}

// scored checks one trajectory: it has a score and no result of tests, and the answer is its last turn.
func (s *searching) scored(t *testing.T, tr relabel.Trajectory) {
	t.Helper()
	if tr.State != relabel.Done || tr.Score == nil || tr.Hits == nil || tr.Passed != nil || tr.Resolved != nil || tr.Verdict != relabel.VerdictScore {
		t.Errorf("%s: %s %s, score %v, passed %v", tr.InstanceID, tr.State, tr.Verdict, tr.Score, tr.Passed)
		return
	}
	if tr.EndReason != relabel.EndFinish {
		return
	}
	turns, err := s.api.Turns(bounded(t), tr.ID, url.Values{"limit": {"500"}})
	noError(t, err)
	last := turns.Items[len(turns.Items)-1]
	if len(last.Observations) != 0 {
		t.Errorf("%s: the answer has observations", tr.InstanceID)
	}
}

// exported exports the run, verifies the files, and checks that answers are among the labels.
func (s *searching) exported(t *testing.T, run relabel.Run, all []relabel.Trajectory) {
	t.Helper()
	s.must(t, "export", "start", run.Name, "--view", "messages,linear,packed,tree", "--tokenizer", shardtest.Student(t), "--no-submitted")
	manifests, err := filepath.Glob(filepath.Join(s.data, "exports", "*", "manifest.json"))
	noError(t, err)
	if len(manifests) != 1 {
		t.Fatalf("%d exports", len(manifests))
	}
	dir := filepath.Dir(manifests[0])
	if said := s.must(t, "export", "verify", dir, "--tokenizer", shardtest.Student(t)); !strings.HasPrefix(said, "PASS") {
		t.Errorf("%s", said)
	}
	answers := 0
	for _, row := range exportedRows(t, dir) {
		var label struct {
			Message struct {
				Content   string            `json:"content"`
				ToolCalls []json.RawMessage `json:"tool_calls"`
			} `json:"message"`
		}
		noError(t, json.Unmarshal([]byte(row.Label), &label))
		if len(label.Message.ToolCalls) == 0 {
			answers++
			if !strings.Contains(label.Message.Content, "```\n") {
				t.Errorf("a label without a call and without a list: %s", row.Label)
			}
		}
	}
	finished := 0
	for _, tr := range all {
		if tr.EndReason == relabel.EndFinish {
			finished++
		}
	}
	if answers != finished || finished == 0 {
		t.Errorf("%d answers are labels, of %d searches that ended with one", answers, finished)
	}
}

// exportedRows returns the rows of the messages view of an export.
func exportedRows(t *testing.T, dir string) (all []exportedRow) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "messages", "*.parquet"))
	noError(t, err)
	for _, file := range files {
		rows, err := parquet.ReadFile[exportedRow](file)
		noError(t, err)
		all = append(all, rows...)
	}
	return all
}

// TestARepairRunWaitsForAWorkerWithDocker starts both kinds of run where no engine answers.
func TestARepairRunWaitsForAWorkerWithDocker(t *testing.T) {
	t.Parallel()
	s := newSearching(t, 2, 0)
	health, err := s.api.Ready(bounded(t))
	noError(t, err)
	docker := ""
	for _, c := range health.Checks {
		if c.Name == "docker" && !c.OK && c.Optional {
			docker = c.Detail
		}
	}
	if !strings.Contains(docker, "Tasks to repair wait") {
		t.Errorf("readiness says %+v", health.Checks)
	}
	repair, err := os.ReadFile(filepath.Join("..", "tasks", "testdata", "relabel.jsonl"))
	noError(t, err)
	set, err := s.api.ImportTaskset(bounded(t), url.Values{"name": {"repair"}}, bytes.NewReader(repair), int64(len(repair)))
	noError(t, err)
	if _, err := s.api.CreateRun(bounded(t), api.NewRun{Name: "wrong", Taskset: set.ID.String(), Teacher: s.teacher.ID.String(), Scaffold: "reposearcher"}); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("a scaffold for other tasks: %v", err)
	}
	run, err := s.api.CreateRun(bounded(t), api.NewRun{Name: "repair", Taskset: set.ID.String(), Teacher: s.teacher.ID.String()})
	noError(t, err)
	it := s.start(t, run, api.NewIteration{}, "1")
	eventually(t, "the iteration says what it waits for", func() bool {
		now, err := s.api.Iteration(bounded(t), it.ID)
		noError(t, err)
		return strings.Contains(now.WaitsForWorker, "needs a Docker engine")
	})
	search, err := s.api.CreateRun(bounded(t), api.NewRun{Name: "search", Taskset: s.set.ID.String(), Teacher: s.teacher.ID.String()})
	noError(t, err)
	if end, _ := s.finish(t, s.start(t, search, api.NewIteration{}, "1")); end.State != relabel.IterationDone {
		t.Errorf("the search is %s", end.State)
	}
}
