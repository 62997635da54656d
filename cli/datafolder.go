package cli

import (
	"os"
	"path/filepath"
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
