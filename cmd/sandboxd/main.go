// Command sandboxd runs inside relabel's sandboxes. It is the container's first process: it adopts
// orphans like an init, answers its host on standard input and output (package wire), and ends, with the
// container, when the host is gone.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"relabel/envs/inside"
	"relabel/envs/inside/process"
	"relabel/envs/wire"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] != "serve" {
		fmt.Fprintln(os.Stderr, "sandboxd runs inside relabel's sandboxes: sandboxd serve ("+wire.Mark+")")
		os.Exit(2)
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "sandboxd:", err)
		os.Exit(1)
	}
}

// serve answers the host until it is gone. The end of the first process ends the container.
func serve() error {
	if err := process.Harden(); err != nil {
		return err
	}
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		return err
	}
	in, out, err := process.StandardStreams()
	if err != nil {
		return err
	}
	apart, err := process.Separate()
	if err != nil {
		return err
	}
	return inside.Serve(in, out, inside.Config{Home: filepath.Dir(self), Disk: "/", Separation: apart, Expire: func() { os.Exit(0) }})
}
