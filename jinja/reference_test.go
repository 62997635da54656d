package jinja

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// moment is the fixed time of the reference.
var moment = time.Date(2025, 3, 7, 4, 5, 6, 0, time.UTC)

// reference is Jinja2 under transformers' settings, one process for all tests.
type reference struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

// pythonName returns an interpreter with the packages of testdata/requirements.txt: that in
// RELABEL_TEMPLATE_PYTHON, otherwise that of scripts/python.sh, which creates it once.
func pythonName() (string, error) {
	if name := os.Getenv("RELABEL_TEMPLATE_PYTHON"); name != "" {
		return name, nil
	}
	cmd := exec.Command("../scripts/python.sh", "testdata/requirements.txt")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

var startReference = sync.OnceValues(func() (*reference, error) {
	name, err := pythonName()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, "testdata/reference.py")
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "HF_HUB_OFFLINE=1", "PYTHONDONTWRITEBYTECODE=1", "TRANSFORMERS_VERBOSITY=error", "PYTHONWARNINGS=ignore")
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

// wanted is the reference's result.
type wanted struct {
	text   string
	failed bool
	raised bool
	err    string
}

// render renders a template with the reference.
func (ref *reference) render(t testing.TB, source, variables string, chat bool) wanted {
	t.Helper()
	ref.mu.Lock()
	defer ref.mu.Unlock()
	line, err := json.Marshal(map[string]any{"template": source, "variables": variables, "chat": chat})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ref.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	reply, err := ref.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("the reference ended: %v", err)
	}
	v, err := DecodeJSON(reply)
	if err != nil {
		t.Fatalf("%v: %s", err, reply)
	}
	m := v.(*Map)
	if text, ok := m.Get("text"); ok {
		return wanted{text: text.(string)}
	}
	e, _ := m.Get("error")
	raised, _ := m.Get("raised")
	return wanted{failed: true, raised: raised == true, err: e.(string)}
}

func newReference(t testing.TB) *reference {
	t.Helper()
	ref, err := startReference()
	if err != nil {
		t.Fatalf("no Python with testdata/requirements.txt (RELABEL_TEMPLATE_PYTHON names one): %v", err)
	}
	return ref
}

// ours renders a template with this package.
func ours(source, variables string, chat bool) (string, error) {
	t, err := Parse("template", source)
	if err != nil {
		return "", err
	}
	v, err := DecodeJSON([]byte(variables))
	if err != nil {
		return "", err
	}
	if chat {
		return t.RenderChat(v.(*Map), moment)
	}
	return t.Render(v.(*Map), moment)
}

// difference describes how our result differs from the reference's; "" if it does not. Our refusal of a
// template that the reference renders is a difference, unless mayRefuse is set.
func difference(want wanted, got string, err error, mayRefuse bool) string {
	switch {
	case err == nil && want.failed:
		return "ours renders " + repr(got) + ", Jinja2 fails: " + want.err
	case err != nil && !want.failed && !mayRefuse:
		return "ours fails: " + err.Error() + "; Jinja2 renders " + repr(want.text)
	case err == nil && got != want.text:
		return "ours   " + repr(got) + "\nJinja2 " + repr(want.text)
	case err != nil && want.raised && !strings.HasSuffix(err.Error(), want.err):
		return "ours fails: " + err.Error() + "; Jinja2 raises: " + want.err
	}
	return ""
}
