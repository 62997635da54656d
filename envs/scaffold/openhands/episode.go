package openhands

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"relabel"
	"relabel/envs"
)

// closing is how much longer than its rollout a sandbox may exist: time to take the patch and to
// remove it.
const closing = 15 * time.Minute

// Episode is one sandbox with the scaffold around it. Any goroutine may call Parse; the other methods
// are for one goroutine at a time.
type Episode struct {
	sandbox envs.Sandbox
	host    string
	workdir string
	base    string // the commit that the submission is taken against
	limits  relabel.RunLimits
	offered map[string]bool // the run's tools; empty means all
	env     []string        // of commands, on top of the image's
}

// Start makes a sandbox for the claim's attempt, without the repository's history after the base
// commit, ready for the first turn. When it fails it removes the sandbox. Errors are CodeImageMissing,
// CodeInvalid if the image lacks the task's commit, or CodeEnvironment.
func Start(ctx context.Context, host envs.Host, claim relabel.Claim) (*Episode, error) {
	e, err := Open(ctx, host, claim, envs.Spec{Image: claim.Task.Image, Workdir: claim.Task.Workdir}, nil)
	if err != nil {
		return nil, err
	}
	if err := e.prepare(ctx, claim.Task); err != nil {
		return nil, errors.Join(err, e.Close(ctx))
	}
	return e, nil
}

// prepare makes the state that the rollout starts from: the task's start patch applied, nothing later than its base
// commit, and nothing that the task hides.
func (e *Episode) prepare(ctx context.Context, task relabel.Task) error {
	base := task.BaseCommit
	if task.StartPatch != "" {
		if err := envs.ApplyStartPatch(ctx, e.sandbox, task); err != nil {
			return startFailed("applying the start patch", err)
		}
		base = "HEAD"
	}
	if err := e.hideHistory(ctx, base); err != nil {
		return startFailed("hiding the repository's history", err)
	}
	if err := envs.RemovePaths(ctx, e.sandbox, task.Hidden); err != nil {
		return startFailed("removing what the task hides", err)
	}
	return nil
}

// Open makes a sandbox for the claim's attempt that need not have a repository. spec has its image, working folder
// and limits, env the environment of commands. When it fails it removes the sandbox. Errors are CodeImageMissing or
// CodeEnvironment.
func Open(ctx context.Context, host envs.Host, claim relabel.Claim, spec envs.Spec, env []string) (*Episode, error) {
	if err := host.EnsureImage(ctx, spec.Image); err != nil {
		return nil, startFailed("looking for the image", err)
	}
	sandbox, err := host.Create(ctx, named(spec, claim))
	if err != nil {
		return nil, startFailed("making the sandbox", err)
	}
	return &Episode{sandbox: sandbox, host: sandbox.HostName(), workdir: spec.Workdir, limits: claim.Run.Limits, offered: names(claim.Run.Prompts.Tools), env: env}, nil
}

// named gives the sandbox of an attempt's rollout its name and labels.
func named(spec envs.Spec, claim relabel.Claim) envs.Spec {
	wall := cmp.Or(claim.Run.Limits.WallClockSeconds, relabel.PaperLimits.WallClockSeconds)
	spec.Name = envs.SandboxName(claim.TrajectoryID, claim.Attempt, "rollout")
	deadline := time.Now().Add(time.Duration(wall)*time.Second + closing)
	if claim.Task.Terminal != nil { // its tests run in the same sandbox
		deadline = deadline.Add(claim.Task.Terminal.TestTime(claim.Run.Limits))
	}
	spec.Labels = envs.Labels{Trajectory: claim.TrajectoryID.String(), Attempt: claim.Attempt, Purpose: "rollout", Deadline: deadline}
	return spec
}

// startFailed keeps the code of an error of the image (missing, or without the task's commit); any
// other is CodeEnvironment. The message stays visible, because the image's maker needs it.
func startFailed(doing string, err error) error {
	known, ok := errors.AsType[*relabel.Error](err)
	switch {
	case !ok:
		return broken(doing, err)
	case known.Code == relabel.CodeImageMissing:
		return err
	case known.Code == relabel.CodeInvalid:
		return relabel.Errorf(relabel.CodeInvalid, "the sandbox failed while %s: %s", doing, known.Message).Because(err)
	}
	return relabel.Errorf(relabel.CodeEnvironment, "the sandbox failed while %s: %s", doing, known.Message).Because(err)
}

// hideHistory resolves the task's base commit and removes later commits from the repository.
func (e *Episode) hideHistory(ctx context.Context, base string) error {
	out, err := e.git(ctx, nil, "git rev-parse --verify --quiet --end-of-options \"$1^{commit}\"", cmp.Or(base, "HEAD"))
	if err != nil {
		return err
	}
	if out.Exit != 0 {
		says := fmt.Sprintf("the image has no commit %s in %s: %s", base, e.workdir, bytes.TrimSpace(out.Output))
		return relabel.Errorf(relabel.CodeInvalid, "%s", strings.TrimSuffix(says, ": "))
	}
	e.base = string(bytes.TrimSpace(out.Output))
	return envs.HideHistory(ctx, e.sandbox, e.workdir, e.base)
}

// git runs a bash script in the repository, with git that ignores its owner.
func (e *Episode) git(ctx context.Context, stdin []byte, script string, args ...string) (envs.Result, error) {
	return e.sandbox.Run(ctx, envs.Command{
		Args:    append([]string{"bash", "-c", script, "bash"}, args...),
		Env:     []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
		Dir:     e.workdir,
		Stdin:   stdin,
		Timeout: closing,
	})
}

// noRepository is the fingerprint of a tree whose repository the agent removed.
const noRepository = "no repository"

// Tree returns the working tree's fingerprint. Errors are CodeEnvironment.
func (e *Episode) Tree(ctx context.Context) (string, error) {
	tree, err := e.sandbox.Fingerprint(ctx)
	if errors.Is(err, envs.ErrNoRepository) {
		return noRepository, nil
	}
	if err != nil {
		return "", broken("reading the working tree", err)
	}
	return tree, nil
}

// checkScript checks that a patch applies to the commit $1, in a separate index.
const checkScript = `set -e
index=$(mktemp)
trap 'rm -f "$index" "$index.lock"' EXIT
export GIT_INDEX_FILE=$index
rm -f "$index"
git read-tree "$1"
git apply --check --cached --whitespace=nowarn -`

// Patch takes the submission: the changes since the base commit, byte for byte. It reports whether the
// patch applies to that commit. There is no submission if the agent removed the repository or exceeded
// the size of a patch. Errors are CodeEnvironment, or CodeDisk if commands filled the disk.
func (e *Episode) Patch(ctx context.Context) (diff []byte, applies bool, err error) {
	patch, err := e.sandbox.Patch(ctx, e.base)
	if errors.Is(err, envs.ErrNoRepository) || errors.Is(err, envs.ErrTooLarge) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, broken("taking the patch", err)
	}
	if len(bytes.TrimSpace(patch.Diff)) == 0 {
		return nil, false, nil
	}
	result, err := e.git(ctx, patch.Diff, checkScript, e.base)
	if err != nil {
		return nil, false, broken("checking the patch", err)
	}
	return patch.Diff, result.Exit == 0, nil
}

// Files is the sandbox, for scaffolds that access its files in their own way.
func (e *Episode) Files() envs.Sandbox { return e.sandbox }

// Sandbox names the engine and the container.
func (e *Episode) Sandbox() (dockerHost, container string) { return e.host, e.sandbox.ID() }

// Close removes the sandbox. It is safe to call more than once.
func (e *Episode) Close(ctx context.Context) error { return e.sandbox.Close(ctx) }
