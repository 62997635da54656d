package taskbuild

import (
	"context"
	"io"
	"time"

	"relabel"
)

// Engine makes and removes images. It is safe for concurrent use.
type Engine interface {
	// Labels returns the value of the label of those images that exist, by name.
	Labels(ctx context.Context, label string, names []string) (map[string]string, error)
	// MakeImage makes an image: see ImageSpec. If it fails, it leaves nothing behind. A command that
	// fails or does not end is a *CommandError.
	MakeImage(ctx context.Context, spec ImageSpec) error
	// BuildImage builds an image from a Dockerfile. A Dockerfile that fails is a *CommandError.
	BuildImage(ctx context.Context, spec DockerfileSpec) error
	// ReadImage calls read with a tar archive of all files of an image. labels are those of the container that
	// is made for it, and removed.
	ReadImage(ctx context.Context, name string, labels map[string]string, read func(archive io.Reader) error) error
	// EnsureImage pulls an image that does not exist.
	EnsureImage(ctx context.Context, name string) error
	// RemoveImage removes an image's name, and its layers that no other image uses. It is not an error if
	// the image does not exist.
	RemoveImage(ctx context.Context, name string) error
	// ImagesWith returns the names of the images with a label of this value, and how many bytes they use
	// on top of the images that they were made from.
	ImagesWith(ctx context.Context, label, value string) (map[string]int64, error)
	// Tidy removes containers with a label of this value, which an interrupted build left.
	Tidy(ctx context.Context, label, value string) error
	// Free returns the free bytes of the engine's disk; negative if they are unknown.
	Free(ctx context.Context) (int64, error)
}

// ImageSpec describes an image to make: files are copied into a container of another image, and commands
// are run there.
type ImageSpec struct {
	Name    string
	From    string
	Workdir string
	// Files writes a tar archive that is unpacked at /. nil: no files.
	Files func(w io.Writer) error
	// Script is run by bash in Workdir, with network, as root. "": nothing runs, and no container starts.
	Script string
	// Variables are set for the script only; Environment also in the image.
	Variables   map[string]string
	Environment map[string]string
	Labels      map[string]string
	Timeout     time.Duration // of the script
	Log         io.Writer     // receives the script's output; nil: nobody
}

// DockerfileSpec describes an image to build from a Dockerfile.
type DockerfileSpec struct {
	Name       string
	Context    func(w io.Writer) error // writes the context of the build as a tar archive
	Dockerfile string                  // path in the context
	Labels     map[string]string
	Variables  map[string]string // arguments of the build
	Log        io.Writer         // receives the output
}

// CommandError is a command of an image's build that failed.
type CommandError struct {
	Exit     int    // its exit code
	TimedOut bool   // it did not end in time
	Output   string // the end of its output
}

// Tester runs test commands, each time in a fresh container without network. It is safe for concurrent
// use.
type Tester interface {
	// Test applies a patch, and the test patch of the task, and runs the test command of the task.
	// FAIL_TO_PASS and PASS_TO_PASS of the task are not read. The error is only ctx's.
	Test(ctx context.Context, task relabel.Task, patch string, timeout time.Duration) (TestRun, error)
}

// TestRun is the result of a run of a test command.
type TestRun struct {
	Tests        map[string]relabel.TestStatus // all tests that the log names
	DoesNotApply bool                          // the patch or the test patch does not apply
	TimedOut     bool
	Problem      string // why the run says nothing about the patch; "" if it does
	Log          []byte // the output, without its middle if it is long
	Seconds      float64
}
