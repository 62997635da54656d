package e2e

import (
	"strings"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestTrajectoryListAppliesItsFilters(t *testing.T) {
	t.Parallel()
	p := place{data: t.TempDir(), database: storetest.Migrated(t)}
	db := storetest.Open(t, p.database)
	noError(t, db.Migrate(t.Context()))
	d := storetest.Seed(t, db, 3)
	id := func(i int) string { return d.Trajectories[i].ID.String() }
	noError(t, db.Fail(t.Context(), storetest.Claim(t, db, d.Trajectories[0].ID, "w").Fence, relabel.FailEndpoint, "503 \x1b[31mbusy"))
	for _, c := range []struct {
		flags []string
		has   []int
	}{
		{nil, []int{0, 1, 2}}, {[]string{"--find", "BUSY"}, []int{0}}, {[]string{"--run", d.Run.Name, "--state", "queued"}, []int{1, 2}},
		{[]string{"--instance", "owner__repo-0002", "--sort", "oldest"}, []int{2}}, {[]string{"--labels", "missing"}, nil}, {[]string{"--reviewed", "true"}, nil},
	} {
		said := p.must(t, append([]string{"trajectory", "list"}, c.flags...)...)
		n := 0
		for i := range d.Trajectories {
			n += strings.Count(said, id(i))
		}
		for _, i := range c.has {
			if !strings.Contains(said, id(i)) {
				t.Errorf("%v lacks trajectory %d:\n%s", c.flags, i, said)
			}
		}
		if n != len(c.has) || strings.Contains(said, "\x1b") {
			t.Errorf("%v lists %d, not %d:\n%s", c.flags, n, len(c.has), said)
		}
	}
	if said, code := p.command(t, "trajectory", "list", "--labels", "there"); code != 2 || !strings.Contains(said, "--labels must be one of") {
		t.Errorf("a wrong word ends with %d: %s", code, said)
	}
}

func TestTextsOfTrajectoriesAreSearched(t *testing.T) {
	t.Parallel()
	p := place{data: t.TempDir(), database: storetest.Migrated(t)}
	db := storetest.Open(t, p.database)
	noError(t, db.Migrate(t.Context()))
	d := storetest.Seed(t, db, 3)
	for i, says := range []string{"ImportError: circular \x1b[31mimport", "fine"} {
		c := storetest.Claim(t, db, d.Trajectories[i].ID, "w")
		turn := storetest.Turn(c, 1, nil)
		turn.Observations[0].Content = says
		noError(t, db.CommitTurn(t.Context(), c.Fence, turn))
	}
	said := p.must(t, "trajectory", "search", "importerror: Circular", "--run", d.Run.Name)
	for _, want := range []string{d.Trajectories[0].ID.String() + "  owner__repo-0000  collect 1", "matches: 1", "turn 1, student: observation  ImportError: circular ␛[31mimport", "3 trajectories looked through", "found in 1"} {
		if !strings.Contains(said, want) {
			t.Errorf("it lacks %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, d.Trajectories[1].ID.String()) || strings.Contains(said, "\x1b") {
		t.Errorf("it says\n%s", said)
	}
	if said := p.must(t, "trajectory", "search", "ImportError", "--state", "queued"); !strings.Contains(said, "1 trajectories looked through") || !strings.Contains(said, "found in 0") {
		t.Errorf("of the queued it says\n%s", said)
	}
}
