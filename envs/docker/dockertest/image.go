package dockertest

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
	// repository names the images of tests, each with a tag of its own; those of some have
	// more behind a dash, and a registry before it.
	repository = "relabel/test"
	// longest is more than any test runs: an image that is older is of a run that was killed.
	longest = 2 * time.Hour
)

var sweep sync.Once

// sweepImages removes the images that killed runs of tests left behind.
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
			// Another run may be at it too, or a container still uses it: the next one sees.
			if _, err := engine.ImageRemove(ctx, tag, image.RemoveOptions{}); err != nil {
				t.Logf("%s is left: %v", tag, err)
			}
		}
	}
}

// Image makes an image that holds what is in dir, a repository as a rule, at workdir on
// top of the base image, and removes it when the test is over.
func Image(t testing.TB, dir, workdir string) string {
	t.Helper()
	name, remove := ImageOfMany(t, dir, workdir)
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	})
	return name
}

// ImageOn makes an image as Image does, on top of another image than the base image. base is
// one of those that scripts/base-image.sh and scripts/runner-images.sh make.
func ImageOn(t testing.TB, base, dir, workdir string) string {
	t.Helper()
	name, remove := imageOn(t, envstest.MadeImage(t, base), dir, workdir)
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	})
	return name
}

// ImageOfMany makes an image as Image does, which the caller removes when all tests that use
// it are over.
func ImageOfMany(t testing.TB, dir, workdir string) (name string, remove func() error) {
	t.Helper()
	return imageOn(t, envstest.Image(t), dir, workdir)
}

func imageOn(t testing.TB, base, dir, workdir string) (name string, remove func() error) {
	t.Helper()
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

// archive packs a folder, as root's, under the path workdir.
func archive(t testing.TB, dir, workdir string) io.Reader {
	t.Helper()
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return pack(w, name, filepath.Join(strings.TrimPrefix(workdir, "/"), strings.TrimPrefix(name, dir)), entry)
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &packed
}

// pack writes one file, folder or link.
func pack(w *tar.Writer, from, to string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	target := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if target, err = os.Readlink(from); err != nil {
			return err
		}
	}
	h, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	h.Name, h.Uid, h.Gid, h.Uname, h.Gname = to, 0, 0, "", ""
	if err := w.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
		return err
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return err
}
