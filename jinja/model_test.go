package jinja

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relabel/modelfiles"
)

// A tokenizer_config.json renders like AutoTokenizer's apply_chat_template, including special tokens,
// several templates and entries that are null.
func TestATokenizersConfigRendersAsItsApplyChatTemplate(t *testing.T) {
	newReference(t)
	python, err := pythonName()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/applied.py")
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "HF_HUB_OFFLINE=1", "TRANSFORMERS_VERBOSITY=error", "PYTHONDONTWRITEBYTECODE=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	replies := bufio.NewReaderSize(out, 1<<20)
	tokenizers := folder(t, "RELABEL_TOKENIZERS", "../scripts/tokenizers.sh")
	rendered := 0
	folders := []string{withTemplateFiles(t, filepath.Join(tokenizers, "qwen2_5"))}
	for _, name := range []string{"qwen1_5", "qwen2_5", "qwen3", "llama3", "llama3_1", "llama3_2", "deepseek_v3", "mistral_nemo", "command_r_plus", "gemma3"} {
		folders = append(folders, filepath.Join(tokenizers, name))
	}
	for k, name := range folders {
		dir, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		model, err := fromFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, variables := range sample(conversations(t), 4, k) {
			if strings.Contains(variables, `_token"`) {
				continue // the tokenizer has them
			}
			line, _ := json.Marshal(map[string]string{"folder": dir, "variables": variables})
			if _, err := in.Write(append(line, '\n')); err != nil {
				t.Fatal(err)
			}
			reply, err := replies.ReadBytes('\n')
			if err != nil {
				t.Fatal(err)
			}
			w, err := DecodeJSON(reply)
			if err != nil {
				t.Fatal(err)
			}
			want, renders := w.(*Map).Get("text")
			v, err := DecodeJSON([]byte(variables))
			if err != nil {
				t.Fatal(err)
			}
			got, err := model.RenderChat(v.(*Map), moment)
			if renders != (err == nil) || renders && got != want {
				t.Errorf("%s\n%s\nours %q %v\nwant %s", name, variables, got, err, reply)
			}
			if renders {
				rendered++
			}
		}
	}
	if in.Close(); rendered < 120 {
		t.Errorf("only %d rendered", rendered)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// withTemplateFiles copies a model's folder and adds templates beside its configuration.
func withTemplateFiles(t *testing.T, model string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(model)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "additional_chat_templates"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"chat_template.jinja": "a file's: ", "additional_chat_templates" + "/tool_use.jinja": "a file's with tools: "} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"{{ messages | tojson }}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTemplateFilesTakePrecedenceOverTheConfiguration(t *testing.T) {
	dir := withTemplateFiles(t, filepath.Join(folder(t, "RELABEL_TOKENIZERS", "../scripts/tokenizers.sh"), "qwen2_5"))
	model, err := fromFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	for variables, want := range map[string]string{`{"messages":[{"role":"user"}]}`: `a file's: [{"role": "user"}]`, `{"messages":[{"role":"user"}],"tools":[{"name":"a"}]}`: `a file's with tools: [{"role": "user"}]`} {
		v, err := DecodeJSON([]byte(variables))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := model.RenderChat(v.(*Map), moment); err != nil || got != want {
			t.Errorf("%s renders to %q (%v), not %q", variables, got, err, want)
		}
	}
}

// fromFolder makes a model of a folder's files.
func fromFolder(dir string) (*Model, error) {
	files, err := modelfiles.ReadFolder(dir)
	if err != nil {
		return nil, err
	}
	return FromFiles(files, "")
}
