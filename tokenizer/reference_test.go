package tokenizer

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// script runs a script of the repository and returns the line that it prints.
func script(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join("../scripts", args[0]), args[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", args[0], err)
	}
	return strings.TrimSpace(string(out))
}

var (
	tokenizerFolders sync.Map
)

// tokenizerFile returns the tokenizer.json of a model.
func tokenizerFile(t testing.TB, name string) string {
	t.Helper()
	folder, ok := tokenizerFolders.Load("")
	if !ok {
		folder = script(t, "tokenizers.sh")
		tokenizerFolders.Store("", folder)
	}
	return filepath.Join(folder.(string), name, "tokenizer.json")
}

// open reads a tokenizer.json.
func open(t testing.TB, name string) *Tokenizer {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	tk, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

// reference is a process of Hugging Face's tokenizers.
type reference struct {
	t     testing.TB
	write *json.Encoder
	read  *bufio.Reader
}

// startReference starts one, which knows no tokenizer yet.
func startReference(t testing.TB) *reference {
	t.Helper()
	cmd := exec.Command(script(t, "python.sh", "testdata/requirements.txt"), "testdata/reference.py")
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "HF_HUB_OFFLINE=1", "TOKENIZERS_PARALLELISM=false")
	cmd.Stderr = os.Stderr
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
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the reference: %v", err)
		}
	})
	return &reference{t, json.NewEncoder(in), bufio.NewReader(out)}
}

// ask sends a request and reads the answer into v; it returns the error that the
// reference answers with.
func (r *reference) ask(request map[string]any, v any) error {
	r.t.Helper()
	if err := r.write.Encode(request); err != nil {
		r.t.Fatal(err)
	}
	line, err := r.read.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		r.t.Fatal(err)
	}
	var failed struct{ Error string }
	if json.Unmarshal(line, &failed) == nil && failed.Error != "" {
		return errors.New(failed.Error)
	}
	if err := json.Unmarshal(line, v); err != nil {
		r.t.Fatalf("%v in the answer %.100q", err, line)
	}
	return nil
}

// open has the reference encode and decode by a tokenizer.json from then on.
func (r *reference) open(file string) {
	r.t.Helper()
	if err := r.ask(map[string]any{"open": file}, new([]int)); err != nil {
		r.t.Fatal(err)
	}
}

// encoded is what the reference makes of a text.
type encoded struct {
	ids  []int32
	text string // that they decode to
}

func (e *encoded) UnmarshalJSON(data []byte) error {
	var raw []byte
	if err := json.Unmarshal(data, &[]any{&raw, &e.text}); err != nil {
		return err
	}
	e.ids = make([]int32, len(raw)/4)
	_, err := binary.Decode(raw, binary.NativeEndian, e.ids)
	return err
}

func (r *reference) encode(texts []string) (all []encoded) {
	r.t.Helper()
	if err := r.ask(map[string]any{"encode": texts}, &all); err != nil {
		r.t.Fatal(err)
	}
	return all
}
