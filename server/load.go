package server

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"relabel"
	"relabel/api"
)

func (s *site) addLoading() {
	add(s, operation(http.MethodPost, "/v1/policies/{policy}/load", "policies", "load-policy-weights", "Load weights into a policy's servers",
		"Loads a LoRA adapter or a checkpoint into vLLM or SGLang at every address of the policy, checks that all have the same weights, and registers the next version of the policy with the loaded model. "+
			"If an address fails, nothing is registered. Then it unloads adapters that relabel loaded earlier and that nothing uses."), s.loadWeights)
}

func (s *site) loadWeights(ctx context.Context, in *struct {
	Policy string `path:"policy" maxLength:"200" doc:"Its id, its name (then the newest version), or name@version."`
	Body   api.NewWeights
}) (*of[api.LoadedPolicy], error) {
	p, err := s.findPolicy(ctx, in.Policy)
	if err != nil {
		return nil, err
	}
	w := relabel.LoadedWeights{SHA256: in.Body.SHA256, Kind: in.Body.Kind, Path: in.Body.Path}
	if err := w.Validate(); err != nil {
		return nil, err
	}
	if err := relabel.CheckLoading(p); err != nil {
		return nil, err
	}
	if s.Weights == nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "this process does not connect to endpoints")
	}
	next, err := s.withWeights(ctx, p, w, in.Body)
	if err != nil {
		return nil, err
	}
	if err := s.mayReplace(ctx, p, w); err != nil {
		return nil, err
	}
	model, fresh, err := s.Weights.Load(ctx, p, w)
	if err != nil {
		return nil, err
	}
	next.Model = model
	made, check, err := s.register(ctx, next)
	if err != nil {
		return nil, undone(err, s.Weights.RollBack(context.WithoutCancel(ctx), p, w, fresh))
	}
	answer := api.LoadedPolicy{Policy: made, Check: check, LoadedAt: orEmpty(fresh)}
	answer.Unloaded, answer.NotUnloaded = s.unloadUnused(ctx, made)
	return one(answer, nil)
}

// withWeights is the next version of a policy, but for the model's name. The same weights again without what trained
// them are the same version.
func (s *site) withWeights(ctx context.Context, p relabel.Policy, w relabel.LoadedWeights, b api.NewWeights) (relabel.Policy, error) {
	next := p
	next.ID = relabel.NewID()
	again := p.Weights != nil && p.Weights.SHA256 == w.SHA256
	if again && len(b.TrainedOn) == 0 && b.TrainedFrom == "" && !b.Untrained {
		return next, nil
	}
	if !again {
		next.Weights = &w
	}
	next.TrainedOn, next.TrainedFrom, next.Untrained = nil, nil, false
	err := s.addTraining(ctx, &next, api.NewPolicy{TrainedOn: b.TrainedOn, TrainedFrom: b.TrainedFrom, Untrained: b.Untrained})
	return next, err
}

// undone is the error of a load that was rolled back, with what could not be.
func undone(err, failed error) error {
	if failed == nil {
		return err
	}
	return relabel.Errorf(relabel.CodeOf(err), "%v; and what was loaded remains: %v", err, failed).Because(err)
}

// mayReplace refuses a checkpoint that would change the model under running iterations.
func (s *site) mayReplace(ctx context.Context, p relabel.Policy, w relabel.LoadedWeights) error {
	if w.Kind != relabel.WeightsCheckpoint {
		return nil
	}
	users, err := s.Store.ListAddressUsers(ctx, p.BaseURLs())
	if err != nil || len(users) == 0 {
		return err
	}
	return relabel.Errorf(relabel.CodeConflict, "running iterations use these servers, and a checkpoint would replace their model: %s; wait for their end, cancel them, or load an adapter", strings.Join(users, ", "))
}

// register checks that all addresses have the same weights and stores the new version with the check.
func (s *site) register(ctx context.Context, next relabel.Policy) (relabel.Policy, relabel.WeightCheck, error) {
	now, err := s.Weights.Fingerprints(ctx, next)
	if err != nil {
		return next, relabel.WeightCheck{}, err
	}
	check := relabel.JudgeWeights(next, now, nil, false)
	check.Occasion = relabel.WeightsAtLoad
	for _, d := range check.Doubts {
		return next, check, relabel.Errorf(relabel.CodeConflict, "the weights were loaded and then unloaded: %s", d.Text)
	}
	made, err := s.Store.CreatePolicy(ctx, next)
	if err != nil {
		return made, check, err
	}
	check.PolicyID = made.ID
	return made, check, s.Store.AddWeightCheck(ctx, check)
}

// unloadUnused unloads the adapters at p's addresses that relabel loaded and that nothing uses.
func (s *site) unloadUnused(ctx context.Context, p relabel.Policy) (unloaded, problems []string) {
	used, err := s.Store.ListLoaded(ctx)
	if err != nil {
		return nil, []string{err.Error()}
	}
	found, err := s.Weights.LoadedAdapters(ctx, p)
	if err != nil {
		return nil, []string{err.Error()}
	}
	for _, base := range p.BaseURLs() {
		for _, name := range found[base] {
			if isUsed, known := used[name]; !known || isUsed {
				continue
			}
			if err := s.Weights.UnloadAdapter(ctx, p, base, name); err != nil {
				problems = append(problems, err.Error())
				continue
			}
			if !slices.Contains(unloaded, name) {
				unloaded = append(unloaded, name)
			}
		}
	}
	return unloaded, problems
}
