package dockertest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/registry"
	"github.com/docker/docker/client"
)

// Registry is a registry of a test's own on loopback, Debian's docker-registry.
type Registry struct {
	t    testing.TB
	Host string // host:port
	// User and Password open it; "" where everybody may.
	User, Password string
	// Requests counts what it was asked.
	Requests atomic.Int64
}

// StartRegistry starts a registry for the time of the test. With a user it gives nothing
// out without the password.
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
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	ended, err := startWithUs(cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatalf("a registry: install what tests need with `make test-needs`: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	r := &Registry{t: t, User: user, Password: password}
	r.Host = r.serve(behind)
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

// Push puts an image of the default engine into the registry under a name without host,
// e.g. relabel/test:1, and returns the name with it. The engine keeps no trace of that.
func (r *Registry) Push(from, name string) string {
	r.t.Helper()
	engine, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		r.t.Fatal(err)
	}
	defer engine.Close()
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

// serve puts a proxy before the registry that counts, and asks for the password.
func (r *Registry) serve(behind string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	srv := &http.Server{Handler: r.guard(behind)}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(l) // until it is closed
	}()
	r.t.Cleanup(func() {
		srv.Close()
		<-served
	})
	return l.Addr().String()
}
