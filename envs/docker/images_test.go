package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"

	"relabel/envs/docker/dockertest"
)

// importEmpty makes an image with one empty file in it, for the time of the test.
func importEmpty(t *testing.T, engine *client.Client, name string) {
	t.Helper()
	loadEmpty(t, engine, name)
	t.Cleanup(func() {
		if _, err := engine.ImageRemove(context.Background(), name, image.RemoveOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// loadEmpty makes an image with one empty file in it.
func loadEmpty(t *testing.T, engine *client.Client, name string) {
	t.Helper()
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	if err := w.WriteHeader(&tar.Header{Name: "empty", Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	done, err := engine.ImageImport(t.Context(), image.ImportSource{Source: &content, SourceName: "-"}, name, image.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer done.Close()
	if _, err := io.Copy(io.Discard, done); err != nil {
		t.Fatal(err)
	}
}

// The images of the SWE-bench family keep the package under test in a conda environment.
func TestTestbedOfTheImageIsActivated(t *testing.T) {
	t.Parallel()
	engine := engineOf(t)
	host, spec := dockertest.NewHost(t), newSpec(t)
	base := start(t, host, spec)
	if got, exit := bash(t, base, `mkdir -p /opt/miniconda3/envs/testbed/bin && printf '#!/bin/sh\necho conda\n' >/opt/miniconda3/envs/testbed/bin/python3 && chmod +x /opt/miniconda3/envs/testbed/bin/python3`); exit != 0 {
		t.Fatal(got)
	}
	name := "relabel/test-testbed:" + spec.Labels.Trajectory
	commit(t, engine, base.ID(), name)
	again := newSpec(t)
	again.Image = name
	if got, _ := bash(t, start(t, host, again), `python3; echo $CONDA_DEFAULT_ENV`); got != "conda\ntestbed" {
		t.Errorf("got %q", got)
	}
}

// commit makes an image of a container, for the time of the test.
func commit(t *testing.T, engine *client.Client, id, name string) {
	t.Helper()
	if _, err := engine.ContainerCommit(t.Context(), id, container.CommitOptions{Reference: name}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := engine.ImageRemove(context.Background(), name, image.RemoveOptions{Force: true}); err != nil {
			t.Error(err)
		}
	})
}
