package scripted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"relabel"
	"relabel/chat"
)

// repository is a git repository in a temporary folder, with the three tools of the
// OpenHands-style scaffold, whose observations are worded as the real ones.
type repository struct {
	t    fataler
	dir  string
	gold string // tree id with the gold patch in place
	task relabel.Task
}

// fataler is *testing.T and *rapid.T.
type fataler interface {
	Fatalf(format string, args ...any)
	Helper()
}

const problem = "The frobnicator drops the last item of every list."

// newRepository commits base, and makes a task whose gold patch leads to gold. A nil
// content in gold deletes the file.
func newRepository(t fataler, dir string, base, gold map[string]*string, diffOptions ...string) *repository {
	t.Helper()
	r := &repository{t: t, dir: dir}
	r.git("init", "-q", "-b", "main")
	r.git("config", "user.email", "base@invalid")
	r.git("config", "user.name", "base")
	r.write(base)
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "base")
	r.write(gold)
	r.git("add", "-A")
	patch := r.git(append([]string{"diff", "--cached", "--no-color"}, diffOptions...)...)
	r.gold = r.git("write-tree")
	r.git("reset", "-q", "--hard")
	r.task = relabel.Task{ProblemStatement: problem, Workdir: dir, Patch: patch, TestCmd: "cat *.py | wc -l"}
	return r
}

func (r *repository) write(files map[string]*string) {
	for name, content := range files {
		path := filepath.Join(r.dir, name)
		if content == nil {
			_ = os.Remove(path)
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(*content), 0o644)); err != nil {
			r.t.Fatalf("%v", err)
		}
	}
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, stderr.String())
	}
	if args[0] == "write-tree" {
		return strings.TrimSpace(string(out))
	}
	return string(out)
}

// tree is the id of the working tree as a submission would take it.
func (r *repository) tree() string {
	r.git("add", "-A")
	id := r.git("write-tree")
	r.git("reset", "-q")
	return id
}

// call runs one tool call and returns its observation.
func (r *repository) call(c relabel.ToolCall) (observed string, finished bool) {
	var a struct {
		Command, Path, OldStr, NewStr, FileText string
		InsertLine                              int
	}
	var raw map[string]any
	if json.Unmarshal([]byte(c.Arguments), &raw) != nil {
		return "The arguments of " + c.Name + " cannot be used, so nothing was run: they are not a JSON object.", false
	}
	for name, to := range map[string]*string{"command": &a.Command, "path": &a.Path, "old_str": &a.OldStr, "new_str": &a.NewStr, "file_text": &a.FileText} {
		*to, _ = raw[name].(string)
	}
	if n, ok := raw["insert_line"].(float64); ok {
		a.InsertLine = int(n)
	}
	switch c.Name {
	case toolFinish:
		return "", true
	case toolBash:
		return r.bash(a.Command), false
	case toolEditor:
		switch a.Command {
		case "view":
			return r.view(a.Path), false
		case "create":
			if _, err := os.Stat(a.Path); err == nil {
				return "The file " + a.Path + " exists already. Change it with str_replace or insert.", false
			}
			r.save(a.Path, a.FileText)
			return "The file " + a.Path + " was created.", false
		case "str_replace":
			return r.replace(a.Path, a.OldStr, a.NewStr), false
		case "insert":
			return r.insert(a.Path, a.InsertLine, a.NewStr), false
		}
	}
	return "There is no tool " + strconv.Quote(c.Name) + ", so nothing was run.", false
}

// maxOutput is smaller than the real one, so that cuts happen.
const maxOutput = 20_000

func (r *repository) bash(command string) string {
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		r.t.Fatalf("bash: %v", err)
	}
	s := strings.ToValidUTF8(string(out), `\xff`)
	if len(s) > maxOutput {
		s = s[:maxOutput/2] + fmt.Sprintf("\n[... %d bytes left out ...]\n", len(s)-maxOutput) + s[len(s)-maxOutput/2:]
	}
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s + fmt.Sprintf("[exit code %d]", code)
}

func (r *repository) view(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "Files and folders in " + path + ", 2 levels deep, without hidden ones:\n"
	}
	return "Lines of " + path + ":\n" + string(data)
}

func (r *repository) save(path, content string) {
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		r.t.Fatalf("%v", err)
	}
}

func (r *repository) replace(path, old, new string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "There is no file " + path + "."
	}
	switch n := strings.Count(string(data), old); {
	case old == "":
		return "old_str is empty."
	case old == new:
		return "old_str and new_str are the same, so there is nothing to change."
	case n != 1:
		return fmt.Sprintf("old_str occurs %d times in %s.", n, path)
	}
	r.save(path, strings.Replace(string(data), old, new, 1))
	return "The file " + path + " was changed. Lines 1 to 2 are now:\n"
}

func (r *repository) insert(path string, n int, text string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "There is no file " + path + "."
	}
	lines := strings.SplitAfter(string(data), "\n")
	if n < 0 || n > len(lines) {
		return "insert_line is not a line of the file."
	}
	r.save(path, strings.Join(lines[:n], "")+text+strings.Join(lines[n:], ""))
	return "The file " + path + " was changed. Lines 1 to 2 are now:\n"
}

// rollout alternates between models, as model selects for turn t from 1, until one finishes.
// It returns the state at the end and the number of turns.
func (r *repository) rollout(s *Server, seed int64, maxTurns int, model func(t int) string) (state []relabel.Message, finished bool) {
	r.t.Helper()
	state = []relabel.Message{{Role: relabel.RoleSystem, Content: "You repair code."},
		{Role: relabel.RoleUser, Content: "There is a repository in " + r.dir + ".\n<issue>\n" + problem + "\n</issue>"}}
	for t := 1; t <= maxTurns; t++ {
		m := r.ask(s, model(t), seed, state).Canonical(t)
		state = append(state, m)
		if len(m.ToolCalls) == 0 {
			state = append(state, relabel.Message{Role: relabel.RoleUser, Content: "Please call a tool."})
		}
		for _, c := range m.ToolCalls {
			observed, done := r.call(c)
			if done {
				return state, true
			}
			state = append(state, relabel.Message{Role: relabel.RoleTool, ToolCallID: c.ID, Content: observed})
		}
	}
	return state, false
}

func (r *repository) ask(s *Server, model string, seed int64, state []relabel.Message) relabel.Message {
	r.t.Helper()
	body := requestBody(model, seed, 0.7, state)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "/v1/chat/completions", bytes.NewReader(body)))
	var got struct {
		Choices []struct{ Message json.RawMessage }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || len(got.Choices) != 1 {
		r.t.Fatalf("HTTP %d: %s", w.Code, w.Body)
	}
	m, err := chat.DecodeMessage(got.Choices[0].Message)
	if err != nil {
		r.t.Fatalf("%v", err)
	}
	return m
}

func requestBody(model string, seed int64, temperature float64, state []relabel.Message) []byte {
	b := chat.AppendString([]byte(`{"model":`), model)
	b = fmt.Appendf(b, `,"seed":%d,"temperature":%v,"messages":`, seed, temperature)
	return append(chat.AppendMessages(b, state), '}')
}

// transcript writes a state for a failed test.
func transcript(state []relabel.Message) string {
	var b strings.Builder
	for _, m := range state[1:] {
		fmt.Fprintf(&b, "--- %s: %.300s\n", m.Role, m.Content)
		for _, c := range m.ToolCalls {
			fmt.Fprintf(&b, "    %s %.300s\n", c.Name, c.Arguments)
		}
	}
	return b.String()
}

func text(s string) *string { return &s }

func lines(format string, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

var _ fataler = (*testing.T)(nil)
