package mixer

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"relabel"
	"relabel/chat"
)

// fakeEnvironment is sandboxes, verifier and policies in memory. Each operation calls before
// with its name, and takes its time by the bubble's clock. after is called when an action
// was executed or a policy has answered.
type fakeEnvironment struct {
	before, after func(ctx context.Context, op string) error
	asked         func(role relabel.Role, req relabel.ChatRequest) // before a policy is
	drift         func(sandbox, t int, obs []relabel.Observation)  // what another sandbox does otherwise

	teacher, student func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error)
	openPolicy       func(p relabel.Policy) error
	execute          func(ctx context.Context, t int, action relabel.Message) error
	executeTime      time.Duration
	patch            string
	verdict          relabel.Verdict
	verifyErr        error
	startErr         error

	mu     sync.Mutex
	opened int
	closed int
	calls  []call
	broken []string
}

// call is a request that reached a policy.
type call struct {
	role relabel.Role
	req  relabel.ChatRequest
	text string // the state as JSON
}

func (w *fakeEnvironment) enter(ctx context.Context, op string) error {
	if w.before != nil {
		if err := w.before(ctx, op); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (w *fakeEnvironment) environment() Environment {
	return Environment{
		Start: func(ctx context.Context, c relabel.Claim) (Episode, error) {
			if err := w.enter(ctx, "Start"); err != nil {
				return nil, err
			}
			if w.startErr != nil {
				return nil, w.startErr
			}
			w.mu.Lock()
			w.opened++
			e := &fakeEpisode{environment: w, number: w.opened}
			w.mu.Unlock()
			return e, nil
		},
		Parse: parse,
		Verify: func(ctx context.Context, c relabel.Claim, patch []byte) (relabel.Verdict, error) {
			if err := w.enter(ctx, "Verify"); err != nil {
				return relabel.Verdict{}, err
			}
			return w.verdict, w.verifyErr
		},
		Policy: func(p relabel.Policy) (Policy, error) {
			if w.openPolicy != nil {
				if err := w.openPolicy(p); err != nil {
					return nil, err
				}
			}
			return fakePolicy{w, relabel.Role(p.Name)}, nil
		},
	}
}

// callsOf returns the calls of a role.
func (w *fakeEnvironment) callsOf(role relabel.Role) []call {
	w.mu.Lock()
	defer w.mu.Unlock()
	var of []call
	for _, c := range w.calls {
		if c.role == role {
			of = append(of, c)
		}
	}
	return of
}

type fakePolicy struct {
	environment *fakeEnvironment
	role        relabel.Role
}

func (p fakePolicy) Complete(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
	if p.environment.asked != nil {
		p.environment.asked(p.role, req)
	}
	p.environment.mu.Lock()
	p.environment.calls = append(p.environment.calls, call{p.role, req, string(chat.AppendMessages(nil, req.Messages))})
	p.environment.mu.Unlock()
	if err := p.environment.enter(ctx, string(p.role)+"/"+string(req.Purpose)); err != nil {
		return relabel.Completion{}, err
	}
	answer := p.environment.student
	if p.role == relabel.Teacher {
		answer = p.environment.teacher
	}
	c, err := answer(ctx, req)
	if err == nil {
		err = p.environment.leave(ctx, string(p.role)+"/"+string(req.Purpose))
	}
	return c, err
}

func (w *fakeEnvironment) leave(ctx context.Context, op string) error {
	if w.after == nil {
		return nil
	}
	return w.after(ctx, op)
}

// fakeEpisode is a sandbox whose tree is what was executed in it. It refuses misuse:
// calls that overlap or come after Close.
type fakeEpisode struct {
	environment *fakeEnvironment
	number      int // of the sandbox
	busy        sync.Mutex
	closed      bool
	tree        string
}

func (e *fakeEpisode) use(op string) func() {
	if !e.busy.TryLock() {
		e.environment.wrong(op + " overlaps another call")
		return func() {}
	}
	if e.closed {
		e.environment.wrong(op + " after Close")
	}
	return e.busy.Unlock
}

func (w *fakeEnvironment) wrong(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = append(w.broken, what)
}

func parse(_ relabel.Claim, _ []relabel.Message, m relabel.Message) relabel.ParseOutcome {
	switch {
	case len(m.ToolCalls) == 0:
		return relabel.NoCall
	case m.ToolCalls[0].Arguments == "{":
		return relabel.MalformedCall
	}
	return relabel.ParsedOK
}

func (e *fakeEpisode) Execute(ctx context.Context, t int, m relabel.Message) ([]relabel.Observation, bool, error) {
	defer e.use("Execute")()
	if err := e.environment.enter(ctx, "Execute"); err != nil {
		return nil, false, err
	}
	if err := sleep(ctx, e.environment.executeTime); err != nil {
		return nil, false, err
	}
	if e.environment.execute != nil {
		if err := e.environment.execute(ctx, t, m); err != nil {
			return nil, false, err
		}
	}
	obs, finished := e.run(t, m)
	if e.environment.drift != nil {
		e.environment.drift(e.number, t, obs)
	}
	return obs, finished, e.environment.leave(ctx, "Execute")
}

func (e *fakeEpisode) run(t int, m relabel.Message) (obs []relabel.Observation, finished bool) {
	if len(m.ToolCalls) == 0 {
		return []relabel.Observation{{Content: "call a tool"}}, false
	}
	e.tree += fmt.Sprintf("%d:%s;", t, m.Content)
	for k, c := range m.ToolCalls {
		exit := (t + k) % 3
		obs = append(obs, relabel.Observation{CallID: relabel.CallID(t, k), Tool: c.Name, Content: fmt.Sprintf("observed %d.%d", t, k), ExitCode: &exit})
		if c.Name == "finish" {
			return obs, true
		}
	}
	return obs, false
}

func (e *fakeEpisode) Tree(ctx context.Context) (string, error) {
	defer e.use("Tree")()
	return e.tree, e.environment.enter(ctx, "Tree")
}

func (e *fakeEpisode) Patch(ctx context.Context) ([]byte, bool, error) {
	defer e.use("Patch")()
	return []byte(e.environment.patch), true, e.environment.enter(ctx, "Patch")
}

func (e *fakeEpisode) Sandbox() (string, string) { return "host", "container" }

func (e *fakeEpisode) Close(ctx context.Context) error {
	e.busy.Lock()
	defer e.busy.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	e.environment.mu.Lock()
	e.environment.closed++
	e.environment.mu.Unlock()
	return e.environment.enter(ctx, "Close")
}

// sleep takes time unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(d):
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// says is an answer with one call of a tool, whose text tells who said it when and why.
func says(who relabel.Role, req relabel.ChatRequest, tool string) relabel.Completion {
	text := fmt.Sprintf("<%s %s %d>", who, req.Purpose, req.T)
	m := relabel.Message{Role: relabel.RoleAssistant, Content: text,
		ToolCalls: []relabel.ToolCall{{ID: "endpoint-" + text, Name: tool, Arguments: "{}"}}}
	return relabel.Completion{Raw: chat.AppendMessage(nil, m), Message: m, FinishReason: "tool_calls",
		Usage: &relabel.Usage{PromptTokens: 10, CompletionTokens: 5}}
}

// talks is a policy that works until its last turn and then finishes.
func talks(who relabel.Role, last int, latency time.Duration) func(context.Context, relabel.ChatRequest) (relabel.Completion, error) {
	return func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
		if err := sleep(ctx, latency); err != nil {
			return relabel.Completion{}, relabel.Errorf(relabel.CodeEndpoint, "given up").Because(err)
		}
		tool := "execute_bash"
		if req.T >= last {
			tool = "finish"
		}
		answer := says(who, req, tool)
		answer.Took = latency
		return answer, nil
	}
}

// testClaim is a collect trajectory with these executors.
func testClaim(executors string) relabel.Claim {
	run := relabel.Run{ID: relabel.NewID(), Recipe: relabel.DAgger, Seed: 1, Limits: relabel.PaperLimits,
		Prompts: relabel.Prompts{System: "system", First: "fix {problem_statement}", Tools: []relabel.Tool{{Name: "finish", Parameters: "{}"}}}}
	run.Limits.MaxTurns, run.Limits.EnvironmentRetries = len(executors), 0 // who breaks sandboxes says how often
	return relabel.Claim{
		Run:  run,
		Task: relabel.Task{ID: relabel.NewID(), InstanceID: "task-1", ProblemStatement: "it"},
		Trajectory: relabel.Trajectory{ID: relabel.NewID(), RunID: run.ID, InstanceID: "task-1", Iteration: 1,
			Kind: relabel.Collect, State: relabel.Queued, Executors: relabel.Executors(executors)},
		Teacher: relabel.Policy{ID: relabel.NewID(), Name: string(relabel.Teacher), Sampling: relabel.PaperSampling},
		Student: relabel.Policy{ID: relabel.NewID(), Name: string(relabel.Student), Sampling: relabel.PaperSampling},
	}
}

// bench is a mixer over fakes.
type bench struct {
	store       *fakeStore
	environment *fakeEnvironment
	mixer       *Mixer
}

// newBench has policies that finish at turn last, and a patch that resolves the task.
func newBench(executors string, last int) *bench {
	b := &bench{store: newFakeStore(testClaim(executors)), environment: &fakeEnvironment{
		teacher: talks(relabel.Teacher, last, 0), student: talks(relabel.Student, last, 0),
		patch: "diff", verdict: relabel.Verdict{Passed: true, Reason: "passed"},
	}}
	b.mixer = New(Config{Store: b.store, Environment: b.environment.environment(), Owner: "worker"})
	return b
}

func (b *bench) roll(ctx context.Context) error {
	return b.mixer.Roll(ctx, func() {})
}

// turns returns the turns of the last attempt, each with its label as it is now.
func (b *bench) turns() []relabel.Turn {
	return b.store.committed()
}

// problems lists what broke a contract, and sandboxes that are left.
func (b *bench) problems() []string {
	p := append(append([]string(nil), b.store.broken...), b.environment.broken...)
	if b.environment.opened != b.environment.closed {
		p = append(p, fmt.Sprintf("%d sandboxes opened, %d closed", b.environment.opened, b.environment.closed))
	}
	return p
}

// executed is who executed the turns.
func executed(turns []relabel.Turn) string {
	var s strings.Builder
	for _, t := range turns {
		if t.Executor == relabel.Teacher {
			s.WriteByte('T')
		} else {
			s.WriteByte('s')
		}
	}
	return s.String()
}
