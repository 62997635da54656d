package localpg

import (
	"context"
	"os"
	"testing"
)

// TestAServerWhoseAddressCannotBeStoredIsStopped has a folder where the file with the address must be.
func TestAServerWhoseAddressCannotBeStoredIsStopped(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	must(t, os.Mkdir(urlFile(dir), 0o700))
	if db, err := Open(context.Background(), dir, ""); err == nil || db != nil {
		t.Fatalf("opened: %v, %v", db, err)
	}
	must(t, os.Remove(urlFile(dir)))
	db, err := Open(context.Background(), dir, "") // refused if the first server ran
	must(t, err)
	must(t, db.Close(context.Background()))
}
