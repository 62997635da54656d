package envstest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"relabel"
	"relabel/envs"
)

// Workdir is the working folder of the suite's sandboxes.
const Workdir = "/testbed"

// runTime bounds commands that must end on their own, so that a hanging one fails its
// test rather than the whole run.
const runTime = 5 * time.Minute

// Run holds a host to what envs.Host and envs.Sandbox promise. newHost returns a fresh
// host that has the image, with bash, git and coreutils in it, and tidies up after itself.
func Run(t *testing.T, newHost func(t testing.TB) envs.Host, image string) {
	s := &suite{newHost: newHost, image: image}
	for name, test := range map[string]func(*testing.T){
		"Commands": s.testCommands, "Ending": s.testEnding, "Escapes": s.testEscapes, "Lengths": s.testLengths, "Background": s.testBackground,
		"Files": s.testFiles, "Listing": s.testListing, "Fingerprint": s.testFingerprint, "Patch": s.testPatch, "HostileRepository": s.testHostileRepository,
		"HiddenChanges": s.testHiddenChanges, "StrangeFiles": s.testStrangeFiles, "LargePatch": s.testLargePatch, "SpecialFiles": s.testSpecialFiles, "Forgeries": s.testForgeries, "Bounds": s.testBounds, "Life": s.testLife,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

type suite struct {
	newHost func(t testing.TB) envs.Host
	image   string
}

// spec describes a sandbox with a name of its own.
func (s *suite) spec() envs.Spec {
	id := uuid.NewString()
	return envs.Spec{
		Name: "relabel-test-" + id, Image: s.image, Workdir: Workdir,
		Labels: envs.Labels{Trajectory: id, Attempt: 1, Purpose: "rollout"},
		Limits: envs.Limits{MemoryBytes: 512 << 20, CPUs: 1, PIDs: 128},
	}
}

// sandbox starts one that is closed at the end of the test.
func (s *suite) sandbox(t *testing.T) box {
	t.Helper()
	return s.create(t, s.newHost(t), s.spec())
}

func (s *suite) create(t *testing.T, host envs.Host, spec envs.Spec) box {
	t.Helper()
	sandbox, err := host.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sandbox.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return box{sandbox, t}
}

// box is a sandbox with the words that the tests are written in.
type box struct {
	envs.Sandbox
	t *testing.T
}

// run runs a command that must neither fail as such nor be ended.
func (b box) run(cmd envs.Command) envs.Result {
	b.t.Helper()
	if cmd.Timeout == 0 {
		cmd.Timeout = runTime
	}
	result, err := b.Run(b.t.Context(), cmd)
	if err != nil {
		b.t.Fatalf("%q: %v", cmd.Args, err)
	}
	return result
}

// bash runs a script that must succeed and returns its output without the last newline.
func (b box) bash(script string) string {
	b.t.Helper()
	result := b.run(envs.Command{Args: []string{"bash", "-c", script}})
	if result.Exit != 0 || result.Ended != envs.EndedExit {
		b.t.Fatalf("%s: exit %d, %s: %s", script, result.Exit, result.Ended, result.Output)
	}
	return strings.TrimSuffix(string(result.Output), "\n")
}

func (b box) write(path, content string) {
	b.t.Helper()
	if err := b.WriteFile(b.t.Context(), path, []byte(content), 0); err != nil {
		b.t.Fatal(err)
	}
}

func (b box) fingerprint() string {
	b.t.Helper()
	f, err := b.Fingerprint(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return f
}

func (b box) patch(base string) envs.Patch {
	b.t.Helper()
	p, err := b.Patch(b.t.Context(), base)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// repository makes the working folder a repository with one commit, whose id it returns.
func (b box) repository() string {
	b.t.Helper()
	return b.bash(`set -e
git init -q . && git config user.name nobody && git config user.email nobody@invalid
printf 'one\ntwo\nthree\n' >plain.txt
printf 'one\r\ntwo\r\n' >dos.txt
printf '\0\1\2' >data.bin
printf '*.log\nbuilt/\n' >.gitignore
mkdir -p src && echo 'x = 1' >src/a.py
git add -A && git commit -q -m base && git rev-parse HEAD`)
}

// gone fails unless err says that the environment failed.
func gone(t *testing.T, what string, err error) {
	t.Helper()
	if relabel.CodeOf(err) != relabel.CodeEnvironment {
		t.Errorf("%s: got error %v, want one of code %s", what, err, relabel.CodeEnvironment)
	}
}
