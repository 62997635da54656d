package envstest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/envs"
)

func (s *suite) testCommands(t *testing.T) {
	b := s.sandbox(t)
	for name, c := range map[string]struct {
		cmd  envs.Command
		want string
		exit int
	}{
		"output and errors in order": {envs.Command{Args: []string{"bash", "-c", "echo 1; echo 2 >&2; echo 3"}}, "1\n2\n3\n", 0},
		"exit code":                  {envs.Command{Args: []string{"bash", "-c", "exit 7"}}, "", 7},
		"signal":                     {envs.Command{Args: []string{"bash", "-c", "kill -9 $$"}}, "", 128 + 9},
		"empty standard input":       {envs.Command{Args: []string{"cat"}}, "", 0},
		"given standard input":       {envs.Command{Args: []string{"cat"}, Stdin: []byte("a\x00b")}, "a\x00b", 0},
		"variables":                  {envs.Command{Args: []string{"bash", "-c", `echo "$A $PAGER $GIT_PAGER"`}, Env: []string{"A=b"}}, "b cat cat\n", 0},
		"NUL and broken UTF-8":       {envs.Command{Args: []string{"printf", `\0\377\xc3(\n`}}, "\x00\xff\xc3(\n", 0},
		"no such program":            {envs.Command{Args: []string{"no-such-program"}}, "no-such-program: command not found\n", 127},
		"not executable":             {envs.Command{Args: []string{"/etc/passwd"}}, "/etc/passwd: permission denied\n", 126},
		"no program at all":          {envs.Command{}, ": no command\n", 126},
	} {
		t.Run(name, func(t *testing.T) {
			got := box{b.Sandbox, t}.run(c.cmd)
			if string(got.Output) != c.want || got.Exit != c.exit || got.Ended != envs.EndedExit || got.Dropped != 0 || got.Tail != nil {
				t.Errorf("got %q, exit %d, %s; want %q, exit %d", got.Output, got.Exit, got.Ended, c.want, c.exit)
			}
		})
	}
	b.test("starts in the working folder or a given one", func(b box) {
		b.write("sub/here", "")
		b.write("there", "")
		b.prints("ls", "sub\nthere")
		if got := b.run(envs.Command{Args: []string{"ls"}, Dir: Workdir + "/sub"}); string(got.Output) != "here\n" {
			b.t.Errorf("the given folder contains %q", got.Output)
		}
	})
	b.test("output is cut in the middle", testCut)
	b.test("two at once", func(b box) {
		done := make(chan error, 1)
		go func() {
			_, err := b.Run(b.t.Context(), envs.Command{Args: []string{"bash", "-c", "until [ -e go ]; do sleep 0.02; done"}, Timeout: runTime})
			done <- err
		}()
		b.bash("touch go")
		if err := <-done; err != nil {
			b.t.Error(err)
		}
	})
}

func testCut(b box) {
	t := b.t
	seq := func(limit int) envs.Result {
		return b.run(envs.Command{Args: []string{"seq", "1", "20000"}, MaxOutput: limit})
	}
	whole := seq(0).Output
	for _, limit := range []int{1, 2, 1000, 65536, len(whole) - 1} {
		got := seq(limit)
		head, tail := limit/2, limit-limit/2
		if !bytes.Equal(got.Output, whole[:head]) || !bytes.Equal(got.Tail, whole[len(whole)-tail:]) || got.Dropped != int64(len(whole)-limit) {
			t.Errorf("limit %d: %d bytes, %d dropped, %d bytes; want %d, %d, %d", limit, len(got.Output), got.Dropped, len(got.Tail), head, len(whole)-limit, tail)
		}
	}
	got := seq(len(whole))
	if !bytes.Equal(got.Output, whole) || got.Tail != nil || got.Dropped != 0 {
		t.Errorf("output that just fits was cut: %d dropped", got.Dropped)
	}
	endless := b.run(envs.Command{Args: []string{"yes"}, Timeout: 300 * time.Millisecond})
	if len(endless.Output)+len(endless.Tail) != envs.DefaultMaxOutput || endless.Dropped == 0 || endless.Ended != envs.EndedTimeout {
		t.Errorf("endless output: kept %d and %d, dropped %d, %s", len(endless.Output), len(endless.Tail), endless.Dropped, endless.Ended)
	}
}

// isAlive is a shell command that reports whether a process runs; a zombie does not.
const isAlive = `bash -c 'grep -qs "^State:.[^Z]" /proc/$0/status'`

func (s *suite) testEnding(t *testing.T) {
	b := s.sandbox(t)
	// Children that ignore SIGTERM, in the shell's group and in a separate one.
	const stubborn = `trap '' TERM; bash -c "trap '' TERM; echo \$\$ >child; while :; do sleep 0.1; done" & timeout 1000 bash -c "trap '' TERM; echo \$\$ >other; while :; do sleep 0.1; done" & echo begun; while :; do sleep 0.1; done`
	for name, c := range map[string]struct {
		cmd  envs.Command
		want envs.Ended
	}{
		"quiet":   {envs.Command{Quiet: 500 * time.Millisecond}, envs.EndedQuiet},
		"timeout": {envs.Command{Timeout: 500 * time.Millisecond}, envs.EndedTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			b := box{b.Sandbox, t}
			b.bash("rm -f child other")
			c.cmd.Args = []string{"bash", "-c", stubborn}
			got, err := b.Run(t.Context(), c.cmd)
			if err != nil || got.Ended != c.want || string(got.Output) != "begun\n" || got.Exit != 128+9 {
				t.Fatalf("got %+v, %v", got, err)
			}
			b.noneAlive("child", "other")
		})
	}
	b.test("output restarts the quiet time", func(b box) {
		got := b.run(envs.Command{Args: []string{"bash", "-c", "for i in 1 2 3 4 5 6; do sleep 2; echo $i; done"}, Quiet: 10 * time.Second})
		if got.Ended != envs.EndedExit || !strings.HasSuffix(string(got.Output), "6\n") {
			b.t.Errorf("%s after %q", got.Ended, got.Output)
		}
	})
	b.test("cancelled", func(b box) {
		ctx, cancel := context.WithCancel(b.t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := b.Run(ctx, envs.Command{Args: []string{"bash", "-c", "echo $$ >pid; touch begun; sleep 1000"}})
			done <- err
		}()
		b.bash("until [ -e begun ]; do sleep 0.02; done")
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			b.t.Errorf("got %v", err)
		}
		b.bash("while " + isAlive + " $(cat pid); do sleep 0.02; done")
	})
}

// noneAlive fails the test if a process runs whose id is in one of these files.
func (b box) noneAlive(files ...string) {
	b.t.Helper()
	b.prints("for f in "+strings.Join(files, " ")+"; do "+isAlive+" $(cat $f 2>/dev/null) && echo $f; done; true", "")
}

func (s *suite) testEscapes(t *testing.T) {
	b := s.sandbox(t)
	b.run(envs.Command{Args: []string{"bash", "-c", "setsid -w bash -c 'echo $$ >child; setsid sleep 1000 & echo $! >grandchild; wait' & sleep 1000"}, Timeout: time.Second})
	b.noneAlive("child", "grandchild") // in separate sessions
	if pid := b.bash("(setsid sleep 1000 & echo $!)"); b.bash("kill -0 "+pid+"; echo $?") != "0" {
		t.Error("a daemon does not outlive the command that started it")
	}
}

// A command or an output that exceeds a limit does not end the session.
func (s *suite) testLengths(t *testing.T) {
	b := s.sandbox(t)
	long := strings.Repeat("<", 128<<10-1-len("echo ''")) // the longest argument; six times as long in JSON
	if got := b.bash("echo '" + long + "'"); got != long {
		t.Errorf("%d bytes instead of %d", len(got), len(long))
	}
	if _, err := b.Stat(t.Context(), strings.Repeat("x", 2<<20)); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("a path that is too long: %v", err)
	}
	got := b.run(envs.Command{Args: []string{"head", "-c", "160M", "/dev/zero"}, MaxOutput: 1 << 30})
	if got.Dropped == 0 || int64(len(got.Output)+len(got.Tail))+got.Dropped != 160<<20 {
		t.Errorf("kept %d and %d bytes, dropped %d", len(got.Output), len(got.Tail), got.Dropped)
	}
	b.bash("true")
}

func (s *suite) testBackground(t *testing.T) {
	b := s.sandbox(t)
	b.test("neither delays the command nor ends with it", func(b box) {
		pid := b.bash("sleep 1000 & echo $!")
		b.bash("kill -0 " + pid)
	})
	b.test("may continue to write", func(b box) {
		b.bash("(until [ -e go ]; do sleep 0.02; done; for i in $(seq 20000); do echo $i; done; touch written) & true")
		b.bash("touch go; until [ -e written ]; do sleep 0.02; done")
	})
	b.test("is ended by Patch", func(b box) {
		b.repository()
		pid := b.bash("setsid -f bash -c 'echo $$ >../pid; exec sleep 1000'; sleep 1001 & until [ -s ../pid ]; do sleep 0.02; done; echo $!")
		b.patch("")
		b.bash("while " + isAlive + " " + pid + "; do sleep 0.02; done")
	})
}
