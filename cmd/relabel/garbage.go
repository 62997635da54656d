package main

import (
	"os"
	"runtime/debug"
)

// gcPercent is how much garbage may gather before it is collected, in percent of what is
// held. An export holds some 250 MB at its largest, and with Go's own 100 would take twice
// as much; the processor's time that it costs is a twentieth of an export's.
const gcPercent = 50

// spareMemory sets it, unless GOGC says something else.
func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
