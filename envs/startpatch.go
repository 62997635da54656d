package envs

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"time"

	"relabel"
)

// startPatchScript commits the start patch inside the sandbox.
//
//go:embed start_patch.sh
var startPatchScript string

// startPatchTime bounds a script that prepares a sandbox.
const startPatchTime = 10 * time.Minute

// ApplyStartPatch applies a task's start patch to its base commit and commits the result without a parent, so that the
// history does not show what the patch changed. HEAD is then that commit, the same one in every sandbox of the task.
// It fails with CodeInvalid if the patch does not apply, otherwise with CodeEnvironment.
func ApplyStartPatch(ctx context.Context, sandbox Sandbox, task relabel.Task) error {
	const doing = "the task's start patch could not be applied"
	result, err := sandbox.Run(ctx, Command{
		Args: []string{"bash", "-c", startPatchScript, "start-patch", task.BaseCommit},
		Dir:  task.Workdir, Stdin: []byte(task.StartPatch), Timeout: startPatchTime,
	})
	if err != nil {
		return err
	}
	said := bytes.TrimSpace(append(result.Output, result.Tail...))
	switch {
	case result.Ended == EndedExit && result.Exit == 0:
		return nil
	case result.Ended == EndedExit && result.Exit == 42:
		return relabel.Errorf(relabel.CodeInvalid, "%s: %.500s", doing, said)
	}
	return relabel.Errorf(relabel.CodeEnvironment, "%s", doing).Because(fmt.Errorf("exit %d (%s): %s", result.Exit, result.Ended, said))
}

// RemovePaths removes absolute paths, files or folders, in the sandbox; those that do not exist are removed already. It
// fails with CodeEnvironment.
func RemovePaths(ctx context.Context, sandbox Sandbox, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	result, err := sandbox.Run(ctx, Command{Args: append([]string{"rm", "-rf", "--"}, paths...), Dir: "/", Timeout: startPatchTime})
	if err == nil && (result.Exit != 0 || result.Ended != EndedExit) {
		err = relabel.Errorf(relabel.CodeEnvironment, "hidden paths could not be removed").
			Because(fmt.Errorf("exit %d (%s): %s", result.Exit, result.Ended, bytes.TrimSpace(result.Output)))
	}
	return err
}
