package envs

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"time"

	"relabel"
)

// hideHistoryScript does the work inside the sandbox, where git is.
//
//go:embed hide_history.sh
var hideHistoryScript string

// hideHistoryTime bounds the script; the largest repositories take about ten seconds.
const hideHistoryTime = 10 * time.Minute

// HideHistory removes everything later than the commit base ("" means HEAD) from the repository at
// workdir: afterwards HEAD is base, on its branch, there are no other branches, tags, remotes, stashes
// or reflogs, and the object store contains no commits except base and its ancestors. If HEAD was base
// already, the working tree is unchanged; otherwise it becomes that of base, and untracked and ignored
// files are kept. It fails with CodeEnvironment if base does not exist, or if a later commit can still
// be found.
func HideHistory(ctx context.Context, sandbox Sandbox, workdir, base string) error {
	result, err := sandbox.Run(ctx, Command{
		Args:    []string{"bash", "-c", hideHistoryScript, "hide-history", base},
		Dir:     workdir,
		Timeout: hideHistoryTime,
	})
	if err != nil {
		return err
	}
	if result.Exit != 0 || result.Ended != EndedExit {
		return relabel.Errorf(relabel.CodeEnvironment, "the history after the base commit could not be hidden").
			Because(fmt.Errorf("exit %d (%s): %s", result.Exit, result.Ended, bytes.TrimSpace(append(result.Output, result.Tail...))))
	}
	return nil
}
