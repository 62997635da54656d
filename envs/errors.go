package envs

import (
	"errors"
	"fmt"

	"relabel"
)

// What the errors of a Sandbox's file operations and of Patch wrap, beside those of io/fs.
var (
	// ErrNotRegular is wrapped by ReadFile's and WriteFile's error for a path that is no
	// regular file.
	ErrNotRegular = errors.New("not a regular file")
	// ErrNotDirectory is wrapped by List's error for a path that is not a folder, and by
	// any error for a path that leads through one that is none.
	ErrNotDirectory = errors.New("not a directory")
	// ErrNoRepository is wrapped by Patch's error where the repository or the base
	// commit is gone, which a command may have done.
	ErrNoRepository = errors.New("no repository with that commit")
	// ErrTooLarge is wrapped by Patch's error where what changed is more than any
	// submission: over 32 MiB of text.
	ErrTooLarge = errors.New("too large for a patch")
)

// ErrEngine is wrapped by errors of a host whose engine failed: it does not answer, or
// not as it should. What another host might do well need not fail because of it.
var ErrEngine = errors.New("the engine failed")

// SandboxName is the deterministic name of a trajectory's container: what a lost
// answer or a dead worker left is found again by it.
func SandboxName(trajectory relabel.ID, attempt int, purpose string) string {
	return fmt.Sprintf("relabel-%s-%d-%s", trajectory, attempt, purpose)
}
