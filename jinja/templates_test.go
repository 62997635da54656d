package jinja

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// flags are additional variables of each conversation.
var flags = []string{
	`{"add_generation_prompt": true}`,
	`{"add_generation_prompt": false}`,
	`{"add_generation_prompt": true, "enable_thinking": false}`,
	`{"add_generation_prompt": true, "enable_thinking": true, "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}`,
	`{"add_generation_prompt": false, "enable_thinking": false, "bos_token": "", "eos_token": "<|im_end|>"}`,
}

// corpus returns the templates to compare: those in testdata, and those of scripts/templates.sh and
// scripts/tokenizers.sh, without duplicates.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	found := map[string]string{}
	seen := map[string]bool{}
	keep := func(name, source string) {
		if !seen[source] {
			seen[source] = true
			found[name] = source
		}
	}
	own, _ := filepath.Glob("testdata/templates/*.jinja")
	fetched, _ := filepath.Glob(filepath.Join(folder(t, "RELABEL_TEMPLATES", "../scripts/templates.sh"), "*", "*.jinja"))
	slices.Sort(fetched)
	for _, name := range append(own, fetched...) {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		keep(filepath.Base(filepath.Dir(name))+"/"+filepath.Base(name), string(raw))
	}
	configs, _ := filepath.Glob(filepath.Join(folder(t, "RELABEL_TOKENIZERS", "../scripts/tokenizers.sh"), "*", "tokenizer_config.json"))
	for _, name := range configs {
		for which, source := range templatesOf(t, name) {
			keep(filepath.Base(filepath.Dir(name))+which, source)
		}
	}
	return found
}

// folder returns the folder that a script prints, or that a variable names.
func folder(t testing.TB, variable, script string) string {
	t.Helper()
	if dir := os.Getenv(variable); dir != "" {
		return dir
	}
	cmd := exec.Command(script)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return strings.TrimSpace(string(out))
}

// templatesOf returns the chat templates of a tokenizer_config.json, one or several.
func templatesOf(t testing.TB, name string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var one struct {
		Template string `json:"chat_template"`
	}
	if json.Unmarshal(raw, &one) == nil {
		if one.Template == "" {
			return nil
		}
		return map[string]string{"": one.Template}
	}
	var many struct {
		Templates []struct{ Name, Template string } `json:"chat_template"`
	}
	if err := json.Unmarshal(raw, &many); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, c := range many.Templates {
		found["/"+c.Name] = c.Template
	}
	return found
}

// conversations returns each conversation of testdata with each of the flags.
func conversations(t testing.TB) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/conversations.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(raw)) {
		for _, f := range flags {
			all = append(all, strings.TrimSuffix(f, "}")+", "+strings.TrimPrefix(strings.TrimSpace(line), "{"))
		}
	}
	return all
}

// sample returns every nth element, starting at the given one; all with RELABEL_TEST_ALL.
func sample[T any](all []T, n, from int) (some []T) {
	if os.Getenv("RELABEL_TEST_ALL") != "" {
		return all
	}
	for i := from % n; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

func TestChatTemplatesRenderAsInTransformers(t *testing.T) {
	ref := newReference(t)
	templates := corpus(t)
	if len(templates) < 100 {
		t.Errorf("only %d templates", len(templates))
	}
	rendered, failed, shown := 0, 0, 0
	for k, name := range slices.Sorted(maps.Keys(templates)) {
		source := templates[name]
		for _, variables := range sample(conversations(t), 6, k) {
			want := ref.render(t, source, variables, true)
			got, err := ours(source, variables, true)
			if d := difference(want, got, err, false); d != "" {
				if shown++; shown < 30 {
					t.Errorf("%s\n%s\n%s", name, variables, d)
				}
			}
			if want.failed {
				failed++
			} else {
				rendered++
			}
		}
	}
	t.Logf("%d templates: %d conversations rendered, %d refused, %d differ", len(templates), rendered, failed, shown)
}
