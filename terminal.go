package relabel

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// TerminalTask is what a task in a terminal has besides its image and its instruction: the tests that
// reward the state of its container, its solution, and the settings of its sandbox.
type TerminalTask struct {
	Tests    Archive `json:"tests" doc:"The folder of its tests, with test.sh, which writes the reward."`
	Solution Archive `json:"solution,omitzero" doc:"The folder of its solution, with solve.sh; absent: it has none, and cannot be validated."`
	// Env is the environment of all commands; TestEnv and SolutionEnv add to it. By name.
	Env         map[string]string `json:"env,omitempty" doc:"Environment of all commands, by name."`
	TestEnv     map[string]string `json:"test_env,omitempty" doc:"Further environment of its tests."`
	SolutionEnv map[string]string `json:"solution_env,omitempty" doc:"Further environment of its solution."`
	// TestSeconds bounds its tests, beside the run's VerifySeconds.
	TestSeconds int `json:"test_seconds" doc:"Seconds that its tests may take; the run's verify_seconds bounds them too."`
	// The limits of its sandbox; 0 means the default.
	CPUs        float64 `json:"cpus,omitempty" doc:"CPUs of its sandbox; absent: the default."`
	MemoryBytes int64   `json:"memory_bytes,omitempty" doc:"Memory of its sandbox, in bytes; absent: the default."`
	DiskBytes   int64   `json:"disk_bytes,omitempty" doc:"Disk of its sandbox, in bytes; absent: the default."`
	// Network says that the task's maker allows a network, which no sandbox has.
	Network bool `json:"network,omitempty" doc:"Whether its maker allows a network. Sandboxes have none: whether it needs one is seen when it is validated."`
}

// Archive is a folder of files, as a tar file compressed with gzip.
type Archive struct {
	SHA256  string `json:"sha256" doc:"SHA-256 of the archive, in hex."`
	Bytes   int    `json:"bytes" doc:"Size of the archive, compressed."`
	Content []byte `json:"-"` // only where it was asked for
}

// NewArchive describes the content of an archive. The zero Archive stands for no content.
func NewArchive(content []byte) Archive {
	if len(content) == 0 {
		return Archive{}
	}
	sum := sha256.Sum256(content)
	return Archive{SHA256: hex.EncodeToString(sum[:]), Bytes: len(content), Content: content}
}

// LocalImages begins the names of images that are built on each engine, and never pulled.
const LocalImages = "localhost/relabel/"

// Bounds of the archives of a task in a terminal.
const (
	MaxArchive      = 8 << 20  // bytes of an archive, compressed
	MaxArchiveFiles = 2000     // files in it
	MaxUnpacked     = 64 << 20 // bytes of all its files
)

// TestTime is how long the tests of the task may run under the limits of a run.
func (t TerminalTask) TestTime(limits RunLimits) time.Duration {
	seconds := limits.VerifySeconds
	if seconds <= 0 {
		seconds = PaperLimits.VerifySeconds
	}
	if t.TestSeconds > 0 {
		seconds = min(seconds, t.TestSeconds)
	}
	return time.Duration(seconds) * time.Second
}
