// Package storetest gives every test its own store: a migrated database in a real Postgres,
// dropped when the test ends. Tests may run in parallel, in any number of processes.
//
// RELABEL_TEST_DATABASE_URL names the server; its role must be able to create databases.
// Without it, all test processes of this user on the machine share one local server, in
// memory if the machine has enough, otherwise below the system's temporary folder. The
// first process that needs it starts it, and it ends half an hour after the last test
// used it. It does not sync to disk.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"relabel/store"
	"relabel/store/localpg"
)

// limit bounds each operation on the server outside of the tests.
const limit = 3 * time.Minute

// New returns an empty, migrated store that nothing else uses.
func New(t testing.TB) *store.Store {
	t.Helper()
	return Open(t, Migrated(t))
}

// Open opens the database at url until the test ends, without migrating it.
func Open(t testing.TB, url string) *store.Store {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s, err := store.Open(ctx, url)
	if err != nil {
		t.Fatalf("opening the test's store: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// Schema creates an empty schema for the test and returns the URL that names it.
func Schema(t testing.TB) string {
	t.Helper()
	address, _ := newSchema(t)
	return address
}

func newSchema(t testing.TB) (address, name string) {
	t.Helper()
	base := serverURL(t)
	name = newName()
	must(t, execSQL(base, "CREATE SCHEMA "+name))
	t.Cleanup(func() { must(t, execSQL(base, "DROP SCHEMA "+name+" CASCADE")) })
	return withSchema(base, name), name
}

// serverURL returns the URL of the server.
func serverURL(t testing.TB) string {
	t.Helper()
	base, err := server()
	if err != nil {
		t.Fatalf("the tests' Postgres: %v", err)
	}
	return base
}

// newName returns the name of a schema or database, which contains the time of its creation: see sweep.
func newName() string {
	return fmt.Sprintf("t%d_%s", time.Now().Unix(), strings.ReplaceAll(uuid.NewString(), "-", "")[:12])
}

// withSchema adds a schema to the server's URL, which [server] has checked.
func withSchema(base, name string) string {
	u, _ := url.Parse(base)
	q := u.Query()
	q.Set("search_path", name)
	q.Set("pool_max_conns", "8")
	u.RawQuery = q.Encode()
	return u.String()
}

// execSQL executes statements on a separate connection, because a dump changes the search path.
func execSQL(address, statements string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	config, err := pgxpool.ParseConfig(address) // pgx itself does not know pool_max_conns
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err = conn.PgConn().Exec(ctx, statements).ReadAll(); err != nil {
		return fmt.Errorf("%s: %w", statements[:min(len(statements), 80)], err)
	}
	return nil
}

// server returns the URL of the shared server, which it starts if needed; once per process.
var server = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("RELABEL_TEST_DATABASE_URL"); given != "" {
		_, err := url.Parse(given)
		return given, err
	}
	if err := closeInherited(); err != nil {
		return "", err
	}
	dir := folder("/dev/shm", enough, fmt.Sprintf("relabel-test-postgres-%d", os.Getuid()))
	if err := makeOwn(dir); err != nil {
		return "", err
	}
	// One process at a time starts or adopts the server: localpg's own lock does not wait.
	unlock, err := lock(filepath.Join(dir, "gate"))
	if err != nil {
		return "", err
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	pg, err := localpg.Start(ctx, dir, "fsync=off", "synchronous_commit=off", "full_page_writes=off",
		"max_connections=400", "max_locks_per_transaction=256", "shared_buffers=64MB")
	if err != nil {
		return "", err
	}
	if err := endWhenUnused(dir); err != nil {
		return "", err
	}
	if err := sweep(ctx, pg.URL()); err != nil {
		return "", err
	}
	return pg.URL(), pg.Leave()
})

// makeOwn makes a folder in a shared one, where others can write too. It refuses a folder of another user, who could
// make this one overwrite files and end processes.
func makeOwn(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm()&0o022 != 0 || int(info.Sys().(*syscall.Stat_t).Uid) != os.Getuid() {
		return fmt.Errorf("%s is not a folder that only this user can change: remove it, or set RELABEL_TEST_DATABASE_URL", dir)
	}
	return nil
}

// enough is the space that the databases of all tests that run at once need, in bytes.
const enough = 4 << 30

// folder returns the server's folder: in the file system in memory if a server is there or it has enough bytes, since
// databases are copied there in a seventh of the time; otherwise in the folder of temporary files.
func folder(memory string, enough uint64, name string) string {
	dir := filepath.Join(memory, name)
	if _, err := os.Stat(filepath.Join(dir, pidFile)); err == nil {
		return dir
	}
	var free syscall.Statfs_t
	if syscall.Statfs(memory, &free) == nil && free.Bavail*uint64(free.Bsize) >= enough {
		return dir
	}
	return filepath.Join(os.TempDir(), name)
}

// lock waits for the lock of a file, which it creates if needed.
func lock(name string) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, nil
}

// closeInherited makes child processes close the files that this process inherited: the server
// outlives it, and would keep a lock on such a file.
func closeInherited() error {
	open, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, file := range open {
		if fd, err := strconv.Atoi(file.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return err
}

// pidFile is the file of a server's folder that begins with its process id while it runs.
const pidFile = "postgres/data/postmaster.pid"

// endWhenUnused marks the server as used now. A shell loop, one per server, stops it half an
// hour after the last mark, and removes its files, which may be in memory.
func endWhenUnused(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "used"), nil, 0o600); err != nil {
		return err
	}
	cmd := watch(dir)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// watch is the loop of endWhenUnused. It removes nothing if another server has started meanwhile.
func watch(dir string) *exec.Cmd {
	const loop = `cd "$1" || exit
pid=$(head -n 1 "$2") || exit
mkdir "watch.$pid" 2>/dev/null || exit 0
while kill -0 "$pid" 2>/dev/null && [ -n "$(find used -mmin -30)" ]; do sleep 20; done
kill -INT "$pid" 2>/dev/null
while kill -0 "$pid" 2>/dev/null; do sleep 1; done
rmdir "watch.$pid"
exec 9>gate
flock 9 && [ ! -e "$2" ] && rm -rf postgres`
	cmd := exec.Command("/bin/sh", "-c", loop, "sh", dir, pidFile)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// sweep drops what killed test processes created more than two hours ago.
func sweep(ctx context.Context, base string) error {
	return errors.Join(
		execEach(ctx, base, `SELECT format('DROP SCHEMA IF EXISTS %I CASCADE', nspname) FROM pg_namespace WHERE `+outdated("nspname")),
		execEach(ctx, base, `SELECT format('DROP DATABASE IF EXISTS %I WITH (FORCE)', datname) FROM pg_database WHERE `+outdated("datname")))
}

// outdated is the condition that a column contains a name that newName returned two hours ago or earlier.
func outdated(column string) string {
	return column + ` ~ '^t[0-9]{10}_' AND substr(` + column + `, 2, 10)::bigint < extract(epoch FROM now()) - 7200`
}

// execEach executes each statement that a query returns.
func execEach(ctx context.Context, base, query string) error {
	conn, err := pgx.Connect(ctx, base)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, _ := conn.Query(ctx, query)
	statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, statement := range statements {
		_, failed := conn.Exec(ctx, statement)
		err = errors.Join(err, failed)
	}
	return err
}
