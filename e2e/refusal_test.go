package e2e

import (
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"relabel/store/storetest"
)

// Each error also tells the user what to do.
func TestServeRefusesToStartWithoutItsPrerequisites(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	t.Cleanup(func() { _ = busy.Close() })
	with := func(env ...string) place { return place{data: t.TempDir(), database: l.database, env: env} }
	closed := place{data: t.TempDir(), database: "postgres://127.0.0.1:9/none"}
	for name, c := range map[string]struct {
		place
		args []string
		want []string
	}{
		"a busy port":              {with(), []string{"--listen", busy.Addr().String()}, []string{busy.Addr().String(), "--listen", "address already in use"}},
		"a dead Docker engine":     {with("DOCKER_HOST=unix:///nonexistent/docker.sock"), nil, []string{"unix:///nonexistent/docker.sock", "does not answer", "make install"}},
		"a database that is gone":  {closed, nil, []string{"DATABASE_URL", "127.0.0.1:9", "unset it"}},
		"a malformed database URL": {place{data: t.TempDir(), database: "postgres://%zz"}, nil, []string{"DATABASE_URL", "malformed"}},
		"no sandboxd":              {with("RELABEL_SANDBOXD=/nonexistent/sandboxd"), nil, []string{"/nonexistent/sandboxd", "make build"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"serve"}, c.args...)
			if len(c.args) == 0 {
				args = append(args, "--listen", "127.0.0.1:0")
			}
			said, code := c.command(t, args...)
			if code != 1 {
				t.Errorf("it ended with %d: %s", code, said)
			}
			_, last, _ := strings.Cut(said, "relabel: ")
			for _, want := range c.want {
				if !strings.Contains(last, want) {
					t.Errorf("it does not say %q: %s", want, said)
				}
			}
		})
	}
}

func TestASecondServerOnADataFolderIsRefused(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]place{
		"with a database of its own": {data: openFolder(t)},
		"with another's":             {data: t.TempDir(), database: storetest.Schema(t)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, c := p.serve(t, "--no-work")
			said, code := p.command(t, "serve", "--no-work", "--listen", "127.0.0.1:0")
			if last := lastLine(said); code != 1 || !strings.Contains(last, "another relabel") || !strings.Contains(last, p.data) || !strings.Contains(last, strconv.Itoa(first.cmd.Process.Pid)) {
				t.Errorf("the second ended with %d: %s", code, said)
			}
			if !c.Alive(t.Context()) || !strings.Contains(p.must(t, "tasks", "list"), "HELD OUT") {
				t.Error("the first does not answer any more")
			}
			if code := first.signal(syscall.SIGKILL); code != -1 {
				t.Errorf("the first ended with %d", code)
			}
			next, _ := p.serve(t, "--no-work") // the dead one claims nothing
			if code := next.signal(syscall.SIGINT); code != 0 {
				t.Errorf("the next ended with %d", code)
			}
		})
	}
}

// lastLine returns the last line of a process's output.
func lastLine(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return lines[len(lines)-1]
}

// Four servers meet an empty database, each a process of its own: one migrates.
func TestFourProcessesStartOnAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	database := storetest.Schema(t)
	t.Run("processes", func(t *testing.T) {
		for n := range 4 {
			t.Run(strconv.Itoa(n), func(t *testing.T) {
				t.Parallel()
				place{data: t.TempDir(), database: database}.serve(t, "--no-work")
			})
		}
	})
	var versions int
	l := &lab{place: place{database: database}}
	noError(t, l.connect(t).QueryRow(bounded(t), "SELECT count(*) FROM relabel_schema_version").Scan(&versions))
	if versions != 1 {
		t.Errorf("%d rows say which version the schema has", versions)
	}
}
