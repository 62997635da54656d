package docker_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/docker/dockertest"
)

// Written bytes are measured from inside, independently of the limits of the engine's file system.
func TestCommandsThatWriteTooMuchAreEnded(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"at once":            `for i in 1 2 3; do head -c 60M /dev/zero >f$i; done; sync`,
		"while it runs":      `i=0; while :; do i=$((i+1)); head -c 10M /dev/zero >/var/f$i; done`,
		"deleted and open":   `for i in 1 2 3; do exec {fd}>f; rm f; head -c 40M /dev/zero >&$fd; done; sleep 1000`,
		"behind long paths":  `cd /var; exec python3 -c 'import os; [(os.mkdir("d" * 200), os.chdir("d" * 200)) for _ in range(50)]; [os.posix_fallocate(os.open(n, os.O_CREAT | os.O_WRONLY), 0, 50 << 20) for n in "abc"]'`,
		"as long links":      `cd /var; exec python3 -c 'import os; [os.symlink("x" * 4000, str(i)) for i in range(25000)]'`,
		"as names alone":     `cd /var; exec python3 -c 'import os; [os.mknod(str(i)) for i in range(25000)]'`,
		"beside the command": `(setsid bash -c 'i=0; while :; do i=$((i+1)); head -c 10M /dev/zero >/var/f$i; done' &); sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sandbox := start(t, dockertest.NewHost(t), newSpec(t))
			base, _ := bash(t, sandbox, "git init -q . && git -c user.name=a -c user.email=a@invalid commit -q --allow-empty -m base; git rev-parse HEAD; echo new >file")
			err := runUntilOneIsEnded(t, sandbox, script)
			if relabel.CodeOf(err) != relabel.CodeDisk || !strings.Contains(err.Error(), "64 MiB") {
				t.Errorf("got %v", err)
			}
			if _, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"true"}}); relabel.CodeOf(err) != relabel.CodeDisk {
				t.Errorf("the next command: %v", err)
			}
			if p, err := sandbox.Patch(t.Context(), base); err != nil || !strings.Contains(string(p.Diff), "+new") {
				t.Errorf("patch %q, %v", p.Diff, err)
			}
		})
	}
}

// runUntilOneIsEnded runs the script and returns its error or that of a command after it: where
// the disk was measured just before, or others freed as much meanwhile, a later one is ended.
func runUntilOneIsEnded(t *testing.T, sandbox envs.Sandbox, script string) error {
	t.Helper()
	_, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"bash", "-c", script}})
	for deadline := time.Now().Add(5 * time.Minute); err == nil && time.Now().Before(deadline); {
		_, err = sandbox.Run(t.Context(), envs.Command{Args: []string{"sleep", "1"}})
	}
	return err
}

// hide fills the disk with deleted files of %d MiB that it keeps open, and that no other process
// can look at.
const hide = `import ctypes, os, time
ctypes.CDLL(None).prctl(4, 0)
for i in range(1000):
    f = open("/hidden", "wb", 0)
    os.unlink("/hidden")
    os.dup(f.fileno())
    try:
        for _ in range(%d): f.write(bytes(1 << 20))
    except OSError:
        break
print("full", flush=True)
time.sleep(1000)
`

// A volume that the image declares lies on the engine's disk and has no quota.
func TestBytesThatCommandsWriteToAVolumeCount(t *testing.T) {
	t.Parallel()
	engine, host, spec := engineOf(t), dockertest.NewHost(t), newSpec(t)
	spec.Image = withVolume(t, engine, spec, "/cache/deep")
	sandbox := start(t, host, spec)
	err := runUntilOneIsEnded(t, sandbox, "for i in 1 2 3; do head -c 40M /dev/zero >/cache/deep/f$i; done")
	if relabel.CodeOf(err) != relabel.CodeDisk {
		t.Errorf("got %v", err)
	}
	if _, err := sandbox.Fingerprint(t.Context()); relabel.CodeOf(err) != relabel.CodeDisk {
		t.Errorf("the fingerprint: %v", err)
	}
}

// The engine's disk is full then, too: that must not make it the environment's failure.
func TestADiskThatACommandFilledInHidingIsItsDoing(t *testing.T) {
	t.Parallel()
	engine := dockertest.StartEngine(t, dockertest.SmallDisk(t, "700m"))
	spec := newSpec(t)
	spec.Image, spec.Limits.MemoryBytes = engine.Load(), 2<<30 // the engine's disk is in memory
	sandbox := start(t, dockertest.NewHostWith(t, docker.Config{Address: engine.Address()}), spec)
	bash(t, sandbox, "git init -q . && git -c user.name=a -c user.email=a@invalid commit -q --allow-empty -m base; echo new >file")
	if err := sandbox.WriteFile(t.Context(), "/hide.py", fmt.Appendf(nil, hide, 40), 0o644); err != nil {
		t.Fatal(err)
	}
	bash(t, sandbox, "(setsid python3 /hide.py >/dev/shm/out 2>&1 &); for i in $(seq 600); do grep -q full /dev/shm/out && break; sleep 0.1; done; cat /dev/shm/out")
	if _, err := sandbox.Fingerprint(t.Context()); relabel.CodeOf(err) != relabel.CodeDisk {
		t.Errorf("got %v", err)
	}
}

func TestWritesWithinTheDiskLimitContinue(t *testing.T) {
	t.Parallel()
	sandbox := start(t, dockertest.NewHost(t), newSpec(t))
	if got, exit := bash(t, sandbox, `for i in $(seq 20); do head -c 50M /dev/zero >file; rm file; done; echo well`); got != "well" || exit != 0 {
		t.Errorf("%q, exit %d", got, exit)
	}
}

// An agent that is root may replace whatever the image brought: git, its libraries, its loader's
// files. The patch is taken by a copy that was made before.
func TestThePatchIsTakenByAGitThatCommandsCannotReplace(t *testing.T) {
	t.Parallel()
	sandbox := start(t, dockertest.NewHost(t), newSpec(t))
	base, _ := bash(t, sandbox, "git init -q . && git -c user.name=a -c user.email=a@invalid commit -q --allow-empty -m base; git rev-parse HEAD; echo new >file")
	first, err := sandbox.Fingerprint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bash(t, sandbox, `g=$(readlink -f "$(command -v git)"); for l in $(ldd "$g" | sed -n 's/.*=> \(.*libz[^ ]*\|.*libpcre[^ ]*\) .*/\1/p'); do rm -f "$l"; echo broken >"$l"; done
printf '#!/bin/sh\ntouch /hacked\n' >"$g"; chmod 755 "$g"; ln -sf "$g" /usr/local/bin/git; echo /nowhere/evil.so >/etc/ld.so.preload
mkdir -p /etc/xdg/git ~/.config/git; printf '[core]\n\texcludesFile = /all\n[core]\n\tfsmonitor = touch /hacked\n' | tee /etc/gitconfig ~/.gitconfig ~/.config/git/config .git/config >/dev/null; echo '*' >/all`)
	if got, err := sandbox.Fingerprint(t.Context()); err != nil || got != first {
		t.Errorf("fingerprint %s, was %s: %v", got, first, err)
	}
	if p, err := sandbox.Patch(t.Context(), base); err != nil || !strings.Contains(string(p.Diff), "+new") {
		t.Errorf("patch %q, %v", p.Diff, err)
	}
	if got, _ := bash(t, sandbox, "test ! -e /hacked && echo well"); !strings.HasSuffix(got, "well") {
		t.Errorf("what the agent put in its place was run: %q", got)
	}
}
