package modelfiles

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
)

func writeFiles(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheHashOfWeightsIsThatOfSha256sum(t *testing.T) {
	folder := t.TempDir()
	writeFiles(t, folder, map[string]string{"adapter_config.json": `{"r":8}`, "adapter_model.safetensors": "weights", "README.md": "#", "training_args.bin": "x",
		"optimizer.pt": "x", "checkpoint-5/adapter_model.safetensors": "old"})
	w, err := HashWeights(t.Context(), folder)
	if err != nil || w.Kind != relabel.WeightsAdapter || len(w.Files) != 2 {
		t.Fatalf("%+v, %v", w, err)
	}
	shell := exec.Command("sh", "-c", "sha256sum adapter_config.json adapter_model.safetensors | sha256sum")
	shell.Dir = folder
	out, err := shell.Output()
	if err != nil || !strings.HasPrefix(string(out), w.SHA256+" ") {
		t.Errorf("sha256sum says %s, not %s: %v", out, w.SHA256, err)
	}
	if err := w.CheckUnchanged(folder); err != nil {
		t.Error(err)
	}
	writeFiles(t, folder, map[string]string{"README.md": "changed", "trainer_state.json": "{}"})
	if again, err := HashWeights(t.Context(), folder); err != nil || again.SHA256 != w.SHA256 {
		t.Errorf("other files change the hash: %v", err)
	}
	writeFiles(t, folder, map[string]string{"adapter_model.safetensors": "weights of the next round"})
	if err := w.CheckUnchanged(folder); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("a change is not found: %v", err)
	}
	if again, err := HashWeights(t.Context(), folder); err != nil || again.SHA256 == w.SHA256 || again.Name() == w.Name() {
		t.Errorf("other weights have the same name: %v", err)
	}
}

func TestAFolderWithoutAModelIsRefused(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"empty":               {},
		"only a tokenizer":    {"tokenizer.json": "{}"},
		"an adapter's config": {"adapter_config.json": "{}"},
		"a model's config":    {"config.json": "{}", "training_args.bin": "x"},
	} {
		folder := t.TempDir()
		writeFiles(t, folder, files)
		if _, err := HashWeights(t.Context(), folder); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "neither an adapter") {
			t.Errorf("%s: %v", name, err)
		}
	}
	folder := t.TempDir()
	writeFiles(t, folder, map[string]string{"config.json": "{}", "model-00001-of-00002.safetensors": "a", "model-00002-of-00002.safetensors": "b", "model.safetensors.index.json": "{}"})
	if w, err := HashWeights(t.Context(), folder); err != nil || w.Kind != relabel.WeightsCheckpoint || len(w.Files) != 4 {
		t.Errorf("%+v, %v", w, err)
	}
}
