package policy

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/chat"
)

const canary = `sk-"canary\9000`

func TestTheSecretIsNeverShown(t *testing.T) {
	t.Setenv("RELABEL_SECRET_TEACHER_KEY", canary)
	quoted := string(chat.AppendString(nil, canary))
	for name, handler := range map[string]http.HandlerFunc{
		"echoed in an error body": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(401)
			fmt.Fprintf(w, `{"error":{"message":%s,"type":"auth"},"headers":"%s"}`, quoted, r.Header.Get("Authorization"))
		},
		"at the cut": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			_, _ = io.WriteString(w, strings.Repeat("x", maxErrorKept-5)+canary)
		},
		"in garbage": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "?"+canary) },
		"in a redirect": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/"+canary)
			w.WriteHeader(302)
		},
		"in a broken header": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 "+canary+"\r\n\r\n")
			_ = conn.Close()
		},
		"in an overflow": say(400, `{"error":{"message":`+quoted+`,"code":"context_length_exceeded"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				sent := ""
				b := open(t, func(w http.ResponseWriter, r *http.Request) { sent = r.Header.Get("Authorization"); handler(w, r) },
					func(p *relabel.Policy) { p.Secret = "teacher-key" })
				_, err := b.Complete(t.Context(), hello())
				call := b.ledger.only(t)
				if sent != "Bearer "+canary {
					t.Errorf("sent %q", sent)
				}
				var e *relabel.Error
				if !errors.As(err, &e) {
					t.Fatal(err)
				}
				shown := fmt.Sprintf("%v %+v %+v %s %s %+v", err, call, *e, call.ErrorBody, e.Message, b.policy)
				for _, part := range []string{"canary", "9000", "sk-"} {
					if strings.Contains(shown, part) {
						t.Errorf("%q shows in %s", part, shown)
					}
				}
			})
		})
	}
}

func TestSecretsAreFoundByName(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("file-key", "from file\n")
	write("both", "from file\n")
	write("empty", "\n")
	write("two-lines", "a\nb\n")
	t.Setenv("RELABEL_SECRET_BOTH", "from environment")
	t.Setenv("RELABEL_SECRET_MY_KEY", "mine")
	s := Secrets{Dir: dir}
	for name, want := range map[string]string{"file-key": "from file", "both": "from environment", "my-key": "mine"} {
		if got, err := s.Find(name); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, told := range map[string]string{
		"absent-key": "RELABEL_SECRET_ABSENT_KEY or write the file " + filepath.Join(dir, "absent-key"),
		"empty":      "is empty", "two-lines": "control character", "": "plain file name", "../both": "plain file name", "a/b": "plain file name", "..": "plain file name",
	} {
		if _, err := s.Find(name); relabel.CodeOf(err) != relabel.CodeSecretMissing || !strings.Contains(err.Error(), told) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := (Secrets{}).Find("absent"); relabel.CodeOf(err) != relabel.CodeSecretMissing || strings.Contains(err.Error(), "file") {
		t.Error(err)
	}
}

func TestAMissingSecretStopsOpeningAndCalling(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "key")
	p := relabel.Policy{Name: "x", BaseURL: "http://127.0.0.1:1/v1", Model: "m", Server: relabel.ServerGeneric, Secret: "key",
		Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits}
	l := &ledger{}
	o := Options{Secrets: Secrets{Dir: dir}, Record: l.record}
	if _, err := Open(p, o); relabel.CodeOf(err) != relabel.CodeSecretMissing {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("v"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(p, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Complete(t.Context(), hello()); relabel.CodeOf(err) != relabel.CodeSecretMissing || l.only(t).Tries != 0 {
		t.Errorf("%v, %+v", err, l.calls)
	}
	p.Model = ""
	if _, err := Open(p, o); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Error(err)
	}
}
