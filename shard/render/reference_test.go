package render

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"relabel"
	"relabel/chat"
)

// reference is transformers, one process for all tests.
type reference struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

// pair is what the reference makes of a state and a label.
type pair struct {
	Prompt, Answer []int32
	Error          string
}

var startReference = sync.OnceValues(func() (*reference, error) {
	name := os.Getenv("RELABEL_TEMPLATE_PYTHON")
	if name == "" {
		out, err := output("../../scripts/python.sh", "../../jinja/testdata/requirements.txt")
		if err != nil {
			return nil, err
		}
		name = out
	}
	cmd := exec.Command(name, "testdata/pairs.py")
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "TRANSFORMERS_VERBOSITY=error", "PYTHONWARNINGS=ignore")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &reference{in: in, out: bufio.NewReaderSize(out, 1<<20)}, cmd.Start() // it ends when its input does
})

func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

var tokenizers = sync.OnceValues(func() (string, error) { return output("../../scripts/tokenizers.sh") })

// modelFolder is the folder of a model's tokenizer and template, fetched if it is not
// there.
func modelFolder(t testing.TB, name string) string {
	t.Helper()
	all, err := tokenizers()
	if err != nil {
		t.Fatalf("no tokenizers to test with: %v", err)
	}
	return filepath.Join(all, name)
}

// ask asks the reference.
func (r *reference) ask(t testing.TB, s *Student, folder string, state []relabel.Message, label relabel.Message, tools []relabel.Tool, options string) pair {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	raw := func(b []byte) json.RawMessage { return b }
	line, err := json.Marshal(map[string]any{"folder": folder, "state": raw(chat.AppendMessages(nil, state)), "label": raw(chat.AppendMessage(nil, label)),
		"tools": raw(chat.AppendTools(nil, tools)), "arguments": s.Arguments, "options": raw([]byte(options))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	reply, err := r.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("the reference ended: %v", err)
	}
	var p pair
	if err := json.Unmarshal(reply, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func newReference(t testing.TB) *reference {
	t.Helper()
	r, err := startReference()
	if err != nil {
		t.Fatalf("no Python with transformers: %v", err)
	}
	return r
}
