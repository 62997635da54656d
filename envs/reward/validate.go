package reward

import (
	"context"
	"fmt"
	"time"

	"relabel"
	"relabel/envs"
)

// Validate rewards several times a container after the solution of a task has run in it, and as often one as it is. A
// sound task gives the first the reward 1 each time, and the second less. A run that fails is the last of its kind. The
// error is only ctx's.
func Validate(ctx context.Context, host envs.Host, task relabel.Task, limits relabel.RunLimits, times int) (relabel.Validation, error) {
	seconds := int(task.Terminal.TestTime(limits) / time.Second)
	if len(task.Terminal.Solution.Content) == 0 {
		return relabel.AssessRewards(task, times, seconds, nil, nil), nil
	}
	var gold, empty []relabel.Verdict
	for _, of := range []struct {
		runs   *[]relabel.Verdict
		solved bool
	}{{&gold, true}, {&empty, false}} {
		for len(*of.runs) < times {
			start := time.Now()
			verdict, err := try(ctx, host, task, limits, of.solved)
			if err != nil {
				return relabel.Validation{}, err
			}
			verdict.Millis = time.Since(start).Milliseconds()
			*of.runs = append(*of.runs, verdict)
			if verdict.Infra != "" || verdict.Reason == relabel.VerdictTimedOut {
				break
			}
		}
	}
	return relabel.AssessRewards(task, times, seconds, gold, empty), nil
}

// try rewards one fresh container, in which the solution runs first if solved is set. Failures of containers are
// in Verdict.Infra; the error is only ctx's.
func try(ctx context.Context, host envs.Host, task relabel.Task, limits relabel.RunLimits, solved bool) (relabel.Verdict, error) {
	o, log, err := play(ctx, host, task, limits, solved)
	if ctx.Err() != nil {
		return relabel.Verdict{}, ctx.Err()
	}
	if err != nil {
		return relabel.Verdict{Infra: err.Error(), Output: []byte(log), At: time.Now()}, nil
	}
	o.Output = log + o.Output
	submission, err := o.Encode()
	if err != nil {
		return relabel.Verdict{Infra: err.Error(), At: time.Now()}, nil
	}
	return Grade(submission), nil
}

func play(ctx context.Context, host envs.Host, task relabel.Task, limits relabel.RunLimits, solved bool) (o Outcome, log string, err error) {
	if err := host.EnsureImage(ctx, task.Image); err != nil {
		return o, "", err
	}
	spec := Spec(task)
	id := relabel.NewID()
	spec.Name = envs.SandboxName(id, 0, "validate")
	spec.Labels = envs.Labels{Trajectory: id.String(), Purpose: "validate", Deadline: time.Now().Add(solveTime(limits) + task.Terminal.TestTime(limits) + 10*time.Minute)}
	sandbox, err := host.Create(ctx, spec)
	if err != nil {
		return o, "", err
	}
	// A container that Close cannot remove is reaped after its deadline.
	defer func() { _ = sandbox.Close(ctx) }()
	if solved {
		if log, err = solve(ctx, sandbox, *task.Terminal, limits); err != nil {
			return o, log, err
		}
	}
	o, err = Run(ctx, sandbox, *task.Terminal, limits)
	return o, log, err
}

// Spec describes the sandbox of a task, without name and labels.
func Spec(task relabel.Task) envs.Spec {
	t := task.Terminal
	return envs.Spec{Image: task.Image, Workdir: task.Workdir, Limits: envs.Limits{CPUs: t.CPUs, MemoryBytes: t.MemoryBytes, DiskBytes: t.DiskBytes}}
}

// solveTime is how long a solution may run.
func solveTime(limits relabel.RunLimits) time.Duration {
	return time.Duration(max(limits.WallClockSeconds, 60)) * time.Second
}

// solve runs the solution of a task and returns its output if it failed.
func solve(ctx context.Context, sandbox envs.Sandbox, task relabel.TerminalTask, limits relabel.RunLimits) (log string, err error) {
	if err := unpack(ctx, sandbox, task.Solution, solutionDir); err != nil {
		return "", broken("writing the solution", err)
	}
	result, err := sandbox.Run(ctx, envs.Command{
		Args:    []string{"sh", "-c", "mkdir -p /logs/agent /logs/verifier /logs/artifacts; chmod +x /solution/solve.sh; exec /solution/solve.sh"},
		Env:     append(append(environment(task.Env), environment(task.SolutionEnv)...), "DEBIAN_FRONTEND=noninteractive"),
		Timeout: solveTime(limits), MaxOutput: maxOutput / 2,
	})
	if err != nil || result.Exit == 0 && result.Ended == envs.EndedExit {
		return "", err
	}
	return fmt.Sprintf("%s\nrelabel: solve.sh ended with exit code %d (%s)\n", text(result), result.Exit, result.Ended), nil
}
