package docker_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"relabel"
	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/docker/dockertest"
	"relabel/envs/envstest"
)

// soon are deadlines for engines that hang.
var soon = docker.Times{Ping: 200 * time.Millisecond, Call: 200 * time.Millisecond, Create: 200 * time.Millisecond,
	Start: 5 * time.Second, Remove: 200 * time.Millisecond, Stall: 200 * time.Millisecond}

// deaf is an engine that accepts and never answers.
func deaf(t *testing.T) string {
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	var taken []net.Conn
	go func() {
		defer close(served)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			taken = append(taken, conn)
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		<-served
		for _, conn := range taken {
			conn.Close()
		}
	})
	return "unix://" + listener.Addr().String()
}

// hangingAt is the real engine behind a proxy that never answers the requests that hang selects.
func hangingAt(t *testing.T, hang func(r *http.Request) bool) string {
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	behind := engineOf(t)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(&url.URL{Scheme: "http", Host: "docker"}) },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return behind.Dialer()(ctx)
		}},
	}
	free := make(chan struct{})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hang(r) {
			<-free
			return
		}
		proxy.ServeHTTP(w, r)
	})}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }()
	t.Cleanup(func() {
		close(free)
		srv.Close()
		<-served
	})
	return "unix://" + listener.Addr().String()
}

// await waits until done reports true; it fails the test when that does not come.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not come that %s", what)
		}
	}
}

func wantEngine(t *testing.T, what string, code relabel.Code, err error) {
	t.Helper()
	if relabel.CodeOf(err) != code || !errors.Is(err, envs.ErrEngine) {
		t.Errorf("%s: got %v, want the engine's failure with code %s", what, err, code)
	}
}

// None of these calls has its own deadline.
func TestEngineThatNeverAnswersIsAnErrorOfEachCall(t *testing.T) {
	t.Parallel()
	host, err := docker.NewHost(docker.Config{Address: deaf(t), Instance: "test", Sandboxd: envstest.Sandboxd(t), Times: soon})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	ctx := t.Context()
	wantEngine(t, "ping", relabel.CodeUnavailable, host.Ping(ctx))
	_, err = host.Look(ctx)
	wantEngine(t, "look", relabel.CodeUnavailable, err)
	_, err = host.HasImage(ctx, "image")
	wantEngine(t, "has", relabel.CodeEnvironment, err)
	wantEngine(t, "ensure", relabel.CodeEnvironment, host.EnsureImage(ctx, "image"))
	_, err = host.Create(ctx, newSpec(t))
	wantEngine(t, "create", relabel.CodeEnvironment, err)
	spec := newSpec(t)
	spec.Limits.Runtime = "runsc"
	_, err = host.Create(ctx, spec)
	wantEngine(t, "create with a runtime", relabel.CodeEnvironment, err)
	_, err = host.Reap(ctx, func(envs.Labels) bool { return false })
	wantEngine(t, "reap", relabel.CodeEnvironment, err)
}

func TestEngineThatHangsAtOneCallIsAnErrorOfTheCreation(t *testing.T) {
	t.Parallel()
	for what, path := range map[string]string{"create": "/containers/create", "attach": "/attach", "start": "/start", "inspection of the image": "/json"} {
		t.Run(what, func(t *testing.T) {
			address := hangingAt(t, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, path) })
			instance := "test-" + newSpec(t).Labels.Trajectory
			dockertest.NewHostWith(t, docker.Config{Instance: instance}) // sees that nothing is left behind
			var times docker.Times                                       // long if it does not hang
			switch what {
			case "create":
				times.Create = soon.Create
			case "inspection of the image":
				times.Call, times.Remove = soon.Call, soon.Remove // it looks whether there is something to remove
			default:
				times.Start = soon.Call
			}
			hung, err := docker.NewHost(docker.Config{Address: address, Instance: instance, Sandboxd: envstest.Sandboxd(t), Times: times})
			if err != nil {
				t.Fatal(err)
			}
			defer hung.Close()
			_, err = hung.Create(t.Context(), newSpec(t))
			wantEngine(t, what, relabel.CodeEnvironment, err)
			await(t, "it answers all the same", func() bool {
				_, err := hung.Look(t.Context())
				return err == nil
			})
		})
	}
}

func TestSandboxOnAnEngineThatHangsAtRemovalIsClosedWithAnError(t *testing.T) {
	t.Parallel()
	var stuck atomic.Bool
	address := hangingAt(t, func(r *http.Request) bool { return stuck.Load() && r.Method == http.MethodDelete })
	host := dockertest.NewHostWith(t, docker.Config{Address: address, Times: docker.Times{Remove: time.Second}})
	sandbox := start(t, host, newSpec(t))
	stuck.Store(true)
	wantEngine(t, "close", relabel.CodeEnvironment, sandbox.Close(t.Context()))
	stuck.Store(false)
	await(t, "it is closed again", func() bool { return sandbox.Close(t.Context()) == nil })
}

// A container that is frozen hangs each of its requests; the session finds out by its pings,
// long before the command's own deadline.
func TestASandboxThatIsFrozenFailsAfterItsSilence(t *testing.T) {
	t.Parallel()
	engine := engineOf(t)
	host := dockertest.NewHostWith(t, docker.Config{Silence: 2 * time.Second})
	sandbox := start(t, host, newSpec(t))
	// Linux may fail to freeze a cgroup while the machine is busy.
	await(t, "the engine pauses the container", func() bool {
		return engine.ContainerPause(t.Context(), sandbox.ID()) == nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := sandbox.Run(ctx, envs.Command{Args: []string{"true"}, Timeout: time.Hour})
	if relabel.CodeOf(err) != relabel.CodeEnvironment || ctx.Err() != nil {
		t.Errorf("got %v", err)
	}
	if err := engine.ContainerUnpause(t.Context(), sandbox.ID()); err != nil {
		t.Fatal(err)
	}
}
