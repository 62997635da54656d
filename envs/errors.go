package envs

import (
	"errors"
	"fmt"

	"relabel"
)

// Errors that a Sandbox's file operations and Patch wrap, in addition to those of io/fs.
var (
	// ErrNotRegular is wrapped by ReadFile's and WriteFile's error for a path that is not a regular
	// file.
	ErrNotRegular = errors.New("not a regular file")
	// ErrNotDirectory is wrapped by List's error for a path that is not a folder, and by any error
	// for a path with a component that is not one.
	ErrNotDirectory = errors.New("not a directory")
	// ErrNoRepository is wrapped by Patch's error if the repository or the base commit is gone, for
	// example because a command removed it.
	ErrNoRepository = errors.New("no repository with that commit")
	// ErrTooLarge is wrapped by Patch's error if the patch has more than 32 MiB.
	ErrTooLarge = errors.New("too large for a patch")
)

// ErrEngine is wrapped by errors of a host whose engine failed. Another host may succeed.
var ErrEngine = errors.New("the engine failed")

// SandboxName is the deterministic name of a trajectory's container, which identifies leftovers of a
// lost answer or a dead worker.
func SandboxName(trajectory relabel.ID, attempt int, purpose string) string {
	return fmt.Sprintf("relabel-%s-%d-%s", trajectory, attempt, purpose)
}
