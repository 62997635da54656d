package envs

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"time"

	"relabel"
)

// These scripts do the work inside the sandbox, where git is: the first has functions for one repository, the
// second finds all repositories and files.
var (
	//go:embed hide_repository.sh
	hideRepositoryScript string
	//go:embed hide_history.sh
	hideHistoryScript string
)

// hideHistoryTime bounds the scripts; docs/security.md says how long they take.
const hideHistoryTime = 10 * time.Minute

// HideHistory removes everything later than the commit base ("" means HEAD) from the repository at workdir: afterwards
// HEAD is base, on its branch, there are no other branches, tags, remotes, stashes or reflogs, the index is that of
// base, and the object store contains only what base leads to. If HEAD was base already, the working tree is
// unchanged; otherwise it becomes that of base, and untracked and ignored files are kept. Other repositories of the
// sandbox that share its history, bundles, packs and patches go too: docs/security.md lists all places. It fails with
// CodeEnvironment if base does not exist, if a later object can still be found, or if a place cannot be cleared; the
// error names it.
func HideHistory(ctx context.Context, sandbox Sandbox, workdir, base string) error {
	result, err := sandbox.Run(ctx, Command{
		Args:    []string{"bash", "-c", hideRepositoryScript + hideHistoryScript, "hide-history", base},
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
