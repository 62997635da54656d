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

// runTime bounds commands that must end without intervention, so that a hanging one fails its test
// instead of the whole run.
const runTime = 5 * time.Minute

// Run tests a host against the contracts of envs.Host and envs.Sandbox. newHost returns a fresh host
// that cleans up after itself and has the image, which contains bash, git and coreutils.
func Run(t *testing.T, newHost func(t testing.TB) envs.Host, image string) {
	s := &suite{newHost: newHost, image: image}
	for name, test := range map[string]func(*testing.T){
		"Commands": s.testCommands, "Ending": s.testEnding, "Escapes": s.testEscapes, "Lengths": s.testLengths,
		"Background": s.testBackground, "Files": s.testFiles, "Listing": s.testListing, "Fingerprint": s.testFingerprint,
		"Patch": s.testPatch, "HostileRepository": s.testHostileRepository,
		"HiddenChanges": s.testHiddenChanges, "StrangeFiles": s.testStrangeFiles, "LargePatch": s.testLargePatch,
		"SpecialFiles": s.testSpecialFiles, "Forgeries": s.testForgeries, "Bounds": s.testBounds, "Life": s.testLife,
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

// spec describes a sandbox with a unique name.
func (s *suite) spec() envs.Spec {
	id := uuid.NewString()
	return envs.Spec{
		Name: "relabel-test-" + id, Image: s.image, Workdir: Workdir,
		Labels: envs.Labels{Trajectory: id, Attempt: 1, Purpose: "rollout"},
		Limits: envs.Limits{MemoryBytes: 512 << 20, CPUs: 1, PIDs: 128},
	}
}

// sandbox starts a sandbox, which is closed at the end of the test.
func (s *suite) sandbox(t *testing.T) box {
	t.Helper()
	return s.create(t, s.newHost(t), s.spec())
}

// repository starts a sandbox whose working folder is a repository, and returns its commit.
func (s *suite) repository(t *testing.T) (b box, base string) {
	t.Helper()
	b = s.sandbox(t)
	return b, b.repository()
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

// box is a sandbox with methods that fail its test.
type box struct {
	envs.Sandbox
	t *testing.T
}

// test runs a subtest with the same sandbox.
func (b box) test(name string, test func(b box)) {
	b.t.Run(name, func(t *testing.T) { test(box{b.Sandbox, t}) })
}

// run runs a command. Its default timeout is runTime.
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

// prints runs a script that must print this output.
func (b box) prints(script, want string) {
	b.t.Helper()
	if got := b.bash(script); got != want {
		b.t.Errorf("%s: got %q, want %q", script, got, want)
	}
}

func (b box) write(path, content string) {
	b.t.Helper()
	if err := b.WriteFile(b.t.Context(), path, []byte(content), 0); err != nil {
		b.t.Fatal(err)
	}
}

func (b box) fingerprint() string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), runTime)
	defer cancel()
	f, err := b.Fingerprint(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	return f
}

// changed fails the test if the fingerprint is still the first one.
func (b box) changed(first, change string) {
	b.t.Helper()
	if b.fingerprint() == first {
		b.t.Errorf("the fingerprint does not depend on %s", change)
	}
}

func (b box) patch(base string) envs.Patch {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), runTime)
	defer cancel()
	p, err := b.Patch(ctx, base)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// patchWith returns a patch, which must contain each of these texts.
func (b box) patchWith(base string, texts ...string) envs.Patch {
	b.t.Helper()
	p := b.patch(base)
	for _, text := range texts {
		if !strings.Contains(string(p.Diff), text) {
			b.t.Errorf("the patch lacks %q:\n%s", text, p.Diff)
		}
	}
	return p
}

// repository makes the working folder a repository with one commit and returns its id.
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

// environmentFailed fails the test unless err has CodeEnvironment.
func environmentFailed(t *testing.T, what string, err error) {
	t.Helper()
	if relabel.CodeOf(err) != relabel.CodeEnvironment {
		t.Errorf("%s: got error %v, want one of code %s", what, err, relabel.CodeEnvironment)
	}
}
