package cli

import "relabel"

// SearchFlags say what a process does with tasks to localise, which need no Docker.
type SearchFlags struct {
	Repositories string `env:"RELABEL_REPOSITORIES" placeholder:"DIR" help:"Folder of bare git mirrors (owner__name.git) for tasks to localise. Without it this process rolls out none."`
	Searches     int    `default:"64" env:"RELABEL_SEARCHES" help:"Trajectories of tasks to localise rolled out at once; they need no container."`
}

// Searching reports whether the process rolls out tasks to localise.
func (f SearchFlags) Searching() bool { return f.Repositories != "" }

func (f SearchFlags) check() error {
	if f.Searches < 1 {
		return relabel.Errorf(relabel.CodeInvalid, "is %d; it must be at least 1", f.Searches).On("--searches")
	}
	return nil
}
