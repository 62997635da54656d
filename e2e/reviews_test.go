package e2e

import (
	"strings"
	"testing"

	"relabel/store/storetest"
)

func TestReviewsAreAddedListedAndDeleted(t *testing.T) {
	t.Parallel()
	p := place{data: t.TempDir(), database: storetest.Migrated(t), env: []string{"RELABEL_AUTHOR=Ada"}}
	db := storetest.Open(t, p.database)
	noError(t, db.Migrate(t.Context()))
	d := storetest.Seed(t, db, 2)
	id := d.Trajectories[0].ID.String()
	review := strings.TrimSpace(p.must(t, "review", "add", id, "--flag", "leak", "--note", "the answer\nis in \x1b[31mthe log"))
	p.must(t, "review", "add", d.Trajectories[1].ID.String(), "--note", "fine")
	said := p.must(t, "review", "list", "--run", d.Run.Name, "--flag", "*")
	if !strings.Contains(said, review) || !strings.Contains(said, "Ada") || !strings.Contains(said, "the answer is in [31mthe log") || strings.Contains(said, "fine") {
		t.Errorf("the list says:\n%s", said)
	}
	if said, code := p.command(t, "review", "add", id, "--turn", "3", "--flag", "leak"); code != 2 || !strings.Contains(said, "the trajectory has 0 turns") {
		t.Errorf("a turn that is not there ends with %d: %s", code, said)
	}
	p.must(t, "review", "delete", id, review)
	if said, code := p.command(t, "review", "delete", id, review); code != 1 || !strings.Contains(said, "there is no review") {
		t.Errorf("deleting twice ends with %d: %s", code, said)
	}
	if said := p.must(t, "review", "list"); strings.Contains(said, "leak") || !strings.Contains(said, "fine") {
		t.Errorf("the list says:\n%s", said)
	}
}
