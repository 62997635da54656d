package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	dockerclient "github.com/docker/docker/client"
	"github.com/rs/zerolog"

	"relabel"
	"relabel/chat"
	"relabel/envs"
	"relabel/envs/docker/dockertest"
	"relabel/envs/fleet"
	"relabel/envs/scaffold/openhands"
	"relabel/envs/verify"
	"relabel/mixer"
	"relabel/policy"
	"relabel/store"
	"relabel/store/storetest"
)

// fillMemory breaks a sandbox from inside. Nothing that commands may do reaches sandboxd, but
// segments of System V shared memory outlive the commands that make them, and are theirs to
// make until the sandbox's memory is full: the next thing that sandboxd holds has the kernel
// kill the only process that is left, which is sandboxd. Small segments fill what large ones leave.
const fillMemory = `cat >/tmp/fill.py <<'END'
import ctypes, sys
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
size = int(sys.argv[1])
while (segment := libc.shmget(0, size, 0o1666)) >= 0:
    at = libc.shmat(segment, None, 0)
    ctypes.memset(ctypes.c_void_p(at), 1, size)
    libc.shmdt(ctypes.c_void_p(at))
END
python3 -c "print('line\n' * 700000)" >/tmp/large`

// small is an engine whose sandboxes have little memory, and which may see each command before it runs.
type small struct {
	envs.Engine
	sees func(sandbox envs.Sandbox, command string)
}

func (e small) Create(ctx context.Context, spec envs.Spec) (envs.Sandbox, error) {
	spec.Limits.MemoryBytes = 160 << 20
	made, err := e.Engine.Create(ctx, spec)
	if err != nil {
		return nil, err
	}
	return seen{made, e.sees}, nil
}

type seen struct {
	envs.Sandbox
	sees func(sandbox envs.Sandbox, command string)
}

func (s seen) Run(ctx context.Context, c envs.Command) (envs.Result, error) {
	s.sees(s.Sandbox, c.Args[len(c.Args)-1])
	return s.Sandbox.Run(ctx, c)
}

// actor answers the k-th state of a rollout with the k-th action, whichever model is asked.
type actor []relabel.Message

func (a actor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct{ Messages []struct{ Role string } }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	k := 0
	for _, m := range q.Messages {
		if m.Role == string(relabel.RoleAssistant) {
			k++
		}
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":%s,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`,
		chat.AppendMessage(nil, a[k]))
}

// calls is an action of several calls: of a tool, and its arguments.
func calls(of ...[2]string) relabel.Message {
	m := relabel.Message{Role: relabel.RoleAssistant}
	for k, c := range of {
		m.ToolCalls = append(m.ToolCalls, relabel.ToolCall{ID: fmt.Sprint(k), Name: c[0], Arguments: c[1]})
	}
	return m
}

func bashCall(command string) [2]string {
	arguments, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err) // a map of strings
	}
	return [2]string{"execute_bash", string(arguments)}
}

// onEngine is a trajectory that a worker rolls out on the real engine, asking models over HTTP.
type onEngine struct {
	db     *store.Store
	id     relabel.ID
	worker *mixer.Mixer
}

// newOnEngine queues a trajectory in which the student acts as given.
func newOnEngine(t *testing.T, acts actor, sees func(envs.Sandbox, string)) *onEngine {
	t.Helper()
	db := storetest.New(t)
	hosts, err := fleet.New(t.Context(), fleet.Config{Members: []fleet.Member{{Engine: small{dockertest.NewHost(t), sees}}}, Log: zerolog.Nop()})
	noError(t, err)
	t.Cleanup(func() { _ = hosts.Close() })
	models := listenFor(t, acts) + "/v1"
	verifier, task := verify.New(hosts), madeTasks(t)[0] // of an image that exists, unlike the stored one
	environment := mixer.Environment{
		Start: func(ctx context.Context, c relabel.Claim) (mixer.Episode, error) {
			c.Task = task
			return openhands.Start(ctx, hosts, c)
		},
		Parse: func(c relabel.Claim, state []relabel.Message, action relabel.Message) relabel.ParseOutcome {
			return openhands.Parse(c.Run.Prompts.Tools, action)
		},
		Verify: func(ctx context.Context, c relabel.Claim, patch []byte) (relabel.Verdict, error) {
			return verifier.Verify(ctx, task, c.TrajectoryID, c.Attempt, c.Run.Limits, patch)
		},
		Policy: func(p relabel.Policy) (mixer.Policy, error) {
			p.BaseURL = models
			return policy.Open(p, policy.Options{Record: db.RecordCall})
		},
		EngineFailed: func(ctx context.Context, name string, err error) bool {
			return errors.Is(err, envs.ErrEngine) || !hosts.Well(ctx, name)
		},
	}
	d := storetest.SeedWith(t, db, 1, func(d *storetest.Seeded) {
		d.Run.Prompts = openhands.DefaultPrompts()
		d.Trajectories[0].Executors = relabel.Executors(strings.Repeat("s", len(acts)))
		d.Run.Limits.MaxTurns = len(acts)
	})
	worker := mixer.New(mixer.Config{Store: db, Environment: environment, Owner: "worker", Log: zerolog.Nop()})
	return &onEngine{db: db, id: d.Trajectories[0].ID, worker: worker}
}

// roll rolls it out until it is over, without waiting for the pauses between its attempts.
func (o *onEngine) roll(t *testing.T) relabel.Trajectory {
	t.Helper()
	for range 4 {
		if err := o.worker.Roll(t.Context(), func() {}); err != nil && !errors.Is(err, mixer.ErrReleased) {
			t.Fatal(err)
		}
		tr, err := o.db.FindTrajectory(t.Context(), o.id)
		noError(t, err)
		if tr.State != relabel.Queued {
			return tr
		}
		_, err = o.db.Pool().Exec(t.Context(), "UPDATE trajectories SET claimable_at = clock_timestamp() WHERE id = $1", o.id)
		noError(t, err)
	}
	t.Fatal("it is still queued")
	return relabel.Trajectory{}
}

// A student that breaks its own sandbox, in a container of the real engine, does not erase its
// failure: the second time it is the rollout's end, in every figure.
func TestAnAgentThatBreaksTwoContainersEndsItsRollout(t *testing.T) {
	t.Parallel()
	fill := [][2]string{bashCall(fillMemory)}
	for _, size := range []int{8 << 20, 1 << 20, 1 << 16, 1 << 16, 1 << 12, 1 << 12} {
		fill = append(fill, bashCall(fmt.Sprintf("python3 /tmp/fill.py %d", size)))
	}
	for range 4 {
		fill = append(fill, [2]string{"str_replace_editor", `{"command": "view", "path": "/tmp/large"}`})
	}
	o := newOnEngine(t, actor{calls(bashCall("echo one >>log")), calls(fill...), calls([2]string{"finish", "{}"})}, func(envs.Sandbox, string) {})
	tr := o.roll(t)
	if tr.State != relabel.Done || tr.EndReason != relabel.EndSandboxBroken || tr.Turns != 2 || tr.Attempt != 2 || *tr.Submitted {
		t.Fatalf("%s, %s, %d turns, attempt %d: %s %s", tr.State, tr.EndReason, tr.Turns, tr.Attempt, tr.Failure, tr.FailureDetail)
	}
	attempts, err := o.db.ListAttempts(t.Context(), o.id)
	noError(t, err)
	if !strings.Contains(attempts[0].Reason, "out of memory") {
		t.Errorf("the first attempt ended with %q", attempts[0].Reason)
	}
	turns, err := o.db.ListTurns(t.Context(), o.id, 1, 100)
	noError(t, err)
	if last := turns[len(turns)-1]; !strings.Contains(last.Observations[0].Content, "sandbox broke") || last.Label.Status != relabel.Received {
		t.Errorf("the last turn: %+v, its label %s", last.Observations, last.Label.Status)
	}
}

// A container that is killed from outside breaks no second time: the action is executed again,
// without asking the model, and the rollout continues.
func TestAContainerThatIsKilledOnceDoesNotEndTheRollout(t *testing.T) {
	t.Parallel()
	const mark = "echo two >>log"
	engine, err := dockerclient.NewClientWithOpts(dockerclient.FromEnv, dockerclient.WithAPIVersionNegotiation())
	noError(t, err)
	defer engine.Close()
	executed := 0
	kill := func(sandbox envs.Sandbox, command string) {
		if command != mark {
			return
		}
		if executed++; executed == 1 {
			noError(t, engine.ContainerKill(t.Context(), sandbox.ID(), "KILL"))
		}
	}
	o := newOnEngine(t, actor{calls(bashCall("echo one >>log")), calls(bashCall(mark)), calls([2]string{"finish", "{}"})}, kill)
	tr := o.roll(t)
	if tr.State != relabel.Done || tr.EndReason != relabel.EndFinish || tr.Turns != 3 || tr.Attempt != 2 || !*tr.Submitted {
		t.Fatalf("%s, %s, %d turns, attempt %d: %s %s", tr.State, tr.EndReason, tr.Turns, tr.Attempt, tr.Failure, tr.FailureDetail)
	}
	if tr.EnvironmentFailures != 1 || executed != 2 {
		t.Errorf("%d failures of the environment, the action was executed %d times", tr.EnvironmentFailures, executed)
	}
	made, err := o.db.ListCalls(t.Context(), o.id)
	noError(t, err)
	asked := 0
	for _, c := range made {
		if c.T == 2 && c.Purpose == relabel.PurposeAct {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("the model was asked %d times for the action of turn 2", asked)
	}
}
