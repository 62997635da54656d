package jinja

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// longConversation is 40 turns of tool use with results of 1 kB.
func longConversation() string {
	call := `{"role": "assistant", "content": "I look at it.", "tool_calls": [{"type": "function", "function": {"name": "execute_bash", "arguments": {"command": "grep -rn 'x' src | head -20", "n": 5}}}]}`
	result := `{"role": "tool", "content": "` + strings.Repeat(`src/a.py:12: x = \"1\"\n`, 45) + `"}`
	var b strings.Builder
	b.WriteString(`{"messages": [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": "Fix it."}`)
	for range 40 {
		b.WriteString(", " + call + ", " + result)
	}
	b.WriteString(`], "add_generation_prompt": true, "tools": [{"type": "function", "function": {"name": "execute_bash", "description": "Run", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}}]}`)
	return b.String()
}

// timing is the duration of a rendering in Python, measured by the reference.
const timing = `
import json, sys, time
import transformers.utils.chat_template_utils as utils
for line in sys.stdin:
    request = json.loads(line)
    template = utils._compile_jinja_template(request["template"])
    variables = json.loads(request["variables"])
    text = template.render(**variables)
    start, n = time.perf_counter(), 0
    while time.perf_counter() - start < 1:
        template.render(**variables)
        n += 1
    print(json.dumps({"seconds": (time.perf_counter() - start) / n, "bytes": len(text.encode())}), flush=True)
`

// BenchmarkRender renders 40 turns of tool use with the templates of three models, in
// this package and in Jinja2.
func BenchmarkRender(b *testing.B) {
	newReference(b)
	python, err := pythonName()
	if err != nil {
		b.Fatal(err)
	}
	tokenizers := folder(b, "RELABEL_TOKENIZERS", "../scripts/tokenizers.sh")
	for _, name := range []string{"qwen2_5", "qwen3", "llama3_2"} {
		source := templatesOf(b, filepath.Join(tokenizers, name, "tokenizer_config.json"))[""]
		b.Run(name, func(b *testing.B) {
			variables := longConversation()
			if name == "llama3_2" { // it takes one call a message, and arguments that can be written as JSON
				variables = strings.Replace(variables, `{"messages"`, `{"tools_in_user_message": false, "bos_token": "<|begin_of_text|>", "messages"`, 1)
			}
			t, err := Parse(name, source)
			if err != nil {
				b.Fatal(err)
			}
			v, _ := DecodeJSON([]byte(variables))
			text, err := t.Render(v.(*Map), moment)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			start := time.Now()
			for b.Loop() {
				if _, err := t.Render(v.(*Map), moment); err != nil {
					b.Fatal(err)
				}
			}
			ourSeconds := time.Since(start).Seconds() / float64(b.N)
			theirs := timePython(b, python, source, variables)
			b.ReportMetric(theirs*1e3, "jinja2-ms")
			b.ReportMetric(theirs/ourSeconds, "times-jinja2")
		})
	}
}

func timePython(b *testing.B, python, source, variables string) float64 {
	b.Helper()
	line, _ := json.Marshal(map[string]string{"template": source, "variables": variables})
	cmd := exec.Command(python, "-c", timing)
	cmd.Stdin = strings.NewReader(string(line) + "\n")
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	var took struct{ Seconds float64 }
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&took); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return took.Seconds
}
