package docker_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"relabel/envs"
	"relabel/envs/docker/dockertest"
	"relabel/envs/envstest"
)

// TestASandboxTellsWhatCommandsChangedAndEndsThem runs without a working folder of its own: in that of the image,
// which has none, so in /.
func TestASandboxTellsWhatCommandsChangedAndEndsThem(t *testing.T) {
	t.Parallel()
	sandbox, err := dockertest.NewHost(t).Create(t.Context(), envs.Spec{Name: "relabel-test-" + uuid.NewString(), Image: envstest.Image(t),
		Labels: envs.Labels{Purpose: "rollout"}, Limits: envs.Limits{CPUs: 4096}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := sandbox.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	run := func(script string) string {
		t.Helper()
		result, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"bash", "-c", script}, Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(result.Output))
	}
	if folder := run("pwd; echo x >/added; echo x >>/etc/profile; rm /etc/issue; setsid sleep 987 >/dev/null 2>&1 & disown"); folder != "/" {
		t.Errorf("commands start in %q", folder)
	}
	before, err := sandbox.Fingerprint(t.Context())
	if err != nil || before == "" {
		t.Errorf("%q, %v", before, err)
	}
	if err := sandbox.EndCommands(t.Context()); err != nil {
		t.Fatal(err)
	}
	if running := run("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 98[7]'"); running != "0" {
		t.Errorf("%s processes are left", running)
	}
	altered, err := sandbox.Altered(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"/added", "/etc", "/etc/issue", "/etc/profile"} {
		if !slices.Contains(altered, want) {
			t.Errorf("%s is not among %q", want, altered)
		}
	}
}
