package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"relabel"
	"relabel/cli"
)

// claimFolder makes this process the only one that serves from the data folder, until
// release is called or the process ends, however it does: the other commands find one
// server there. A second one is a CodeConflict.
func claimFolder(f cli.DatabaseFlags) (release func(), err error) {
	file, err := os.OpenFile(filepath.Join(f.Data, "server.lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	release = func() { _ = file.Close() } // unlocks
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer release()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
		}
		holder, err := io.ReadAll(file)
		return nil, errors.Join(err, relabel.Errorf(relabel.CodeConflict, "another relabel, process %s, serves from %s; stop it, or choose another folder with --data",
			strings.TrimSpace(string(holder)), f.Data))
	}
	if err := file.Truncate(0); err != nil {
		release()
		return nil, err
	}
	if _, err := fmt.Fprintf(file, "%d\n", os.Getpid()); err != nil {
		release()
		return nil, err
	}
	return release, nil
}
