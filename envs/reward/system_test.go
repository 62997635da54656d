package reward

import (
	"slices"
	"testing"
)

func TestFilesOfTheSystemAndItsCoreAreTold(t *testing.T) {
	altered := []string{"/app", "/app/answer.txt", "/etc", "/etc/ld.so.preload", "/home/dev/.bashrc", "/root/.local/bin/uv", "/usr", "/usr/bin", "/usr/bin/jq",
		"/usr/lib/python3/dist-packages/_pytest/runner.py", "/usr/lib/python3/dist-packages/x/__pycache__/a.pyc", "/usr/local/bin", "/usr/local/bin/bash", "/usr/share/doc/x",
		"/usr/lib/x86_64-linux-gnu/libc.so.6", "/tmp/bash", "/conftest.py", "/var/log/x"}
	slices.Sort(altered)
	files, core := alteredSystem(altered, nil)
	wantCore := []string{"/etc/ld.so.preload", "/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/local/bin/bash"}
	if !slices.Equal(core, wantCore) {
		t.Errorf("core: %q", core)
	}
	want := append(slices.Clone(wantCore), "/conftest.py", "/home/dev/.bashrc", "/root/.local/bin/uv", "/usr/bin/jq", "/usr/lib/python3/dist-packages/_pytest/runner.py")
	slices.Sort(want)
	if !slices.Equal(files, want) {
		t.Errorf("files: %q, want %q", files, want)
	}
}

func TestRewardsAreReadAsHarborWritesThem(t *testing.T) {
	for text, want := range map[string]float64{"1\n": 1, " 0.25 ": 0.25, "0": 0} {
		if got, err := parseText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "yes", "NaN", "inf", "1 2"} {
		if got, err := parseText([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	for text, want := range map[string]float64{`{"reward": 0.5, "speed": 3}`: 0.5, `{"accuracy": 0.75}`: 0.75, `1`: 1} {
		if got, err := parseJSON([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{`{"a": 1, "b": 0}`, `{"reward": "1"}`, `[1]`, `{}`, `{"reward": 1e999}`, `{"reward": NaN}`} {
		if got, err := parseJSON([]byte(text)); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}
