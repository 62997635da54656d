package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/policy/weightstest"
)

// weightsIn writes weights into a folder and describes them.
func weightsIn(t *testing.T, kind relabel.WeightsKind, content string) relabel.LoadedWeights {
	t.Helper()
	folder := t.TempDir()
	files := map[string]string{"adapter_config.json": "{}", "adapter_model.safetensors": content}
	if kind == relabel.WeightsCheckpoint {
		files = map[string]string{"config.json": "{}", "model.safetensors": content}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256([]byte(content))
	return relabel.LoadedWeights{SHA256: hex.EncodeToString(sum[:]), Kind: kind, Path: folder}
}

func TestAnAdapterIsLoadedAtEveryAddressOfBothKindsOfServers(t *testing.T) {
	t.Parallel()
	for kind, model := range map[relabel.ServerKind]string{relabel.ServerVLLM: "relabel-", relabel.ServerSGLang: "base:relabel-"} {
		a, b := weightstest.New(t, "0"), weightstest.New(t, "0")
		p := weightsPolicy(kind, a, b)
		base := take(t, p)
		w := weightsIn(t, relabel.WeightsAdapter, "round 1")
		loaded, err := Load(t.Context(), p, w, Options{})
		if err != nil || loaded.Model != strings.TrimSuffix(model, "relabel-")+w.Name() || !slices.Equal(loaded.New, p.BaseURLs()) {
			t.Fatalf("%s: %+v, %v", kind, loaded, err)
		}
		p.Model = loaded.Model
		now := take(t, p)
		if d := now[0].Distance(now[1]); !now[0].Taken() || d != 0 {
			t.Errorf("%s: the addresses differ by %v: %+v", kind, d, now[0].Reason)
		}
		if d := now[0].Distance(base[0]); d < 0.2 {
			t.Errorf("%s: the adapter changes nothing: distance %v from the base", kind, d)
		}
		if again, err := Load(t.Context(), p, w, Options{}); err != nil || again.Model != loaded.Model || again.New != nil {
			t.Errorf("%s: loaded again %+v, %v", kind, again, err)
		}
		b.Restart()
		if again, err := Load(t.Context(), p, w, Options{}); err != nil || !slices.Equal(again.New, []string{b.Base()}) {
			t.Errorf("%s: after a restart %+v, %v", kind, again, err)
		}
		if found, err := LoadedAdapters(t.Context(), p, Options{}); err != nil || !slices.Equal(found[b.Base()], []string{w.Name()}) {
			t.Errorf("%s: lists %v, %v", kind, found, err)
		}
		if err := UnloadAdapter(t.Context(), p, a.Base(), w.Name(), Options{}); err != nil || len(a.Adapters()) != 0 || len(b.Adapters()) != 1 {
			t.Errorf("%s: unloaded, but %v and %v: %v", kind, a.Adapters(), b.Adapters(), err)
		}
	}
}

func TestALoadThatFailsAtOneAddressIsUndoneAtTheOthers(t *testing.T) {
	t.Parallel()
	for _, kind := range []relabel.ServerKind{relabel.ServerVLLM, relabel.ServerSGLang} {
		a, full := weightstest.New(t, "0"), weightstest.New(t, "0")
		full.Refuse("out of memory")
		p := weightsPolicy(kind, a, full)
		_, err := Load(t.Context(), p, weightsIn(t, relabel.WeightsAdapter, "round 1"), Options{})
		if relabel.CodeOf(err) != relabel.CodeEndpoint || !strings.Contains(err.Error(), full.Base()) || !strings.Contains(err.Error(), "out of memory") || len(a.Adapters()) != 0 {
			t.Errorf("%s: %v; loaded %v", kind, err, a.Adapters())
		}
	}
}

func TestACheckpointTakesThePlaceOfTheModel(t *testing.T) {
	t.Parallel()
	for _, kind := range []relabel.ServerKind{relabel.ServerVLLM, relabel.ServerSGLang} {
		a, b := weightstest.New(t, "0"), weightstest.New(t, "0")
		p := weightsPolicy(kind, a, b)
		before := take(t, p)
		first := weightsIn(t, relabel.WeightsCheckpoint, "round 1")
		loaded, err := Load(t.Context(), p, first, Options{})
		if want := map[relabel.ServerKind]string{relabel.ServerVLLM: "base", relabel.ServerSGLang: first.Path}[kind]; err != nil || loaded.Model != want {
			t.Fatalf("%s: %+v, %v", kind, loaded, err)
		}
		p.Model, p.Weights = loaded.Model, &first
		now := take(t, p)
		if now[0].Distance(now[1]) != 0 || now[0].Distance(before[0]) < 0.2 {
			t.Errorf("%s: distances %v and %v", kind, now[0].Distance(now[1]), now[0].Distance(before[0]))
		}
		if kind == relabel.ServerVLLM && a.Count("/reset_prefix_cache") != 1 {
			t.Errorf("the prefix cache keeps what the old weights computed")
		}
		// The second round fails at one address: the first round's checkpoint is loaded again.
		b.Refuse("no space")
		if _, err := Load(t.Context(), p, weightsIn(t, relabel.WeightsCheckpoint, "round 2"), Options{}); relabel.CodeOf(err) != relabel.CodeEndpoint || !strings.Contains(err.Error(), b.Base()) {
			t.Errorf("%s: %v", kind, err)
		}
		if after := take(t, p); after[0].Distance(now[0]) != 0 {
			t.Errorf("%s: the first address has the weights of round 2", kind)
		}
	}
}

func TestOtherServersCannotLoad(t *testing.T) {
	t.Parallel()
	s := weightstest.New(t, "0")
	w := weightsIn(t, relabel.WeightsAdapter, "1")
	if _, err := Load(t.Context(), weightsPolicy(relabel.ServerLlama, s), w, Options{}); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("%v", err)
	}
	w.Path = "/no/such/folder"
	if _, err := Load(t.Context(), weightsPolicy(relabel.ServerVLLM, s), w, Options{}); relabel.CodeOf(err) != relabel.CodeEndpoint || !strings.Contains(err.Error(), "/no/such/folder") {
		t.Errorf("a folder that the server does not have: %v", err)
	}
}

func TestAnAdapterThatAServerLostIsLoadedAgain(t *testing.T) {
	t.Parallel()
	for _, kind := range []relabel.ServerKind{relabel.ServerVLLM, relabel.ServerSGLang} {
		a, b := weightstest.New(t, "0"), weightstest.New(t, "0")
		p := weightsPolicy(kind, a, b)
		w := weightsIn(t, relabel.WeightsAdapter, "round 1")
		loaded, err := Load(t.Context(), p, w, Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.Model, p.Weights = loaded.Model, &w
		before := take(t, p)
		a.Restart()
		if after := take(t, p); !after[0].Taken() || after[0].Distance(before[0]) != 0 || !slices.Equal(a.Adapters(), []string{w.Name()}) {
			t.Errorf("%s: %+v", kind, after[0].Reason)
		}
		a.Restart()
		p.Weights = nil // an adapter of somebody else's
		if after := take(t, p); after[0].Taken() || len(a.Adapters()) != 0 {
			t.Errorf("%s: an adapter that relabel did not load was loaded", kind)
		}
	}
}
