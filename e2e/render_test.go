package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRenderGivesReasoningUnderTheRequestedNames: a template that reads thinking, as
// that of gpt-oss does, shows a message's reasoning_content unless the alias is refused.
func TestRenderGivesReasoningUnderTheRequestedNames(t *testing.T) {
	t.Parallel()
	p := place{data: t.TempDir()}
	file := filepath.Join(t.TempDir(), "a.jinja")
	noError(t, os.WriteFile(file, []byte("{% for m in messages %}[{{ m.thinking }}|{{ m.reasoning_content }}]{% endfor %}"), 0o644))
	for option, want := range map[string]string{
		"--thinking-alias":    `{"text":"[I look|I look][I guess|I guess]"}`,
		"--no-thinking-alias": `{"text":"[|I look][I guess|]"}`,
	} {
		cmd := exec.CommandContext(bounded(t), relabelProgram(t), "render", "--template", file, option)
		cmd.Env = p.environ(t)
		cmd.Stdin = strings.NewReader(`{"messages": [{"role": "assistant", "reasoning_content": "I look"}, {"role": "assistant", "thinking": "I guess"}]}` + "\n")
		said, err := cmd.CombinedOutput()
		if err != nil || strings.TrimSpace(string(said)) != want {
			t.Errorf("%s: %v: %s, want %s", option, err, said, want)
		}
	}
}
