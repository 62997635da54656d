package web

import (
	"testing"

	"relabel"
)

// The deletion of a run removes the trajectories of its newest evaluations first.
func TestRepositoriesOfARunThatIsBeingDeletedAreFoundByName(t *testing.T) {
	of := func(names ...string) relabel.Results {
		var e relabel.Results
		for i, name := range names {
			e.Repositories = append(e.Repositories, relabel.RepositoryResults{Repository: name, Tasks: i + 1})
		}
		return e
	}
	table := repositoriesOf([]relabel.Results{of("a", "b"), of("b"), of()})
	if len(table.Rows) != 2 || table.Rows[0].Repository != "a" || table.Rows[1].Repository != "b" || table.Rows[1].Tasks != 2 {
		t.Fatalf("%+v", table.Rows)
	}
	if a, b := table.Rows[0].Results, table.Rows[1].Results; a[0] == nil || a[1] != nil || b[0].Tasks != 2 || b[1].Tasks != 1 || b[2] != nil {
		t.Errorf("%+v, %+v", a, b)
	}
}
