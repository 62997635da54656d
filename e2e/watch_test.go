package e2e

import (
	"strings"
	"syscall"
	"testing"

	"relabel/store/storetest"
)

// Who watches an iteration does not notice that the server was killed and came back, at
// another address: the watch continues and ends with the iteration.
func TestAWatchSurvivesARestartOfTheServer(t *testing.T) {
	t.Parallel()
	p := place{data: t.TempDir(), database: storetest.Migrated(t)}
	first, _ := p.serve(t, "--no-work")
	db := storetest.Open(t, p.database)
	d := storetest.Seed(t, db, 2)
	watch := p.start(t, "run", "watch", d.Run.ID.String())
	sees := func(what string) {
		t.Helper()
		eventually(t, "it shows "+what, func() bool { return strings.Contains(watch.said.String(), what) })
	}
	sees("0 of 2 trajectories")
	storetest.Finish(t, db, storetest.Claim(t, db, d.Trajectories[0].ID, "worker"), 2, true)
	sees("1 of 2 trajectories")
	first.signal(syscall.SIGKILL)
	p.serve(t, "--no-work")
	storetest.Finish(t, db, storetest.Claim(t, db, d.Trajectories[1].ID, "worker"), 2, true)
	if code := watch.wait(); code != 0 || !strings.Contains(watch.said.String(), "2 of 2 trajectories") {
		t.Errorf("it ended with %d: %s", code, watch.said.String())
	}
	if said, code := p.command(t, "run", "watch", d.Iteration.ID.String()); code != 0 || !strings.Contains(said, "done") {
		t.Errorf("what is over: %d, %s", code, said)
	}
	if said, code := p.command(t, "run", "watch", "nothing"); code != 1 || !strings.Contains(said, `no run "nothing"`) {
		t.Errorf("nothing: %d, %s", code, said)
	}
}
