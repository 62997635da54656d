// Command relabel-ecmascript says what JavaScript and TypeScript files define and import, for relabel.
// See relabel/codeindex/children for what it reads and writes.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"relabel/codeindex/children"
	"relabel/codeindex/ecmascript/syntax"
)

// mark is looked for in the file, so that relabel does not run another version.
const mark = "relabel-ecmascript/2"

const (
	memory = 4 << 30          // of addresses, of which Go reserves many
	stack  = 256 << 20        // deeper nesting ends the child
	limit  = 30 * time.Second // for one file; relabel's own limit is shorter
)

func main() {
	if len(os.Args) > 1 {
		fmt.Println(mark)
		return
	}
	debug.SetMaxStack(stack)
	debug.SetGCPercent(400) // one file is garbage at once when the next begins
	debug.SetMemoryLimit(1 << 30)
	err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: memory, Max: memory})
	if err == nil {
		err = children.Serve(os.Stdin, os.Stdout, limit, children.Answers{Records: syntax.Parse, Parts: syntax.Parts})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "relabel-ecmascript:", err)
		os.Exit(1)
	}
}
