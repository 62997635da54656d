package docker_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"relabel"
	"relabel/envs/docker"
	"relabel/envs/docker/dockertest"
	"relabel/envs/envstest"
)

// publish pushes a new image to a registry, under a name without host.
func publish(t *testing.T, r *dockertest.Registry) (name string) {
	t.Helper()
	engine, local := engineOf(t), "relabel/test-pull:"+uuid.NewString()
	loadEmpty(t, engine, local)
	r.Push(local, local)
	if _, err := engine.ImageRemove(t.Context(), local, image.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	return local
}

// forgetImage removes an image after the test.
func forgetImage(t *testing.T, engine *client.Client, name string) {
	t.Cleanup(func() {
		_, err := engine.ImageRemove(context.Background(), name, image.RemoveOptions{Force: true})
		if err != nil && !errdefs.IsNotFound(err) {
			t.Error(err)
		}
	})
}

func isThere(t *testing.T, engine *client.Client, name string) bool {
	t.Helper()
	_, err := engine.ImageInspect(t.Context(), name)
	if err != nil && !errdefs.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

// ledger remembers in memory. Each use is a moment later than the one before.
type ledger struct {
	mu     sync.Mutex
	now    time.Time
	pulled map[string]relabel.PulledImage
}

func (l *ledger) tick() time.Time {
	l.now = l.now.Add(time.Second)
	return l.now
}

func (l *ledger) NotePull(_ context.Context, p relabel.PulledImage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pulled == nil {
		l.pulled = map[string]relabel.PulledImage{}
	}
	p.UsedAt = l.tick()
	l.pulled[p.Image] = p
	return nil
}

func (l *ledger) NoteUse(_ context.Context, _ string, names ...string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		if p, there := l.pulled[name]; there {
			p.UsedAt = l.tick()
			l.pulled[name] = p
		}
	}
	return nil
}

func (l *ledger) ListPulled(context.Context, string) (list []relabel.PulledImage, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.pulled {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b relabel.PulledImage) int { return a.UsedAt.Compare(b.UsedAt) })
	return list, nil
}

func (l *ledger) ForgetPull(_ context.Context, _, name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pulled, name)
	return nil
}

func TestAnImageIsPulledOnceForManyCallersAndRecorded(t *testing.T) {
	t.Parallel()
	registry, engine, noted := dockertest.StartRegistry(t, "", ""), engineOf(t), &ledger{}
	name := registry.Host + "/" + publish(t, registry)
	forgetImage(t, engine, name)
	var log bytes.Buffer
	host := dockertest.NewHostWith(t, docker.Config{Images: docker.Images{Ledger: noted}, Log: zerolog.New(zerolog.SyncWriter(&log))})
	before := registry.Requests.Load()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := host.EnsureImage(t.Context(), name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if asked := registry.Requests.Load() - before; asked == 0 || asked > 8 { // one pull: a ping, a manifest or two, two blobs
		t.Errorf("the registry was asked %d times", asked)
	}
	if list, _ := noted.ListPulled(t.Context(), ""); len(list) != 1 || list[0].Image != name || list[0].Bytes == 0 && list[0].ID == "" {
		t.Errorf("noted: %+v", list)
	}
	if lines := log.String(); strings.Count(lines, "pulling image") != 1 || !strings.Contains(lines, "pulled image") {
		t.Errorf("the log says: %s", lines)
	}
}

func TestCredentialsComeFromAConfigFileAndAreNeverSaid(t *testing.T) {
	t.Parallel()
	const canary = "canary-5d1f"
	registry, engine := dockertest.StartRegistry(t, "someone", canary), engineOf(t)
	name := registry.Host + "/" + publish(t, registry)
	forgetImage(t, engine, name)
	file := filepath.Join(t.TempDir(), "config.json")
	write := func(password string) {
		t.Helper()
		auth := base64.StdEncoding.EncodeToString([]byte("someone:" + password))
		if err := os.WriteFile(file, fmt.Appendf(nil, `{"auths":{%q:{"auth":%q}}}`, registry.Host, auth), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	host := dockertest.NewHostWith(t, docker.Config{Images: docker.Images{Credentials: docker.ConfigCredentials(file)}, Log: zerolog.New(&log)})
	write(canary + "-but-wrong")
	if err := host.EnsureImage(t.Context(), name); relabel.CodeOf(err) != relabel.CodeImageMissing || strings.Contains(err.Error(), canary) {
		t.Errorf("with a wrong password: %v", err)
	}
	write(canary)
	if err := host.EnsureImage(t.Context(), name); err != nil {
		t.Errorf("with the password: %v", err)
	}
	if strings.Contains(log.String(), canary) || strings.Contains(log.String(), base64.StdEncoding.EncodeToString([]byte("someone:"+canary))) {
		t.Errorf("the log gives the password away: %s", log.String())
	}
}

func TestMirrorGivesTheImageUnderTheNameThatTasksKnow(t *testing.T) {
	t.Parallel()
	registry, engine := dockertest.StartRegistry(t, "", ""), engineOf(t)
	bare := publish(t, registry)
	name := "registry.invalid/far/" + bare
	forgetImage(t, engine, name)
	host := dockertest.NewHostWith(t, docker.Config{Images: docker.Images{Mirrors: []docker.Mirror{
		{From: "registry.invalid", To: "127.0.0.1:1"}, {From: "registry.invalid/far", To: registry.Host}, {From: "registry.invalid/fa", To: "127.0.0.1:1"},
	}}})
	if err := host.EnsureImage(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if !isThere(t, engine, name) || isThere(t, engine, registry.Host+"/"+bare) {
		t.Error("the image does not exist under its own name only")
	}
}

func TestAMirrorsNameThatSomebodyElseGaveStays(t *testing.T) {
	t.Parallel()
	registry, engine := dockertest.StartRegistry(t, "", ""), engineOf(t)
	bare := publish(t, registry)
	name, theirs := "registry.invalid/"+bare, registry.Host+"/"+bare
	forgetImage(t, engine, name)
	forgetImage(t, engine, theirs)
	if err := dockertest.NewHost(t).EnsureImage(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	host := dockertest.NewHostWith(t, docker.Config{Images: docker.Images{Mirrors: []docker.Mirror{{From: "registry.invalid", To: registry.Host}}}})
	if err := host.EnsureImage(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	wantImages(t, []string{name, theirs}, true, true)
}

func TestAnUnavailableRegistryIsAnEnvironmentErrorAndAMissingImageIsNot(t *testing.T) {
	t.Parallel()
	var status atomic.Int32
	status.Store(http.StatusServiceUnavailable)
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(int(status.Load())) }))
	defer registry.Close()
	host := dockertest.NewHost(t)
	name := strings.TrimPrefix(registry.URL, "http://") + "/relabel/test-none:1"
	if err := host.EnsureImage(t.Context(), name); relabel.CodeOf(err) != relabel.CodeEnvironment {
		t.Errorf("503: %v", err)
	}
	status.Store(http.StatusNotFound)
	if err := host.EnsureImage(t.Context(), name); relabel.CodeOf(err) != relabel.CodeImageMissing {
		t.Errorf("404: %v", err)
	}
}

func TestAPullWithoutProgressIsCancelledAndTheNextOneStarts(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var first context.Context
	address := hangingAt(t, func(r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/images/create") {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first = r.Context()
			return true
		}
		select { // the proxy hears a little later than the engine's client that it has gone
		case <-first.Done():
		case <-time.After(patience):
			t.Error("two pulls at once")
		}
		return false
	})
	host := dockertest.NewHostWith(t, docker.Config{Address: address, Images: docker.Images{AtOnce: 1}, Times: docker.Times{Stall: 5 * time.Second}})
	errs := make(chan error, 2)
	for i := range 2 {
		go func() { errs <- host.EnsureImage(t.Context(), fmt.Sprintf("127.0.0.1:1/relabel/test-none:%d", i)) }()
	}
	codes := []relabel.Code{relabel.CodeOf(<-errs), relabel.CodeOf(<-errs)}
	if slices.Sort(codes); !slices.Equal(codes, []relabel.Code{relabel.CodeEnvironment, relabel.CodeImageMissing}) {
		t.Errorf("got %v", codes)
	}
}

// arrange pulls three images and uses the first once more.
func arrange(t *testing.T, c docker.Config) (host *docker.Host, names []string) {
	t.Helper()
	registry, engine := dockertest.StartRegistry(t, "", ""), engineOf(t)
	host = dockertest.NewHostWith(t, c)
	for range 3 {
		name := registry.Host + "/" + publish(t, registry)
		forgetImage(t, engine, name)
		names = append(names, name)
		if err := host.EnsureImage(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if err := host.EnsureImage(t.Context(), names[0]); err != nil {
		t.Fatal(err)
	}
	return host, names
}

func wantImages(t *testing.T, names []string, want ...bool) {
	t.Helper()
	for i, name := range names {
		if got := isThere(t, engineOf(t), name); got != want[i] {
			t.Errorf("image %d is there: %v, want %v", i, got, want[i])
		}
	}
}

// pricey makes images as large as the test wants them.
type pricey struct{ ledger }

func (p *pricey) NotePull(ctx context.Context, i relabel.PulledImage) error {
	i.Bytes, i.Layers = 100, nil // they share their layer
	return p.ledger.NotePull(ctx, i)
}

func TestLeastRecentlyUsedImagesThatWerePulledGoFirst(t *testing.T) {
	t.Parallel()
	noted := &pricey{}
	host, names := arrange(t, docker.Config{Images: docker.Images{Ledger: noted, Budget: 200}})
	if err := host.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantImages(t, names, true, false, true)
	if err := host.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantImages(t, names, true, false, true) // 200 are within 200
}

func TestImagesOfOthersInUseOrRenamedStay(t *testing.T) {
	t.Parallel()
	noted := &pricey{}
	host, names := arrange(t, docker.Config{Images: docker.Images{Ledger: noted, Budget: 1}})
	engine := engineOf(t)
	// The first has become another's under its name; another uses the second; the third
	// bears a name of another's, too.
	loadEmpty(t, engine, names[0])
	made := createUnstarted(t, engine, names[1])
	third := "relabel/test-pull:" + uuid.NewString()
	if err := engine.ImageTag(t.Context(), names[2], third); err != nil {
		t.Fatal(err)
	}
	forgetImage(t, engine, third)
	if err := host.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantImages(t, append(names, third), true, true, true, true)
	if list, _ := noted.ListPulled(t.Context(), ""); len(list) != 2 {
		t.Errorf("noted are %+v", list)
	}
	made()
	if err := host.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantImages(t, append(names, third), true, false, true, true)
	wantImages(t, []string{envstest.Image(t)}, true)
}

// createUnstarted makes a container of an image and returns what removes it.
func createUnstarted(t *testing.T, engine *client.Client, image string) (remove func()) {
	t.Helper()
	name, _ := things(t, engine, image, nil)
	return sync.OnceFunc(func() {
		if err := engine.ContainerRemove(context.Background(), name, removal); err != nil {
			t.Error(err)
		}
	})
}

func TestTooLittleDiskSpaceIsSaidAndImagesMakeRoom(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	free := int64(100 << 20)
	disk := func(string) (int64, error) {
		mu.Lock()
		defer mu.Unlock()
		free += 1 << 20 // each look finds a little more
		return free, nil
	}
	host, names := arrange(t, docker.Config{Images: docker.Images{Ledger: &ledger{}}, MinFree: 103 << 20, Free: disk})
	if is, err := host.Look(t.Context()); err != nil || !strings.Contains(is.Full, "101 MiB are free") || is.Free != 101<<20 {
		t.Fatalf("%+v, %v", is, err)
	}
	if err := host.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantImages(t, names, true, false, true) // the second look had enough
	if is, err := host.Look(t.Context()); err != nil || is.Full != "" {
		t.Errorf("%+v, %v", is, err)
	}
}
