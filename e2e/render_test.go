package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relabel/cli"
)

func TestRenderAnswersEachLineWithItsTextOrWhyThereIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := "{{ bos_token }}{% for m in messages %}{{ m.role ~ ': ' ~ m.content }}{% if m.content is not defined %}{{ raise_exception('no content') }}{% endif %}{% endfor %}"
	plain, config := filepath.Join(dir, "a.jinja"), filepath.Join(dir, "tokenizer_config.json")
	noError(t, os.WriteFile(plain, []byte(source), 0o644))
	noError(t, os.WriteFile(config, []byte(`{"chat_template": "`+source+`", "bos_token": {"content": "<s>"}, "eos_token": null}`), 0o644))
	in := `{"messages": [{"role": "user", "content": "é\ud800<b>"}], "bos_token": "B"}
{"messages": [{"role": "user", "content": null}]}
nonsense
{"messages": [{"role": "user", "content": "x"}]}`
	for name, want := range map[string]string{
		plain: `{"text":"Buser: é\ud800<b>"}
{"text":"user: None"}
{"error":"line 3: not JSON at byte 0: not a value"}
{"text":"user: x"}
`,
		dir: `{"text":"Buser: é\ud800<b>"}
{"error":"tokenizer_config.json:1:121: no content"}
{"error":"line 3: not JSON at byte 0: not a value"}
{"text":"<s>user: x"}
`,
		config: `{"text":"Buser: é\ud800<b>"}
{"error":"tokenizer_config.json:1:121: no content"}
{"error":"line 3: not JSON at byte 0: not a value"}
{"text":"<s>user: x"}
`,
	} {
		model, err := cli.OpenModel(name)
		noError(t, err)
		var out bytes.Buffer
		if err := cli.RenderLines(model, time.Time{}, strings.NewReader(in), &out); err != cli.ErrSomeFailed {
			t.Errorf("it ended with %v", err)
		}
		if out.String() != want {
			t.Errorf("%s: %s", filepath.Base(name), out.String())
		}
	}
}

// TestRenderGivesReasoningUnderTheNamesThatAreAskedFor: a template that reads thinking, as
// that of gpt-oss does, shows a message's reasoning_content unless the alias is refused.
func TestRenderGivesReasoningUnderTheNamesThatAreAskedFor(t *testing.T) {
	t.Parallel()
	p := place{data: t.TempDir()}
	file := filepath.Join(t.TempDir(), "a.jinja")
	noError(t, os.WriteFile(file, []byte("{% for m in messages %}[{{ m.thinking }}|{{ m.reasoning_content }}]{% endfor %}"), 0o644))
	self, err := os.Executable()
	noError(t, err)
	for option, want := range map[string]string{
		"--thinking-alias":    `{"text":"[I look|I look][I guess|I guess]"}`,
		"--no-thinking-alias": `{"text":"[|I look][I guess|]"}`,
	} {
		cmd := exec.CommandContext(bounded(t), self, "render", "--template", file, option)
		cmd.Env = p.environ(t)
		cmd.Stdin = strings.NewReader(`{"messages": [{"role": "assistant", "reasoning_content": "I look"}, {"role": "assistant", "thinking": "I guess"}]}` + "\n")
		said, err := cmd.CombinedOutput()
		if err != nil || strings.TrimSpace(string(said)) != want {
			t.Errorf("%s: %v: %s, want %s", option, err, said, want)
		}
	}
}
