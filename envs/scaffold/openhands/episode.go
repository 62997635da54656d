package openhands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"relabel"
	"relabel/envs"
)

// closing is how much longer than its rollout a sandbox may live: time to take the
// patch and to remove it.
const closing = 15 * time.Minute

// Episode is one sandbox with the scaffold around it. Parse may be called at any time
// and from any goroutine; the other methods by one at a time.
type Episode struct {
	sandbox envs.Sandbox
	host    string
	workdir string
	base    string // the commit that the submission is taken against
	limits  relabel.RunLimits
	offered map[string]bool // the tools of the run; empty means all
}

// Start makes a sandbox for the claim's attempt, with the repository's history after
// the base commit out of reach, ready for the first turn. What it made is removed again
// when it fails. Errors are CodeImageMissing, CodeInvalid where the image lacks the task's
// commit, or CodeEnvironment.
func Start(ctx context.Context, host envs.Host, claim relabel.Claim) (*Episode, error) {
	if err := host.EnsureImage(ctx, claim.Task.Image); err != nil {
		return nil, startFailed("looking for the image", err)
	}
	sandbox, err := host.Create(ctx, spec(claim))
	if err != nil {
		return nil, startFailed("making the sandbox", err)
	}
	e := &Episode{sandbox: sandbox, host: sandbox.HostName(), workdir: claim.Task.Workdir, limits: claim.Run.Limits, offered: names(claim.Run.Prompts.Tools)}
	if err := e.hideHistory(ctx, claim.Task.BaseCommit); err != nil {
		return nil, startFailed("hiding the repository's history", errors.Join(err, sandbox.Close(ctx)))
	}
	return e, nil
}

// spec describes the sandbox of an attempt's rollout.
func spec(claim relabel.Claim) envs.Spec {
	wall := claim.Run.Limits.WallClockSeconds
	if wall <= 0 {
		wall = relabel.PaperLimits.WallClockSeconds
	}
	return envs.Spec{
		Name: envs.SandboxName(claim.TrajectoryID, claim.Attempt, "rollout"),
		Labels: envs.Labels{
			Trajectory: claim.TrajectoryID.String(), Attempt: claim.Attempt, Purpose: "rollout",
			Deadline: time.Now().Add(time.Duration(wall)*time.Second + closing),
		},
		Image: claim.Task.Image, Workdir: claim.Task.Workdir,
	}
}

// startFailed keeps the code of an error that says that the image is missing or not the
// task's; any other is the environment's. What it says of the image is what its maker must know: it stays shown.
func startFailed(doing string, err error) error {
	var known *relabel.Error
	switch {
	case relabel.CodeOf(err) == relabel.CodeImageMissing:
		return err
	case errors.As(err, &known):
		code := relabel.CodeEnvironment
		if known.Code == relabel.CodeInvalid {
			code = known.Code
		}
		return relabel.Errorf(code, "the sandbox failed while %s: %s", doing, known.Message).Because(err)
	}
	return broken(doing, err)
}

// hideHistory finds out which commit the task starts from, and removes what lies after
// it from the repository.
func (e *Episode) hideHistory(ctx context.Context, base string) error {
	if base == "" {
		base = "HEAD"
	}
	out, err := e.git(ctx, nil, "git rev-parse --verify --quiet --end-of-options \"$1^{commit}\"", base)
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

// git runs a bash script at the repository that trusts whoever owns it.
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

// checkScript applies a patch to an index that holds the commit $1, and to nothing else.
const checkScript = `set -e
index=$(mktemp)
trap 'rm -f "$index" "$index.lock"' EXIT
export GIT_INDEX_FILE=$index
rm -f "$index"
git read-tree "$1"
git apply --check --cached --whitespace=nowarn -`

// Patch takes the submission: what changed since the base commit, byte for byte. It
// says whether the patch is one and applies to that commit. An agent that removed the
// repository, or wrote more than a patch can be, has submitted nothing. Errors are CodeEnvironment,
// or CodeDisk where commands filled the disk.
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

// Sandbox says which container on which engine this is.
func (e *Episode) Sandbox() (dockerHost, container string) { return e.host, e.sandbox.ID() }

// Close removes the sandbox. It is safe to call more than once.
func (e *Episode) Close(ctx context.Context) error { return e.sandbox.Close(ctx) }
