package dockertest

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
	"github.com/google/uuid"

	"relabel/envs/envstest"
)

const (
	// repository begins the names of test images, which may have a registry and a suffix after a dash.
	repository = "relabel/test"
	// longest is longer than any test runs: an older image belongs to a killed run.
	longest = 2 * time.Hour
)

var sweep sync.Once

// sweepImages removes the images of killed test runs.
func sweepImages(t testing.TB, engine *client.Client) {
	t.Helper()
	ctx := context.Background()
	found, err := engine.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(
		filters.Arg("reference", repository), filters.Arg("reference", repository+"-*"), filters.Arg("reference", "*/"+repository+"-*"))})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range found {
		if time.Since(time.Unix(i.Created, 0)) < longest {
			continue
		}
		for _, tag := range append(i.RepoTags, i.RepoDigests...) {
			// Another run may remove it too, or a container still uses it.
			if _, err := engine.ImageRemove(ctx, tag, image.RemoveOptions{}); err != nil {
				t.Logf("%s is left: %v", tag, err)
			}
		}
	}
}

// Image makes an image with the content of dir, usually a repository, at workdir on top of the base
// image. It is removed with the test.
func Image(t testing.TB, dir, workdir string) string {
	t.Helper()
	return ImageOn(t, "", dir, workdir)
}

// ImageOn makes an image like Image on top of another base, which scripts/base-image.sh or
// scripts/runner-images.sh makes. "" means the base image.
func ImageOn(t testing.TB, base, dir, workdir string) string {
	t.Helper()
	name, remove := makeImage(t, base, dir, workdir)
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	})
	return name
}

// ImageOfMany makes an image like Image for several tests. The caller removes it.
func ImageOfMany(t testing.TB, dir, workdir string) (name string, remove func() error) {
	t.Helper()
	return makeImage(t, "", dir, workdir)
}

func makeImage(t testing.TB, base, dir, workdir string) (name string, remove func() error) {
	t.Helper()
	if base == "" {
		base = envstest.Image(t)
	} else {
		base = envstest.MadeImage(t, base)
	}
	engine, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	sweep.Do(func() { sweepImages(t, engine) })
	ctx := context.Background()
	name = repository + ":" + uuid.NewString()
	made, err := engine.ContainerCreate(ctx, &container.Config{Image: base, Cmd: []string{"true"}}, nil, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := engine.ContainerRemove(ctx, made.ID, container.RemoveOptions{Force: true}); err != nil {
			t.Error(err)
		}
	}()
	if err := engine.CopyToContainer(ctx, made.ID, "/", archive(t, dir, workdir), container.CopyToContainerOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.ContainerCommit(ctx, made.ID, container.CommitOptions{Reference: name}); err != nil {
		t.Fatal(err)
	}
	return name, func() error {
		defer engine.Close()
		_, err := engine.ImageRemove(ctx, name, image.RemoveOptions{Force: true})
		return err
	}
}

// archive packs a folder, owned by root, under the path workdir.
func archive(t testing.TB, dir, workdir string) io.Reader {
	t.Helper()
	packed, err := exec.Command("tar", "--create", "--owner=0", "--group=0", "--numeric-owner", "--directory", dir,
		"--transform", "flags=rhS;s,^\\.,"+strings.Trim(workdir, "/")+",", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(packed)
}
