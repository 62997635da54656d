package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"

	"go.yaml.in/yaml/v2"

	"relabel"
	"relabel/cli"
)

// Each service of compose.yaml runs with the fewest privileges and has a health check.
func TestComposeConfinesItsServices(t *testing.T) {
	raw, err := os.ReadFile("../compose.yaml")
	noError(t, err)
	var file struct {
		Services map[string]struct {
			ReadOnly    bool     `yaml:"read_only"`
			CapDrop     []string `yaml:"cap_drop"`
			CapAdd      []string `yaml:"cap_add"`
			SecurityOpt []string `yaml:"security_opt"`
			Tmpfs       []string `yaml:"tmpfs"`
			Volumes     []string `yaml:"volumes"`
			Healthcheck struct {
				Test []string `yaml:"test"`
			} `yaml:"healthcheck"`
		} `yaml:"services"`
	}
	noError(t, yaml.Unmarshal(raw, &file))
	if len(file.Services) != 3 {
		t.Fatalf("%d services", len(file.Services))
	}
	for name, s := range file.Services {
		if !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") || len(s.Healthcheck.Test) == 0 {
			t.Errorf("%s: %+v", name, s)
		}
		if name != "postgres" && (!s.ReadOnly || len(s.Tmpfs) == 0 || len(s.CapAdd) > 0) {
			t.Errorf("%s can write to its image, or has capabilities: %+v", name, s)
		}
		if socket := slices.Contains(s.Volumes, "${DOCKER_SOCKET:-/var/run/docker.sock}:/var/run/docker.sock"); socket != (name == "worker") {
			t.Errorf("%s has the engine's socket: %v", name, socket)
		}
	}
}

func TestHealthFailsWhereNothingAnswers(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	check := cli.HealthCommand{Address: server.URL}
	noError(t, check.Run(t.Context()))
	status = http.StatusNotFound
	if err := check.Run(t.Context()); relabel.CodeOf(err) != relabel.CodeUnavailable {
		t.Errorf("another server: %v", err)
	}
	server.Close()
	if err := check.Run(t.Context()); relabel.CodeOf(err) != relabel.CodeUnavailable {
		t.Errorf("no server: %v", err)
	}
}
