// Package envs says what an agent acts in: a Host makes Sandboxes from images, a
// Sandbox runs commands and holds a repository. envs/docker is the real one,
// envs/faketest a fake with fault knobs; one conformance suite (envs/envstest) runs
// against both.
package envs

import (
	"context"
	"io/fs"
	"time"
)

// Host makes sandboxes. It is safe for concurrent use.
type Host interface {
	// EnsureImage makes the image present, pulling it where it is not. It fails with
	// CodeImageMissing, naming the image, where it cannot be had.
	EnsureImage(ctx context.Context, image string) error
	// Create starts a sandbox and returns when its commands can run. A sandbox of the
	// same Spec.Name that is still there is replaced. What was made when Create fails
	// is removed again. Errors are CodeImageMissing or CodeEnvironment; they wrap
	// ErrEngine where it is not the image or the sandbox that failed.
	//
	// ctx is the owner's for as long as the sandbox is used: once it is over the sandbox is
	// told no more that anyone is there, and ends on its own after the host's silence,
	// whatever became of the owner. Close is due all the same.
	Create(ctx context.Context, spec Spec) (Sandbox, error)
	// Reap removes every sandbox of this host's instance for which keep says no, with the
	// volumes and networks that are theirs, and returns their names. What is others' is
	// never touched.
	Reap(ctx context.Context, keep func(Labels) bool) (removed []string, err error)
	// Name says which engine this is, for the record (e.g. unix:///var/run/docker.sock).
	Name() string
}

// Engine is a Host that can be asked how it is: one Docker engine, of perhaps many. It
// is safe for concurrent use.
type Engine interface {
	Host
	// Look asks the engine how it is. CodeUnavailable while it does not answer.
	Look(ctx context.Context) (Condition, error)
	// HasImage says whether the image is present, without pulling it.
	HasImage(ctx context.Context, image string) (bool, error)
	// Tidy removes images that this host pulled and nobody uses, the least recently used
	// first, until there is as much room as it was told to keep. Images of others stay.
	Tidy(ctx context.Context) error
	// Close releases the engine's connections. Sandboxes keep running.
	Close() error
}

// Condition is how an engine is.
type Condition struct {
	CPUs int
	// Full says why nothing new should be begun there, in words; "" where there is room.
	Full string
	// Free is how many bytes are left for images and layers; negative where that cannot be
	// known from here.
	Free int64
}

// Labels say whose a sandbox is. They are set on the container.
type Labels struct {
	Instance   string    // the relabel data folder or database that owns it
	Trajectory string    // trajectory id; "" for tools such as validation
	Attempt    int       // of the trajectory
	Purpose    string    // rollout, verify, validate, bench
	Deadline   time.Time // after this anyone may remove it
}

// Spec describes a sandbox.
type Spec struct {
	Name   string // deterministic, unique on the engine: see SandboxName
	Labels Labels // Instance is filled in by the host
	Image  string
	// Workdir is the repository's absolute path in the image; commands start there.
	Workdir string
	Limits  Limits
}

// Limits bound a sandbox. Zero fields take DefaultLimits'.
type Limits struct {
	MemoryBytes int64 // swap included
	CPUs        float64
	PIDs        int64
	// DiskBytes bounds what commands write to the container's disk and its image's volumes. It is measured from inside while
	// they run, with an eighth of tolerance; the engine bounds it where it can.
	DiskBytes int64
	Runtime   string // e.g. runsc; refused where the engine lacks it
}

// DefaultLimits bound a sandbox that says nothing.
var DefaultLimits = Limits{MemoryBytes: 4 << 30, CPUs: 2, PIDs: 1024, DiskBytes: 10 << 30}

// Sandbox is one running container with the repository in it. Its methods may be
// called from several goroutines, one command at a time each. After the container or
// its sandboxd died every method fails with CodeEnvironment.
type Sandbox interface {
	// Run runs a command and returns when it ended or was ended. A non-zero exit, a
	// time-out or cut output is a Result, not an error. It fails with CodeDisk where commands
	// wrote more than Limits.DiskBytes: they are ended then, and no further one starts. So does
	// every other method that finds the disk full because of them, and Fingerprint in any case.
	Run(ctx context.Context, cmd Command) (Result, error)
	// ReadFile returns at most limit bytes of a regular file, and its whole size.
	// Errors wrap fs.ErrNotExist, fs.ErrPermission or ErrNotRegular.
	ReadFile(ctx context.Context, path string, limit int64) (data []byte, size int64, err error)
	// WriteFile replaces or creates a file, with its parent folders, keeping the mode
	// of an existing one.
	WriteFile(ctx context.Context, path string, data []byte, mode fs.FileMode) error
	// Stat describes a path without following a final symlink. Errors wrap fs.ErrNotExist.
	Stat(ctx context.Context, path string) (FileInfo, error)
	// List returns the entries below dir, depth levels deep, hidden ones left out,
	// sorted by path, and whether more than limit were there.
	List(ctx context.Context, dir string, depth, limit int) (entries []FileInfo, more bool, err error)
	// Fingerprint returns a digest of the working tree: paths, modes and contents of
	// all that git tracks or would add, and nothing else (no times, no owners).
	Fingerprint(ctx context.Context) (string, error)
	// Patch ends the processes that commands left behind, removes nested .git folders
	// and returns what changed since the commit base ("" means HEAD at start) as a
	// patch, byte for byte; binary files, and files of more than 32 MiB, are left out. An
	// empty patch is not an error; one of more than 32 MiB wraps ErrTooLarge.
	Patch(ctx context.Context, base string) (Patch, error)
	// Close removes the container. It is safe to call more than once, and after the
	// container died; it works on a cancelled context by taking its own deadline.
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
	Quiet     time.Duration // end it after this long without output; 0 never
	Timeout   time.Duration // end it after this long in any case; 0 never
	MaxOutput int           // bytes kept: the first and the last half; 0 means DefaultMaxOutput
}

// DefaultMaxOutput is how many bytes of output are kept of a command (1 MiB).
const DefaultMaxOutput = 1 << 20

// Result is what became of a command. Output is standard output and error in the
// order they came.
type Result struct {
	Output  []byte // the whole, or its first MaxOutput/2 bytes
	Tail    []byte // the last MaxOutput/2 bytes where output was cut, else nil
	Dropped int64  // bytes between Output and Tail that are gone
	Exit    int    // exit code; 128+n where signal n ended it
	Memory  bool   // it did not end well, and the kernel had killed a process because memory was out
	Ended   Ended
	Elapsed time.Duration
}

// Ended says how a command came to its end.
type Ended string

// The ends of a command.
const (
	EndedExit    Ended = "exit"    // on its own
	EndedQuiet   Ended = "quiet"   // no output for Command.Quiet
	EndedTimeout Ended = "timeout" // Command.Timeout was over
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
	Dropped []string // binary files that were left out
}
