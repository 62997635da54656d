package docker_test

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/envstest"
)

// Docker 20.10 that was killed while it removed a container lists it as dead after its next start,
// and answers "No such container" to every call for it, also to its removal.
func TestAContainerThatTheEngineListsAndDoesNotKnowIsNotLeftBehind(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	engine := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/containers/json"):
			fmt.Fprint(w, `[{"Id":"ghost","Names":["/relabel-x-1-rollout"],"State":"dead","Labels":{"relabel.instance":"test","relabel.attempt":"1"}}]`)
		case strings.HasSuffix(r.URL.Path, "/volumes"):
			fmt.Fprint(w, `{"Volumes":[]}`)
		case strings.HasSuffix(r.URL.Path, "/networks"):
			fmt.Fprint(w, `[]`)
		default:
			http.Error(w, `{"message":"No such container: ghost"}`, http.StatusNotFound)
		}
	})}
	served := make(chan error, 1)
	go func() { served <- engine.Serve(listener) }()
	defer func() {
		engine.Close()
		<-served
	}()
	host, err := docker.NewHost(docker.Config{Address: "unix://" + listener.Addr().String(), Instance: "test", Sandboxd: envstest.Sandboxd(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	seen := 0
	removed, err := host.Reap(t.Context(), func(envs.Labels) bool { seen++; return false })
	if err != nil || removed != nil || seen != 0 {
		t.Errorf("removed %v, asked for %d: %v", removed, seen, err)
	}
}
