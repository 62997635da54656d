package worker

import (
	"os"
	"runtime/debug"
)

// gcPercent is the heap growth that starts a garbage collection. An export holds about 250 MB;
// Go's default of 100 would double that. The smaller value costs a twentieth of its CPU time.
const gcPercent = 50

// SaveMemory makes Go collect garbage earlier, unless GOGC is set.
func SaveMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
