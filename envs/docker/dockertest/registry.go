package dockertest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/registry"
	"github.com/docker/docker/client"
)

// Registry is Debian's docker-registry on loopback, for one test.
type Registry struct {
	t              testing.TB
	Host           string       // host:port
	User, Password string       // "" if the registry is public
	Requests       atomic.Int64 // number of requests
}

// StartRegistry starts a registry for the duration of the test. With a user it requires the password.
func StartRegistry(t testing.TB, user, password string) *Registry {
	t.Helper()
	dir := t.TempDir()
	behind := freePort(t)
	config := fmt.Sprintf("version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %q}, delete: {enabled: true}}\nhttp: {addr: %q, secret: test}\n", filepath.Join(dir, "data"), behind)
	file := filepath.Join(dir, "config.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("docker-registry", "serve", file)
	ended, err := startWithUs(cmd, syscall.SIGKILL, false)
	if err != nil {
		t.Fatalf("a registry: install what tests need with `make test-needs`: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	r := &Registry{t: t, User: user, Password: password}
	front := httptest.NewServer(r.guard(behind))
	t.Cleanup(front.Close)
	r.Host = front.Listener.Addr().String()
	awaitPort(t, behind, ended)
	return r
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func awaitPort(t testing.TB, address string, ended <-chan struct{}) {
	t.Helper()
	for {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return
		}
		select {
		case <-ended:
			t.Fatal("the registry ended")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Push pushes an image of the default engine under a name without host, e.g. relabel/test:1, and
// returns the name with the host. It does not keep that name on the engine.
func (r *Registry) Push(from, name string) string {
	r.t.Helper()
	engine := newClient(r.t, client.FromEnv)
	ctx, full := context.Background(), r.Host+"/"+name
	if err := engine.ImageTag(ctx, from, full); err != nil {
		r.t.Fatal(err)
	}
	defer func() {
		if _, err := engine.ImageRemove(ctx, full, image.RemoveOptions{}); err != nil {
			r.t.Error(err)
		}
	}()
	auth, err := registry.EncodeAuthConfig(registry.AuthConfig{Username: r.User, Password: r.Password, ServerAddress: r.Host})
	if err != nil {
		r.t.Fatal(err)
	}
	progress, err := engine.ImagePush(ctx, full, image.PushOptions{RegistryAuth: auth})
	if err != nil {
		r.t.Fatal(err)
	}
	defer progress.Close()
	for lines := json.NewDecoder(progress); ; {
		var line struct{ Error string }
		if err := lines.Decode(&line); err == io.EOF {
			return full
		} else if err != nil || line.Error != "" {
			r.t.Fatalf("push %s: %v %s", full, err, line.Error)
		}
	}
}

// guard counts requests, checks the password, and forwards them to the registry behind.
func (r *Registry) guard(behind string) http.Handler {
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(&url.URL{Scheme: "http", Host: behind})
		p.Out.Host = p.In.Host // its answers contain its own address
		p.Out.Header.Del("Authorization")
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.Requests.Add(1)
		user, password, _ := req.BasicAuth()
		if r.User != "" && (user != r.User || password != r.Password) {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`, http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, req)
	})
}
