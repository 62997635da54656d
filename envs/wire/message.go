package wire

import (
	"io/fs"
	"time"
)

// Hello is the first frame of each side: sandboxd sends its version, the host answers with its own
// and the settings of the sandbox.
type Hello struct {
	Version  int           `json:"version"`
	Workdir  string        `json:"workdir,omitempty"` // the repository's absolute path
	Silence  time.Duration `json:"silence,omitempty"` // sandboxd ends after this long without contact from the host; 0 means never
	Deadline time.Time     `json:"deadline,omitzero"` // sandboxd ends then; zero means never
	User     string        `json:"user,omitempty"`    // the user of commands, in the form of an image's USER; "" is root
	Disk     int64         `json:"disk,omitempty"`    // bytes that commands may write to the container's disk; 0 means no limit
	Home     string        `json:"home,omitempty"`    // from sandboxd: the folder of its own files
	Problem  string        `json:"problem,omitempty"` // from sandboxd: why it ends the connection
}

// Op names an operation.
type Op string

// The operations.
const (
	OpReady       Op = "ready" // does nothing; answered once sandboxd works
	OpRun         Op = "run"
	OpRead        Op = "read"
	OpWrite       Op = "write"
	OpStat        Op = "stat"
	OpList        Op = "list"
	OpFingerprint Op = "fingerprint"
	OpPatch       Op = "patch"
	OpEnd         Op = "end" // ends all processes of commands
)

// Request is the head of a request. Its body is a command's standard input or a file's
// content.
type Request struct {
	Op Op `json:"op"`

	Args      []string      `json:"args,omitempty"`
	Dir       string        `json:"dir,omitempty"`
	Env       []string      `json:"env,omitempty"`
	Quiet     time.Duration `json:"quiet,omitempty"`
	Timeout   time.Duration `json:"timeout,omitempty"`
	MaxOutput int           `json:"max_output,omitempty"`

	Path  string      `json:"path,omitempty"`
	Limit int64       `json:"limit,omitempty"`
	Mode  fs.FileMode `json:"mode,omitempty"`
	Depth int         `json:"depth,omitempty"`
	Base  string      `json:"base,omitempty"`
}

// Response is the head of a response. Its body is a command's output, a file's content, a
// listing (JSON of []File) or a patch. If output was cut, its beginning is Kept bytes of the body, and
// its end follows after Streamed bytes.
type Response struct {
	Fault   Fault  `json:"fault,omitempty"`
	Message string `json:"message,omitempty"` // of a fault

	Kept     int           `json:"kept,omitempty"`
	Streamed int           `json:"streamed,omitempty"`
	Dropped  int64         `json:"dropped,omitempty"`
	Exit     int           `json:"exit,omitempty"`
	Ended    string        `json:"ended,omitempty"`
	Elapsed  time.Duration `json:"elapsed,omitempty"`
	Memory   bool          `json:"memory,omitempty"` // the kernel killed a process because memory ran out

	Size   int64    `json:"size,omitempty"`
	File   *File    `json:"file,omitempty"`
	More   bool     `json:"more,omitempty"`
	Digest string   `json:"digest,omitempty"`
	Binary []string `json:"binary,omitempty"` // files that a patch excludes
}

// File describes a file.
type File struct {
	Path    string      `json:"path"`
	Mode    fs.FileMode `json:"mode"`
	Size    int64       `json:"size"`
	Symlink string      `json:"symlink,omitempty"`
}

// Fault is the kind of a response's error.
type Fault string

// The faults. One that is not about a file is a failure of the sandbox.
const (
	FaultNotExist     Fault = "not_exist"
	FaultPermission   Fault = "permission"
	FaultNotRegular   Fault = "not_regular"
	FaultNotDirectory Fault = "not_directory"
	FaultPath         Fault = "path"       // an impossible path
	FaultRepository   Fault = "repository" // there is no repository, or no such commit
	FaultTooLarge     Fault = "too_large"  // a patch longer than MaxPatch
	FaultDisk         Fault = "disk"       // it is full
	FaultDiskLimit    Fault = "disk_limit" // commands exceeded the disk limit
	FaultCanceled     Fault = "canceled"
	FaultOther        Fault = "other"
)
