package docker_test

import (
	"strings"
	"testing"

	"relabel"
	"relabel/envs"
	"relabel/envs/docker/dockertest"
)

// What is written is measured from inside, whatever the engine's file system can bound.
func TestCommandsThatWriteTooMuchAreEnded(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"at once":            `for i in 1 2 3; do fallocate -l 60M f$i; done; sync`,
		"while it runs":      `i=0; while :; do i=$((i+1)); head -c 10M /dev/zero >/var/f$i; done`,
		"beside the command": `(setsid bash -c 'i=0; while :; do i=$((i+1)); head -c 10M /dev/zero >/var/f$i; done' &); sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sandbox := start(t, dockertest.NewHost(t), newSpec(t))
			base, _ := bash(t, sandbox, "git init -q . && git -c user.name=a -c user.email=a@invalid commit -q --allow-empty -m base; git rev-parse HEAD; echo new >file")
			_, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"bash", "-c", script}})
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

func TestWhatStaysWithinTheDiskLimitGoesOn(t *testing.T) {
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
