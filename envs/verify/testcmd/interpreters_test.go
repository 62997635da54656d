package testcmd

import (
	"slices"
	"testing"
)

// The image's own python3 says nothing of the environment that the tests run in.
func TestTheActivatedEnvironmentIsAskedBeforeWhatIsFoundByName(t *testing.T) {
	testbed := []string{"/opt/miniconda3/envs/testbed/bin/python", "/opt/conda/envs/testbed/bin/python", "/root/miniconda3/envs/testbed/bin/python"}
	for command, want := range map[string][]string{
		"python3 -m pytest tests":                        slices.Concat(testbed, []string{"python3", "python3", "python"}),
		"source /opt/miniconda3/bin/activate && pytest":  slices.Concat(testbed, []string{"/opt/miniconda3/bin/python", "python3", "python"}),
		". venv/bin/activate; python -m pytest":          slices.Concat([]string{"./venv/bin/python"}, testbed, []string{"python", "python3", "python"}),
		"/usr/local/bin/python3.9 -m pytest":             slices.Concat([]string{"/usr/local/bin/python3.9"}, testbed, []string{"python3", "python"}),
		"uv run pytest tests; ../other/bin/pytest tests": slices.Concat([]string{"./.venv/bin/python", "./../other/bin/python"}, testbed, []string{"python3", "python"}),
	} {
		if got := Interpreters(command); !slices.Equal(got, want) {
			t.Errorf("%s: %q", command, got)
		}
	}
}
