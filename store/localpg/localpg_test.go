package localpg

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// folderOfChild makes the test binary a relabel that starts a server in the folder, prints its
// process id, and waits until it is killed.
const folderOfChild = "RELABEL_LOCALPG_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(folderOfChild); dir != "" {
		s, err := Start(context.Background(), dir)
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		fmt.Println(s.process.pid)
		select {}
	}
	os.Exit(m.Run())
}

// folder returns a data folder that Postgres's user can reach, unlike t.TempDir's.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "localpg")
	must(t, err)
	must(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func begin(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := Start(context.Background(), dir)
	must(t, err)
	t.Cleanup(func() { end(t, s) })
	return s
}

func end(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	must(t, s.Stop(ctx))
}

// ask runs a query on the server.
func ask(t *testing.T, s *Server, sql string) string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.URL())
	must(t, err)
	defer conn.Close(ctx)
	rows, _ := conn.Query(ctx, sql, pgx.QueryExecModeSimpleProtocol)
	answers, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	return strings.Join(answers, " ")
}

func TestALocalServerIsPrivateAndKeepsItsDataWhenStopped(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	s := begin(t, dir)
	for setting, want := range map[string]string{"listen_addresses": "", "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "server_encoding": "UTF8"} {
		if got := ask(t, s, "SHOW "+setting); got != want {
			t.Errorf("%s is %q", setting, got)
		}
	}
	for _, private := range []string{s.process.socket, filepath.Join(dir, "postgres"), filepath.Join(dir, "postgres", "data")} {
		info, err := os.Stat(private)
		must(t, err)
		if info.Mode().Perm() != 0o700 {
			t.Errorf("%s is open: %v", private, info.Mode())
		}
	}
	info, err := os.Stat(fmt.Sprintf("/proc/%d", s.process.pid))
	must(t, err)
	if uid := info.Sys().(*syscall.Stat_t).Uid; uid == 0 {
		t.Error("Postgres runs as root")
	}
	ask(t, s, "CREATE TABLE kept AS SELECT 'yes'::text AS v")
	end(t, s)
	end(t, s) // a second stop does nothing
	if s.process.alive() {
		t.Error("it still runs")
	}
	if got := ask(t, begin(t, dir), "SELECT v FROM kept"); got != "yes" {
		t.Errorf("kept %q", got)
	}
}

func TestASecondRelabelOnAFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	begin(t, dir)
	_, err := Start(context.Background(), dir)
	if relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) || !strings.Contains(err.Error(), dir) {
		t.Errorf("the error is %v", err)
	}
}

// child starts a server in another process and returns that process and the postmaster's id.
func child(t *testing.T, dir string) (*exec.Cmd, int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), folderOfChild+"="+dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("the child printed %s", line)
	}
	return cmd, pid
}

func TestTheServerOfAKilledRelabelIsTakenOver(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	relabelProcess, postmaster := child(t, dir)
	if _, err := Start(context.Background(), dir); !strings.Contains(fmt.Sprint(err), strconv.Itoa(relabelProcess.Process.Pid)) {
		t.Errorf("the error of a second one is %v", err)
	}
	must(t, relabelProcess.Process.Kill())
	_ = relabelProcess.Wait() // it was killed
	s := begin(t, dir)
	if s.process.pid != postmaster {
		t.Errorf("the server is process %d, not %d", s.process.pid, postmaster)
	}
	if got := ask(t, s, "SELECT 'yes'"); got != "yes" {
		t.Errorf("it answers %q", got)
	}
	end(t, s)
	if (&process{pid: postmaster}).alive() {
		t.Error("the server that was taken over still runs")
	}
}

func TestAStartWaitsForProcessesOfAKilledServer(t *testing.T) {
	t.Parallel()
	p := &process{log: filepath.Join(t.TempDir(), "log")}
	for said, orphans := range map[string]bool{
		"FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use\nHINT:  Terminate any old server processes\n": true,
		"FATAL:  could not create lock file\n": false,
	} {
		must(t, os.WriteFile(p.log, []byte(said), 0o600))
		if err := p.didNotStart(); errors.Is(err, errOrphans) != orphans || !strings.Contains(err.Error(), "FATAL") {
			t.Errorf("%q gives %v", said, err)
		}
	}
}

func TestAKilledServerRecovers(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	s := begin(t, dir)
	ask(t, s, "CREATE TABLE kept AS SELECT 'yes'::text AS v")
	must(t, syscall.Kill(s.process.pid, syscall.SIGKILL))
	<-s.process.gone
	must(t, s.Leave())
	if got := ask(t, begin(t, dir), "SELECT v FROM kept"); got != "yes" {
		t.Errorf("kept %q", got)
	}
}

func TestALongFolderGetsAShortSocket(t *testing.T) {
	t.Parallel()
	long := filepath.Join(folder(t), strings.Repeat("long", 30))
	s := begin(t, long)
	if !strings.HasPrefix(s.process.socket, "/tmp/relabel-") {
		t.Errorf("the socket is in %s", s.process.socket)
	}
	t.Cleanup(func() { must(t, os.RemoveAll(s.process.socket)) })
	if got := ask(t, s, "SELECT 'yes'"); got != "yes" {
		t.Errorf("it answers %q", got)
	}
}

func TestAnInterruptedInitdbIsRepeated(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	must(t, os.MkdirAll(filepath.Join(dir, "postgres", "data.new", "base"), 0o700))
	if got := ask(t, begin(t, dir), "SELECT 'yes'"); got != "yes" {
		t.Errorf("it answers %q", got)
	}
}
