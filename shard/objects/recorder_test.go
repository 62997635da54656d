package objects

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// recorder is a local server that keeps the requests that it gets, and answers them.
type recorder struct {
	*httptest.Server
	answer func(w http.ResponseWriter, r *http.Request) // nil: 200 without content

	mu       sync.Mutex
	requests []*http.Request // with their bodies
}

// record starts a recorder with TLS or without.
func record(t *testing.T, encrypted bool, answer func(http.ResponseWriter, *http.Request)) *recorder {
	t.Helper()
	r := &recorder{answer: answer}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(r.serve))
	r.Config.ErrorLog = log.New(io.Discard, "", 0) // some clients do not trust it
	if encrypted {
		r.StartTLS()
	} else {
		r.Start()
	}
	t.Cleanup(r.Close)
	return r
}

func (r *recorder) serve(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	q = q.Clone(q.Context()) // the server goes on to use its own
	q.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	r.requests = append(r.requests, q)
	r.mu.Unlock()
	if r.answer != nil {
		r.answer(w, q)
	}
}

// all returns the requests so far.
func (r *recorder) all() []*http.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

// transport connects to the recorder for any host, and trusts it.
func (r *recorder) transport() *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, r.Listener.Addr().String())
		},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the names of its certificate are others
	}
}

// form returns the form that a request posted.
func form(t *testing.T, q *http.Request) url.Values {
	t.Helper()
	body, err := io.ReadAll(q.Body)
	must(t, err)
	q.Body = io.NopCloser(bytes.NewReader(body))
	values, err := url.ParseQuery(string(body))
	must(t, err)
	return values
}

// clean removes all settings of AWS and Azure from the environment of the test, and the files of the user.
func clean(t *testing.T) {
	t.Helper()
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		for _, prefix := range []string{"AWS_", "AZURE_", "IDENTITY_", "MSI_"} {
			if strings.HasPrefix(name, prefix) {
				t.Setenv(name, "")
			}
		}
	}
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "credentials"))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// read reads a file to its end and closes it.
func read(t *testing.T, f *File) []byte {
	t.Helper()
	text, err := io.ReadAll(f)
	must(t, err)
	must(t, f.Close())
	return text
}

// oddNames are names of objects that must be encoded in a URL.
var oddNames = []string{"plain", "with space", "a+b&c=d", "100%25/ü.txt", "(x)'!*~,;:@$", "q?#h", `"quoted"`, "日本/語"}

// bytesOf returns bytes that repeat only after a prime number of them.
func bytesOf(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}
