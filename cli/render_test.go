package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRenderAnswersEachLineWithItsTextOrAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := "{{ bos_token }}{% for m in messages %}{{ m.role ~ ': ' ~ m.content }}{% if m.content is not defined %}{{ raise_exception('no content') }}{% endif %}{% endfor %}"
	plain, config := filepath.Join(dir, "a.jinja"), filepath.Join(dir, "tokenizer_config.json")
	if err := os.WriteFile(plain, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte(`{"chat_template": "`+source+`", "bos_token": {"content": "<s>"}, "eos_token": null}`), 0o644); err != nil {
		t.Fatal(err)
	}
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
		model, err := OpenModel(name)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := RenderLines(model, time.Time{}, strings.NewReader(in), &out); err != ErrSomeFailed {
			t.Errorf("it ended with %v", err)
		}
		if out.String() != want {
			t.Errorf("%s: %s", filepath.Base(name), out.String())
		}
	}
}
