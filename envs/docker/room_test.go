package docker_test

import (
	"archive/tar"
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
	"github.com/google/uuid"

	"relabel"
	"relabel/envs/docker"
	"relabel/envs/docker/dockertest"
)

// publishLayers builds an image as buildImage, and pushes it to a registry. The engine keeps no name of it.
func publishLayers(t *testing.T, r *dockertest.Registry, name string, shared []byte, own int) string {
	t.Helper()
	engine := engineOf(t)
	local := buildImage(t, engine, shared, own)
	full := r.Push(local, name)
	if _, err := engine.ImageRemove(t.Context(), local, image.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	forgetImage(t, engine, full)
	return full
}

// buildImage builds an image on the engine from layers of random bytes of the given sizes, the first of which is
// the same for each seed.
func buildImage(t *testing.T, engine *client.Client, shared []byte, own int) string {
	t.Helper()
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	write := func(name string, data []byte) {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	private := make([]byte, own)
	_, _ = rand.Read(private)
	write("shared", shared)
	write("own", private)
	write("Dockerfile", []byte("FROM scratch\nCOPY shared /shared\nWORKDIR /empty\nCOPY own /own\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := "relabel/test-room:" + uuid.NewString()
	done, err := engine.ImageBuild(t.Context(), &files, build.ImageBuildOptions{Tags: []string{name}, Remove: true})
	if err != nil {
		t.Fatal(err)
	}
	defer done.Body.Close()
	said, err := io.ReadAll(done.Body)
	if err != nil || bytes.Contains(said, []byte(`"error"`)) {
		t.Fatalf("%v %s", err, said)
	}
	forgetImage(t, engine, name)
	return name
}

func random(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.Read(b)
	return b
}

func bytesOf(layers []relabel.Layer) (sum int64) {
	for _, l := range layers {
		sum += l.Bytes
	}
	return sum
}

func TestAnImageIsDescribedOnTheEngineElseInItsRegistry(t *testing.T) {
	t.Parallel()
	registry, engine := dockertest.StartRegistry(t, "me", "secret"), engineOf(t)
	host := dockertest.NewHostWith(t, docker.Config{Images: docker.Images{Credentials: func(string) (docker.Credentials, bool, error) {
		return docker.Credentials{User: "me", Password: "secret"}, true, nil
	}}})
	local := buildImage(t, engine, random(300_000), 70_000)
	facts, err := host.Describe(t.Context(), local)
	if err != nil || facts.State != relabel.ImagePresent || bytesOf(facts.Layers) != 370_000 {
		t.Errorf("a local image: %+v, %v", facts, err)
	}
	remote := registry.Push(local, "team/room:1")
	facts, err = host.Describe(t.Context(), remote)
	if err != nil || facts.State != relabel.ImageAvailable || len(facts.Layers) < 2 || bytesOf(facts.Layers) < 370_000 || bytesOf(facts.Layers) > 400_000 {
		t.Errorf("an image in a registry: %+v, %v", facts, err)
	}
	digest := facts.Digest
	for _, name := range []string{registry.Host + "/team/room:2", registry.Host + "/nobody/room:1", "UPPER/case"} {
		if facts, err = host.Describe(t.Context(), name); err != nil || facts.State != relabel.ImageMissing || facts.Problem == "" {
			t.Errorf("%s: %+v, %v", name, facts, err)
		}
	}
	facts, err = host.Describe(t.Context(), "127.0.0.1:1/team/room:1")
	if err != nil || facts.State != relabel.ImageUnknown || !strings.Contains(facts.Problem, "cannot be asked") {
		t.Errorf("a registry that does not answer: %+v, %v", facts, err)
	}
	stranger := dockertest.NewHost(t)
	if facts, err = stranger.Describe(t.Context(), remote); err != nil || facts.State != relabel.ImageMissing || !strings.Contains(facts.Problem, "denies access") {
		t.Errorf("without credentials: %+v, %v", facts, err)
	}
	forgetImage(t, engine, remote)
	if err := host.EnsureImage(t.Context(), remote); err != nil {
		t.Fatal(err)
	}
	facts, err = host.Describe(t.Context(), remote)
	if err != nil || facts.State != relabel.ImagePresent || facts.Digest != digest || !strings.HasPrefix(digest, "sha256:") {
		t.Errorf("pulled, with the digest %q before: %+v, %v", digest, facts, err)
	}
}

func TestPulledImagesThatShareALayerFitTogetherAndMakeRoomForOthers(t *testing.T) {
	t.Parallel()
	registry, noted := dockertest.StartRegistry(t, "", ""), &ledger{}
	shared := random(400_000)
	var names []string
	for i := range 3 {
		names = append(names, publishLayers(t, registry, fmt.Sprintf("team/shares:%d", i), shared, 50_000))
	}
	large := publishLayers(t, registry, "team/large:1", random(100_000), 100_000)
	// The three take 550,000 bytes together; counted separately they would take 1,350,000.
	host := dockertest.NewHostWith(t, docker.Config{Images: docker.Images{Ledger: noted, Budget: 600_000}})
	for _, name := range names {
		if err := host.EnsureImage(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if err := host.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantImages(t, names, true, true, true)
	// The large one may take 3 × 200,000 bytes: it fits alone, not beside an image that is needed before.
	if fits, err := host.MakeRoom(t.Context(), large, names[:1]); err != nil || fits {
		t.Errorf("beside another it fits: %v, %v", fits, err)
	}
	wantImages(t, names, true, true, true)
	if fits, err := host.MakeRoom(t.Context(), names[2], names[:2]); err != nil || !fits {
		t.Errorf("images that are there fit: %v, %v", fits, err)
	}
}

func TestRoomIsMadeByRemovingTheImagesThatAreNotNeeded(t *testing.T) {
	t.Parallel()
	registry, noted := dockertest.StartRegistry(t, "", ""), &ledger{}
	var names []string
	for i := range 3 {
		names = append(names, publishLayers(t, registry, fmt.Sprintf("team/single:%d", i), random(50_000), 50_000))
	}
	host := dockertest.NewHostWith(t, docker.Config{Images: docker.Images{Ledger: noted, Budget: 450_000}})
	for _, name := range names[:2] {
		if err := host.EnsureImage(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	// The third may take 300,000 bytes, so one of the others must go: the one that is not needed, although it
	// was used last.
	if fits, err := host.MakeRoom(t.Context(), names[2], names[:1]); err != nil || !fits {
		t.Fatalf("fits: %v, %v", fits, err)
	}
	wantImages(t, names[:2], true, false)
}
