// Package envs defines the environment of an agent: a Host makes Sandboxes from images, and a Sandbox
// contains a repository and runs commands. envs/docker is the real implementation, envs/faketest a fake
// that injects faults; one conformance suite (envs/envstest) checks both.
package envs

import (
	"context"
	"io/fs"
	"time"

	"relabel"
)

// Host makes sandboxes. It is safe for concurrent use.
type Host interface {
	// EnsureImage pulls the image if it is not present. It fails with CodeImageMissing, naming the
	// image, if it is not available.
	EnsureImage(ctx context.Context, image string) error
	// Create starts a sandbox and returns when its commands can run. A sandbox of the
	// same Spec.Name is replaced. When Create fails it leaves nothing behind. Errors are
	// CodeImageMissing or CodeEnvironment; they wrap ErrEngine if the engine, rather than the image
	// or the sandbox, failed.
	//
	// ctx belongs to the sandbox's owner for as long as the sandbox is used: after its end the pings
	// stop, and the sandbox ends after the host's silence. The owner must still call Close.
	Create(ctx context.Context, spec Spec) (Sandbox, error)
	// Reap removes every sandbox of this host's instance for which keep returns false, with its
	// volumes and networks, and returns the names. It never touches those of others.
	Reap(ctx context.Context, keep func(Labels) bool) (removed []string, err error)
	// Name is the engine's address (e.g. unix:///var/run/docker.sock).
	Name() string
}

// Engine is a Host on one engine whose state can be checked. It is safe for concurrent use.
type Engine interface {
	Host
	// Look checks the engine's state. CodeUnavailable while it does not answer.
	Look(ctx context.Context) (Condition, error)
	// HasImage reports whether the image is present, without pulling it.
	HasImage(ctx context.Context, image string) (bool, error)
	// Describe returns the facts of an image on the engine, else in its registry, without pulling it.
	// The error is the engine's; one of the registry is ImageFacts.Problem.
	Describe(ctx context.Context, image string) (relabel.ImageFacts, error)
	// MakeRoom reports whether an image fits into the budget of images beside those of keep, which are
	// needed before it. If it fits, other unused images that this host pulled are removed until the
	// budget is met, the least recently used first. Without a budget every image fits.
	MakeRoom(ctx context.Context, image string, keep []string) (fits bool, err error)
	// Tidy removes unused images that this host pulled, the least recently used first, until its
	// configured disk space is free. It keeps images of others.
	Tidy(ctx context.Context) error
	// Close releases the engine's connections. Sandboxes keep running.
	Close() error
}

// Condition is the state of an engine.
type Condition struct {
	CPUs int
	// Full explains why no sandboxes should be created there; "" if there is enough disk space.
	Full string
	// Free is the number of free bytes for images and layers; negative if unknown.
	Free int64
}

// Labels identify the owner of a sandbox. They are set on the container.
type Labels struct {
	Instance   string    // the relabel data folder or database that owns it
	Trajectory string    // trajectory id; "" for tools such as validation
	Attempt    int       // of the trajectory
	Purpose    string    // rollout, verify, validate, bench
	Deadline   time.Time // after this any process may remove it
}

// Spec describes a sandbox.
type Spec struct {
	Name   string // deterministic, unique on the engine: see SandboxName
	Labels Labels // Instance is filled in by the host
	Image  string
	// Workdir is the repository's absolute path in the image; commands start there. "" means the working
	// folder of the image, / if it has none.
	Workdir string
	Limits  Limits
}

// Limits bound a sandbox. Fields that are 0 are as in DefaultLimits.
type Limits struct {
	MemoryBytes int64 // swap included
	CPUs        float64
	PIDs        int64
	// DiskBytes bounds what commands write to the container's disk and its image's volumes. It is
	// measured from inside with a tolerance of an eighth; the engine also bounds it if it can.
	DiskBytes int64
	Runtime   string // e.g. runsc; refused if the engine lacks it
}

// DefaultLimits are the default limits of a sandbox.
var DefaultLimits = Limits{MemoryBytes: 4 << 30, CPUs: 2, PIDs: 1024, DiskBytes: 10 << 30}

// Sandbox is one running container with a repository. Several goroutines may call its methods, each one
// command at a time. After the end of the container or its sandboxd every method fails with
// CodeEnvironment.
type Sandbox interface {
	// Run runs a command and returns when it has ended. A non-zero exit, a timeout or cut output is
	// a Result, not an error. It fails with CodeDisk if commands wrote more than Limits.DiskBytes:
	// all commands are ended then, and no further one starts. So does every other method that finds
	// the disk full because of them, and Fingerprint in any case.
	Run(ctx context.Context, cmd Command) (Result, error)
	// ReadFile returns at most limit bytes of a regular file, and its whole size.
	// Errors wrap fs.ErrNotExist, fs.ErrPermission or ErrNotRegular.
	ReadFile(ctx context.Context, path string, limit int64) (data []byte, size int64, err error)
	// WriteFile replaces or creates a file, with its parent folders, keeping the mode
	// of an existing one.
	WriteFile(ctx context.Context, path string, data []byte, mode fs.FileMode) error
	// Stat describes a path without following a final symlink. Errors wrap fs.ErrNotExist.
	Stat(ctx context.Context, path string) (FileInfo, error)
	// List returns the entries below dir, depth levels deep, without hidden ones, sorted by path,
	// and whether there are more than limit.
	List(ctx context.Context, dir string, depth, limit int) (entries []FileInfo, more bool, err error)
	// Fingerprint returns a digest of the working tree: paths, modes and contents of all files that
	// git tracks or would add, and nothing else (no times, no owners); without a repository, of all
	// files. If the sandbox's Workdir is /, it is the same for all trees.
	Fingerprint(ctx context.Context) (string, error)
	// Patch ends the remaining processes of commands, removes nested .git folders and returns the
	// changes since the commit base ("" means HEAD at start) as a patch, byte for byte, without
	// binary files and files of more than 32 MiB. An empty patch is not an error; one of more than
	// 32 MiB wraps ErrTooLarge.
	Patch(ctx context.Context, base string) (Patch, error)
	// EndCommands ends all processes of commands and waits for their end. Processes that later commands
	// start are not affected.
	EndCommands(ctx context.Context) error
	// Altered returns the paths of the container's file system that commands added, changed or removed, as
	// the engine knows them, sorted. It includes folders of such paths, and no files in volumes. A host
	// without an engine returns none.
	Altered(ctx context.Context) ([]string, error)
	// Close removes the container. It may be called more than once, after the container's end, and
	// with a cancelled context: it has its own deadline.
	Close(ctx context.Context) error
	// ID is the engine's id of the container, and HostName the Name of the host it is on.
	ID() string
	HostName() string
}

// Command is one command in a fresh process group, with standard input empty.
type Command struct {
	Args      []string      // e.g. bash -c '…'
	Dir       string        // "" is the sandbox's Workdir
	Env       []string      // KEY=value, on top of the image's
	Stdin     []byte        // usually nil: /dev/null
	Quiet     time.Duration // end it after this long without output; 0 means never
	Timeout   time.Duration // end it after this long in any case; 0 means never
	MaxOutput int           // bytes kept: the first and the last half; 0 means DefaultMaxOutput
}

// DefaultMaxOutput is the default of Command.MaxOutput (1 MiB).
const DefaultMaxOutput = 1 << 20

// Result is the result of a command. Output contains standard output and error in order.
type Result struct {
	Output  []byte // the whole, or its first MaxOutput/2 bytes
	Tail    []byte // the last MaxOutput/2 bytes if output was cut, else nil
	Dropped int64  // bytes missing between Output and Tail
	Exit    int    // exit code; 128+n if signal n ended it
	Memory  bool   // its exit is not 0, and the kernel killed a process because memory ran out
	Ended   Ended
	Elapsed time.Duration
}

// Ended is how a command ended.
type Ended string

// The ends of a command.
const (
	EndedExit    Ended = "exit"    // it exited
	EndedQuiet   Ended = "quiet"   // no output for Command.Quiet
	EndedTimeout Ended = "timeout" // after Command.Timeout
)

// FileInfo describes a file in a sandbox.
type FileInfo struct {
	Path    string      `json:"path"` // absolute
	Mode    fs.FileMode `json:"mode"`
	Size    int64       `json:"size"`
	Symlink string      `json:"symlink,omitempty"` // its target
}

// Patch is a submission.
type Patch struct {
	Diff    []byte   // git diff --binary against base, final newline forced
	Dropped []string // excluded files
}
