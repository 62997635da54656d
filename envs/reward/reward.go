// Package reward finds the reward of a task in a terminal: its tests run in the container in which an agent has
// worked, after all processes of the agent have ended, and write a number from 0 to 1. docs/verdicts.md has the
// steps, the protections and the known limits.
package reward

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"relabel"
	"relabel/envs"
)

// The folders of a task in its container, which are those of Harbor.
const (
	testsDir    = "/tests"
	solutionDir = "/solution"
	logsDir     = "/logs"
	rewardDir   = "/logs/verifier"
)

const (
	preparing = 2 * time.Minute // time limit of the steps beside the tests
	maxOutput = 1 << 20         // bytes of the output of tests that are kept
)

// Outcome is what the tests of a task said about the state of a container.
type Outcome struct {
	Reward  float64               `json:"reward"`
	Reason  relabel.VerdictReason `json:"reason"`
	Output  string                `json:"output"` // of the tests, and what was found around them
	Altered []string              `json:"altered,omitempty"`
	Count   int                   `json:"altered_count,omitempty"` // of all altered files
	Millis  int64                 `json:"millis"`
	At      time.Time             `json:"at"`
}

// Run ends all processes of the agent, puts the tests in place, runs them and reads their reward. Errors are those
// of the sandbox: CodeEnvironment, or CodeDisk if commands filled the disk.
func Run(ctx context.Context, sandbox envs.Sandbox, task relabel.TerminalTask, limits relabel.RunLimits) (o Outcome, err error) {
	start := time.Now()
	defer func() { o.Millis, o.At = time.Since(start).Milliseconds(), time.Now() }()
	if err := sandbox.EndCommands(ctx); err != nil {
		return o, err
	}
	altered, err := sandbox.Altered(ctx)
	if err != nil {
		return o, err
	}
	env := append(environment(task.Env), environment(task.TestEnv)...)
	files, core, err := tamperedCore(ctx, sandbox, altered, env)
	if err != nil {
		return o, err
	}
	o.Altered, o.Count = files[:min(len(files), relabel.MaxDroppedPaths)], len(files)
	if len(core) > 0 {
		return o.tampered("a program or library that every test relies on was changed: %v", core), nil
	}
	if problem, err := clear(ctx, sandbox); err != nil || problem != "" {
		return o.tampered("%s", problem), err
	}
	if err := unpack(ctx, sandbox, task.Tests, testsDir); err != nil {
		return o, broken("writing the tests", err)
	}
	result, err := sandbox.Run(ctx, envs.Command{
		Args: []string{"sh", "-c", "chmod +x /tests/test.sh; exec /tests/test.sh"},
		Env:  env, Timeout: task.TestTime(limits), MaxOutput: maxOutput,
	})
	if err != nil {
		return o, err
	}
	o.Output = text(result)
	if result.Ended != envs.EndedExit {
		o.Reason = relabel.VerdictTimedOut
		o.note("the tests did not end within %s", task.TestTime(limits))
		return o, nil
	}
	if err := sandbox.EndCommands(ctx); err != nil { // also what the tests have started
		return o, err
	}
	return o.read(ctx, sandbox)
}

// clearScript removes what the agent may have put in the place of tests and reward.
const clearScript = `[ ! -L /logs ] || rm -f /logs; chmod -R u+rwX /tests /logs/verifier 2>/dev/null; rm -rf /tests /logs/verifier; mkdir -p /logs/verifier /logs/agent /logs/artifacts`

// clear makes /tests absent and /logs/verifier an empty folder. problem tells why they are not.
func clear(ctx context.Context, sandbox envs.Sandbox) (problem string, err error) {
	_, err = sandbox.Run(ctx, envs.Command{Args: []string{"sh", "-c", clearScript}, Dir: "/", Timeout: preparing})
	if err != nil {
		return "", err
	}
	if _, err := sandbox.Stat(ctx, testsDir); !errors.Is(err, fs.ErrNotExist) {
		return testsDir + " could not be removed", only(err, fs.ErrPermission, envs.ErrNotDirectory)
	}
	for _, dir := range []string{logsDir, rewardDir} {
		info, err := sandbox.Stat(ctx, dir)
		if err != nil || !info.Mode.IsDir() {
			return dir + " is not a folder", only(err, fs.ErrNotExist, fs.ErrPermission, envs.ErrNotDirectory)
		}
	}
	for _, file := range []string{"reward.txt", "reward.json"} {
		if _, err := sandbox.Stat(ctx, path.Join(rewardDir, file)); !errors.Is(err, fs.ErrNotExist) {
			return "a reward could not be removed", only(err, fs.ErrPermission)
		}
	}
	return "", nil
}

// only returns err unless it is one of the known ones.
func only(err error, known ...error) error {
	if slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) }) {
		return nil
	}
	return err
}

// environment formats variables, sorted by name.
func environment(variables map[string]string) (env []string) {
	for name, value := range variables {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// Environment formats the environment of all commands of a task, sorted by name.
func Environment(task relabel.TerminalTask) []string { return environment(task.Env) }

// text is the output of a command; the middle of a long one is left out.
func text(r envs.Result) string {
	if r.Dropped == 0 {
		return string(r.Output)
	}
	return fmt.Sprintf("%s\n[... %d bytes are left out ...]\n%s", r.Output, r.Dropped, r.Tail)
}

// note adds a line of relabel's own to the output.
func (o *Outcome) note(format string, args ...any) {
	if o.Output != "" && o.Output[len(o.Output)-1] != '\n' {
		o.Output += "\n"
	}
	o.Output += "relabel: " + fmt.Sprintf(format, args...) + "\n"
}

// tampered is the outcome of a state that cannot be graded because of what the agent did to it.
func (o Outcome) tampered(format string, args ...any) Outcome {
	o.Reason = relabel.VerdictTampered
	o.note(format, args...)
	return o
}

// broken is the error of a failed step; that of the sandbox itself is kept.
func broken(doing string, err error) error {
	if code := relabel.CodeOf(err); code == relabel.CodeDisk || code == relabel.CodeEnvironment {
		return err
	}
	return relabel.Errorf(relabel.CodeEnvironment, "the sandbox failed while %s: %v", doing, err).Because(err)
}

// Encode writes an outcome as the submission of a trajectory.
func (o Outcome) Encode() ([]byte, error) { return json.Marshal(o) }

// Grade is the verdict on a submission, which Encode has written. A trajectory without one has reward 0.
func Grade(submission []byte) relabel.Verdict {
	o := Outcome{Reason: relabel.VerdictNoReward, At: time.Now()}
	if len(submission) == 0 {
		o.note("the tests did not run: the sandbox was broken, or its disk full")
	} else if err := json.Unmarshal(submission, &o); err != nil {
		return relabel.Verdict{Infra: "the stored reward cannot be read", At: o.At}
	}
	return relabel.Verdict{Score: &o.Reward, Passed: o.Reward == 1, Reason: o.Reason, Output: []byte(o.Output),
		Altered: o.Altered, AlteredCount: o.Count, Protections: relabel.ProtectionsVersion, Millis: o.Millis, At: o.At}
}
