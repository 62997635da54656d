package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"relabel"
)

// DefaultDataFolder returns a folder that the user can write to. For root it is one that the
// unprivileged user of the local Postgres can also reach.
func DefaultDataFolder() string {
	if os.Geteuid() == 0 {
		return "/var/lib/relabel"
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "relabel")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "relabel-data"
	}
	return filepath.Join(home, ".local", "share", "relabel")
}

// Claim makes this process the only server of the data folder until release or the end of the
// process. It fails with CodeConflict if another process is that already.
func (f DatabaseFlags) Claim() (release func(), err error) {
	file, err := os.OpenFile(filepath.Join(f.Data, "server.lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	release = func() { _ = file.Close() } // unlocks
	if err := f.lock(file); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// lock locks the file and writes this process's id to it.
func (f DatabaseFlags) lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder, err := io.ReadAll(file)
		return errors.Join(err, relabel.Errorf(relabel.CodeConflict, "another relabel, process %s, serves from %s; stop it, or choose another folder with --data",
			strings.TrimSpace(string(holder)), f.Data))
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "%d\n", os.Getpid())
	return err
}
