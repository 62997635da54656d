package forgeries

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"relabel"
	"relabel/envs"
	"relabel/envs/scaffold/openhands"
	"relabel/envs/verify"
)

// maxSubmission is the longest raw patch that is read from a sandbox, in bytes.
const maxSubmission = 32 << 20

// limits are those of the rollouts and of the tests.
var limits = relabel.RunLimits{MaxTurns: 100, WallClockSeconds: 3600, CommandSeconds: 600, VerifySeconds: 900}

// result is what became of a submission.
type result struct {
	submission submission
	verdict    relabel.Verdict
	patch      []byte
	err        error // the sandbox or the verifier failed
	took       time.Duration
}

// attempt has an agent do what the submission says, and its patch verified.
func attempt(ctx context.Context, host envs.Host, task relabel.Task, s submission) (r result) {
	began := time.Now()
	r.submission = s
	defer func() { r.took = time.Since(began) }()
	id := relabel.NewID()
	if r.patch, r.err = rollOut(ctx, host, task, id, s); r.err != nil {
		return r
	}
	bounds := limits
	if s.seconds > 0 {
		bounds.VerifySeconds = s.seconds
	}
	r.verdict, r.err = verify.New(host).Verify(ctx, task, id, 1, bounds, r.patch)
	return r
}

// rollOut plays the agent in a sandbox of its own and returns the patch that it submits.
func rollOut(ctx context.Context, host envs.Host, task relabel.Task, id relabel.ID, s submission) (patch []byte, err error) {
	var claim relabel.Claim
	claim.TrajectoryID, claim.Attempt = id, 1
	claim.Task = task
	claim.Run.Limits, claim.Run.Prompts = limits, openhands.DefaultPrompts()
	seen := &seeingHost{Host: host}
	episode, err := openhands.Start(ctx, seen, claim)
	if err != nil {
		return nil, err
	}
	defer func() { _ = episode.Close(ctx) }()
	for t, action := range s.actions() {
		observations, finished, err := episode.Execute(ctx, t+1, action)
		if err != nil {
			return nil, fmt.Errorf("turn %d: %w", t+1, err)
		}
		for _, o := range observations {
			if o.Failed && !strings.Contains(s.run, "# may be ended") {
				return nil, fmt.Errorf("turn %d: the call of %s failed: %s", t+1, o.Tool, o.Content)
			}
		}
		if finished {
			break
		}
	}
	if s.raw {
		patch, _, err = seen.sandbox.ReadFile(ctx, "/tmp/submission", maxSubmission)
		return patch, err
	}
	patch, _, err = episode.Patch(ctx)
	return patch, err
}

// seeingHost keeps the last sandbox that it made, to read from it what the agent would submit
// through a git of its own.
type seeingHost struct {
	envs.Host
	sandbox envs.Sandbox
}

// Create makes a sandbox and keeps it.
func (h *seeingHost) Create(ctx context.Context, spec envs.Spec) (envs.Sandbox, error) {
	s, err := h.Host.Create(ctx, spec)
	h.sandbox = s
	return s, err
}

// actions are the turns of the agent: files by the editor, commands, and finish.
func (s submission) actions() []relabel.Message {
	var actions []relabel.Message
	var names []string
	for _, f := range s.files {
		names = append(names, path.Join(workdir, f.Name))
	}
	if len(names) > 0 {
		actions = append(actions, action("execute_bash", map[string]string{"command": "rm -rf '" + strings.Join(names, "' '") + "'"}))
	}
	for i, f := range s.files {
		actions = append(actions, action("str_replace_editor", map[string]string{"command": "create", "path": names[i], "file_text": string(f.Data)}))
	}
	if s.run != "" {
		actions = append(actions, action("execute_bash", map[string]string{"command": s.run}))
	}
	return append(actions, action("finish", map[string]string{"message": "done"}))
}

// action is a message with one tool call.
func action(tool string, arguments map[string]string) relabel.Message {
	text, _ := json.Marshal(arguments) // strings are always written
	return relabel.Message{Role: "assistant", ToolCalls: []relabel.ToolCall{{ID: "call", Name: tool, Arguments: string(text)}}}
}
