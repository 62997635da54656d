package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"relabel"
)

// Loaded is the result of a load.
type Loaded struct {
	Model string // that requests name
	New   []string
}

// Load loads weights into p's servers, at every address, unless they are there already, and returns the name of
// the model. If an address fails, the others lose what they loaded, as far as possible. Errors are CodeInvalid
// for a kind of server that cannot load, and CodeEndpoint with the address.
func Load(ctx context.Context, p relabel.Policy, w relabel.LoadedWeights, o Options) (Loaded, error) {
	l, err := newLoader(p, o)
	if err != nil {
		return Loaded{}, err
	}
	defer l.http.CloseIdleConnections()
	bases := p.BaseURLs()
	models, fresh, failed := make([]string, len(bases)), make([]bool, len(bases)), make([]error, len(bases))
	l.each(bases, func(i int, b *prober) { models[i], fresh[i], failed[i] = l.load(ctx, b, w) })
	var loaded Loaded
	for i, base := range bases {
		if fresh[i] {
			loaded.New = append(loaded.New, base)
		}
	}
	err = errors.Join(failed...)
	if other := slices.IndexFunc(models, func(m string) bool { return m != models[0] }); err == nil && other >= 0 {
		err = l.failed(bases[other], fmt.Sprintf("its base model has another name: the model would be %s, and %s at %s", models[other], models[0], bases[0]))
	}
	if err != nil {
		return Loaded{}, errors.Join(err, l.rollBack(context.WithoutCancel(ctx), w, loaded.New))
	}
	loaded.Model = models[0]
	return loaded, nil
}

// RollBack undoes a load at the addresses where it was new. The error says what could not be undone.
func RollBack(ctx context.Context, p relabel.Policy, w relabel.LoadedWeights, bases []string, o Options) error {
	l, err := newLoader(p, o)
	if err != nil {
		return err
	}
	defer l.http.CloseIdleConnections()
	return l.rollBack(ctx, w, bases)
}

// LoadedAdapters lists the adapters that relabel loaded into p's servers, by address. It leaves out addresses that
// do not answer.
func LoadedAdapters(ctx context.Context, p relabel.Policy, o Options) (map[string][]string, error) {
	l, err := newLoader(p, o)
	if err != nil {
		return nil, err
	}
	defer l.http.CloseIdleConnections()
	found, lists := map[string][]string{}, make([][]servedModel, len(p.BaseURLs()))
	l.each(p.BaseURLs(), func(i int, b *prober) { lists[i], _ = l.models(ctx, b) })
	for i, base := range p.BaseURLs() {
		for _, m := range lists[i] {
			if strings.HasPrefix(m.ID, relabel.LoadedName) {
				found[base] = append(found[base], m.ID)
			}
		}
	}
	return found, nil
}

// UnloadAdapter unloads an adapter from an address of p.
func UnloadAdapter(ctx context.Context, p relabel.Policy, base, name string, o Options) error {
	l, err := newLoader(p, o)
	if err != nil {
		return err
	}
	defer l.http.CloseIdleConnections()
	return l.unload(ctx, l.at(base), name)
}

// loader loads weights into the servers of a policy.
type loader struct {
	policy relabel.Policy
	http   *http.Client
	secret string
}

func newLoader(p relabel.Policy, o Options) (*loader, error) {
	if err := relabel.CheckLoading(p); err != nil {
		return nil, err
	}
	secret, err := o.check(p)
	if err != nil {
		return nil, err
	}
	return &loader{p, withoutRedirects(o, 1), secret}, nil
}

func (l *loader) at(base string) *prober {
	return &prober{policy: at(l.policy, base), http: l.http, secret: l.secret, report: &Report{}}
}

// each does something at all addresses at once.
func (l *loader) each(bases []string, do func(i int, b *prober)) {
	var running sync.WaitGroup
	for i, base := range bases {
		running.Go(func() { do(i, l.at(base)) })
	}
	running.Wait()
}

// servedModel is a model that a server lists.
type servedModel struct {
	ID     string `json:"id"`
	Root   string `json:"root"`
	Parent string `json:"parent"` // of an adapter
}

// models lists what a server serves, the base model first.
func (l *loader) models(ctx context.Context, b *prober) ([]servedModel, error) {
	got := b.send(ctx, http.MethodGet, "/models", nil)
	var w struct {
		Data []servedModel `json:"data"`
	}
	switch {
	case got.status != http.StatusOK:
		return nil, l.failed(b.policy.BaseURL, "it does not list its models: "+got.problem)
	case json.Unmarshal(got.body, &w) != nil || len(w.Data) == 0:
		return nil, l.failed(b.policy.BaseURL, "it lists no models")
	}
	slices.SortStableFunc(w.Data, func(a, b servedModel) int { return len(a.Parent) - len(b.Parent) })
	return w.Data, nil
}

// load loads weights into one server; fresh reports whether it did not have them.
func (l *loader) load(ctx context.Context, b *prober, w relabel.LoadedWeights) (model string, fresh bool, err error) {
	listed, err := l.models(ctx, b)
	if err != nil {
		return "", false, err
	}
	if w.Kind == relabel.WeightsCheckpoint {
		return l.loadCheckpoint(ctx, b, w, listed)
	}
	model = w.Name()
	if l.policy.Server == relabel.ServerSGLang { // a name without its base selects the base
		model = listed[0].ID + ":" + w.Name()
	}
	if slices.ContainsFunc(listed, func(m servedModel) bool { return m.ID == w.Name() }) {
		return model, false, nil
	}
	problem := l.post(ctx, b, l.adapterPath("load"), map[string]any{"lora_name": w.Name(), "lora_path": w.Path})
	if problem == "" {
		return model, true, nil
	}
	if listed, err := l.models(ctx, b); err == nil && slices.ContainsFunc(listed, func(m servedModel) bool { return m.ID == w.Name() }) {
		return model, false, nil // another load was faster, or the answer was lost
	}
	return "", false, l.failed(b.policy.BaseURL, problem)
}

// adapterPath is the path that loads or unloads adapters, beside /v1.
func (l *loader) adapterPath(verb string) string {
	if l.policy.Server == relabel.ServerSGLang {
		return "/" + verb + "_lora_adapter"
	}
	return "/v1/" + verb + "_lora_adapter"
}

// loadCheckpoint replaces all weights of a server.
func (l *loader) loadCheckpoint(ctx context.Context, b *prober, w relabel.LoadedWeights, listed []servedModel) (model string, fresh bool, err error) {
	if l.policy.Server == relabel.ServerSGLang {
		if problem := l.post(ctx, b, "/update_weights_from_disk", map[string]any{"model_path": w.Path, "weight_version": w.Name()}); problem != "" {
			return "", false, l.failed(b.policy.BaseURL, problem)
		}
		if listed, err = l.models(ctx, b); err != nil { // it is named after its folder now
			return "", true, err
		}
		return listed[0].ID, true, nil
	}
	reload := map[string]any{"method": "reload_weights", "kwargs": map[string]any{"weights_path": w.Path}}
	if problem := l.post(ctx, b, "/collective_rpc", reload); problem != "" {
		return "", false, l.failed(b.policy.BaseURL, problem)
	}
	if problem := l.post(ctx, b, "/reset_prefix_cache", nil); problem != "" {
		return "", true, l.failed(b.policy.BaseURL, "it loaded the checkpoint, but kept its prefix cache: "+problem)
	}
	return listed[0].ID, true, nil
}

// post sends a request of the server's own interface and returns the problem of its answer.
func (l *loader) post(ctx context.Context, b *prober, path string, body any) (problem string) {
	text, err := json.Marshal(body)
	if err != nil {
		return err.Error()
	}
	to := *b
	to.policy.BaseURL = besideV1(b.policy.BaseURL)
	got := to.sendOnce(ctx, http.MethodPost, path, text)
	var w struct {
		Success *bool  `json:"success"`
		Message string `json:"message"`
		Error   string `json:"error_message"`
	}
	_ = json.Unmarshal(got.body, &w) // an answer of vLLM to a load is plain text
	switch {
	case w.Success != nil && !*w.Success:
		return scrub(w.Message+w.Error, b.secret)
	case got.status == http.StatusOK:
		return ""
	case got.status == http.StatusNotFound && l.policy.Server == relabel.ServerVLLM && !strings.Contains(string(got.body), "error"):
		return path + " does not exist: start vLLM with " + vllmNeeds(path)
	}
	return got.problem
}

// vllmNeeds is what vLLM needs in its environment and its arguments for a path.
func vllmNeeds(path string) string {
	if strings.HasSuffix(path, "_lora_adapter") {
		return "--enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True"
	}
	return "VLLM_SERVER_DEV_MODE=1"
}

// unload unloads an adapter from one server.
func (l *loader) unload(ctx context.Context, b *prober, name string) error {
	if problem := l.post(ctx, b, l.adapterPath("unload"), map[string]any{"lora_name": name}); problem != "" {
		return l.failed(b.policy.BaseURL, problem)
	}
	return nil
}

// rollBack unloads an adapter, or loads the checkpoint that the policy had before.
func (l *loader) rollBack(ctx context.Context, w relabel.LoadedWeights, bases []string) error {
	before := l.policy.Weights
	if w.Kind == relabel.WeightsCheckpoint && (before == nil || before.Kind != relabel.WeightsCheckpoint) {
		if len(bases) == 0 {
			return nil
		}
		return relabel.Errorf(relabel.CodeEndpoint, "%s have the new checkpoint now, since the folder of the one before is not known: load or restart them", strings.Join(bases, ", "))
	}
	failed := make([]error, len(bases))
	l.each(bases, func(i int, b *prober) {
		if w.Kind == relabel.WeightsAdapter {
			failed[i] = l.unload(ctx, b, w.Name())
			return
		}
		_, _, failed[i] = l.load(ctx, b, *before)
	})
	return errors.Join(failed...)
}

func (l *loader) failed(base, problem string) error {
	return relabel.Errorf(relabel.CodeEndpoint, "the weights are not loaded at %s: %s", base, problem)
}
