package faketest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"relabel"
	"relabel/envs"
	"relabel/envs/faketest"
)

var spec = envs.Spec{Name: "one", Image: "image", Workdir: "/testbed"}

func create(t *testing.T, host *faketest.Host, spec envs.Spec) envs.Sandbox {
	t.Helper()
	sandbox, err := host.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return sandbox
}

func wantEnvironment(t *testing.T, what string, err error) {
	t.Helper()
	if relabel.CodeOf(err) != relabel.CodeEnvironment {
		t.Errorf("%s: got %v, want code %s", what, err, relabel.CodeEnvironment)
	}
}

var echo = envs.Command{Args: []string{"echo", "well"}}

func TestFaultsOfTheEngine(t *testing.T) {
	host := faketest.NewHost(t.TempDir(), "image")
	host.SetFaults(faketest.Faults{EngineDown: true})
	_, err := host.Create(t.Context(), spec)
	wantEnvironment(t, "create on a dead engine", err)
	wantEnvironment(t, "ensure on a dead engine", host.EnsureImage(t.Context(), "image"))
	_, err = host.Reap(t.Context(), func(envs.Labels) bool { return false })
	wantEnvironment(t, "reap on a dead engine", err)

	cause := errors.New("no disk")
	host.SetFaults(faketest.Faults{Create: cause})
	_, err = host.Create(t.Context(), spec)
	wantEnvironment(t, "create", err)
	if !errors.Is(err, cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
	if left := host.Sandboxes(); left != nil {
		t.Errorf("left: %v", left)
	}
}

func TestLostAnswerLeavesASandboxThatIsReapedOrReplaced(t *testing.T) {
	host := faketest.NewHost(t.TempDir(), "image")
	host.SetFaults(faketest.Faults{LoseAnswer: true})
	_, err := host.Create(t.Context(), spec)
	wantEnvironment(t, "create", err)
	if left := host.Sandboxes(); !slices.Equal(left, []string{"one"}) {
		t.Fatalf("left: %v", left)
	}
	host.SetFaults(faketest.Faults{})
	sandbox := create(t, host, spec)
	if _, err := sandbox.Run(t.Context(), echo); err != nil {
		t.Error(err)
	}
	if err := sandbox.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if misuses := host.Misuses(); misuses != nil {
		t.Errorf("misuses: %v", misuses)
	}
	host.SetFaults(faketest.Faults{LoseAnswer: true})
	_, err = host.Create(t.Context(), spec)
	wantEnvironment(t, "create", err)
	if removed, err := host.Reap(t.Context(), func(envs.Labels) bool { return false }); err != nil || !slices.Equal(removed, []string{"one"}) {
		t.Errorf("removed %v, %v", removed, err)
	}
}

func TestFaultsOfASandbox(t *testing.T) {
	host := faketest.NewHost(t.TempDir(), "image")
	sandbox := create(t, host, spec)
	cause := errors.New("disk full")
	host.SetFaults(faketest.Faults{Patch: cause})
	if _, err := sandbox.Patch(t.Context(), ""); relabel.CodeOf(err) != relabel.CodeEnvironment || !errors.Is(err, cause) {
		t.Errorf("patch: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	host.SetFaults(faketest.Faults{Slow: time.Hour})
	if _, err := sandbox.Run(ctx, echo); !errors.Is(err, context.Canceled) {
		t.Errorf("slow: %v", err)
	}
	host.SetFaults(faketest.Faults{DieAfter: 2})
	for range 2 {
		if got, err := sandbox.Run(t.Context(), echo); err != nil || string(got.Output) != "well\n" {
			t.Errorf("before it dies: %q, %v", got.Output, err)
		}
	}
	_, err := sandbox.Run(t.Context(), echo)
	wantEnvironment(t, "after two commands", err)
	_, err = sandbox.Fingerprint(t.Context())
	wantEnvironment(t, "after its death", err)
	if err := sandbox.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestMisuseIsRecorded(t *testing.T) {
	host := faketest.NewHost(t.TempDir(), "image")
	host.Prepare = func(image, workdir string) error {
		return os.WriteFile(filepath.Join(workdir, "from"), []byte(image), 0o600)
	}
	first := create(t, host, spec)
	if got, _, err := first.ReadFile(t.Context(), "/testbed/from", 100); err != nil || string(got) != "image" {
		t.Errorf("%q, %v", got, err)
	}
	second := create(t, host, spec)
	if err := second.Close(t.Context()); err != nil {
		t.Error(err)
	}
	_, err := second.Run(t.Context(), echo)
	wantEnvironment(t, "after close", err)
	open := spec
	open.Name = "open"
	left := create(t, host, open)
	want := []string{"one was created while one of that name was in use", "one was used after it was closed", "open was not closed"}
	if got := host.Misuses(); !slices.Equal(got, want) {
		t.Errorf("misuses: %q", got)
	}
	host.Kill("open")
	_, err = left.Run(t.Context(), echo)
	wantEnvironment(t, "after kill", err)
	if err := left.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
