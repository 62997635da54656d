package server

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/google/uuid"

	"relabel"
	"relabel/api"
)

func (s *site) addPolicies() {
	add(s, operation(http.MethodPost, "/v1/policies", "policies", "create-policy", "Create a policy or a new version of it",
		"Stores a chat-completions endpoint as the next version of its name. If the definition equals the newest version, that version is returned."), s.createPolicy)
	add(s, operation(http.MethodGet, "/v1/policies", "policies", "list-policies", "List policies", "All versions of all policies, newest first."), s.listPolicies)
	add(s, operation(http.MethodGet, "/v1/policies/{policy}", "policies", "show-policy", "Show a policy", "One version of a policy."), s.showPolicy)
	add(s, operation(http.MethodGet, "/v1/policies/{policy}/models", "policies", "list-policy-models", "List the models that answered for a policy",
		"By address, in the order of first appearance. Several at one address mean that the model behind it changed."), s.listModels)
	add(s, operation(http.MethodGet, "/v1/policies/{policy}/training", "policies", "show-policy-training", "Show what trained a policy",
		"The exports that a policy version was trained on, those of the version that its training started from, and so on, with the sums of trajectories × epochs (effective samples) and of labelled states × epochs (effective labels)."), s.showTraining)
}

func (s *site) createPolicy(ctx context.Context, in *of[api.NewPolicy]) (*of[relabel.Policy], error) {
	b := in.Body
	sampling := b.Sampling.Over(relabel.PaperSampling).Pinned(b.Server)
	if err := compactValues(sampling.ChatTemplateKwargs); err != nil {
		return nil, err
	}
	p := relabel.Policy{ID: relabel.NewID(), Name: b.Name, BaseURL: b.BaseURL, Replicas: b.Replicas, Model: b.Model, Server: b.Server,
		ToolFormat: b.ToolFormat, Secret: b.Secret, Sampling: sampling, Limits: b.Limits.Over(relabel.DefaultPolicyLimits), Price: b.Price.Price(),
		Tokenizer: b.Tokenizer, ChatTemplate: b.ChatTemplate, TemplateText: b.TemplateText}
	if b.CacheMarkers != "none" {
		p.CacheMarkers = relabel.CacheMarkers(b.CacheMarkers)
	}
	if _, err := uuid.Parse(p.Name); err == nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "a name that is a UUID would be taken for an id").On("name")
	}
	if err := p.ValidateNew(); err != nil {
		return nil, err
	}
	for i, address := range p.BaseURLs() {
		if err := s.checkAddress(address, relabel.BaseURLField(i)); err != nil {
			return nil, err
		}
	}
	if err := s.resolveTokenizer(ctx, &p); err != nil {
		return nil, err
	}
	if err := s.addTraining(ctx, &p, b); err != nil {
		return nil, err
	}
	if err := s.keepWeights(ctx, &p); err != nil {
		return nil, err
	}
	return one(s.Store.CreatePolicy(ctx, p))
}

// keepWeights sets the adapter of a new version whose model is the one that was loaded for the newest version: the
// name of an adapter stands for its content.
func (s *site) keepWeights(ctx context.Context, p *relabel.Policy) error {
	newest, err := s.Store.FindPolicyByName(ctx, p.Name)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		return nil
	}
	if w := newest.Weights; err == nil && w != nil && w.Kind == relabel.WeightsAdapter && newest.Model == p.Model {
		p.Weights = w
	}
	return err
}

// compactValues removes the blanks between the values of an object, so that equal objects have equal
// bytes.
func compactValues(object map[string]json.RawMessage) error {
	for name, text := range object {
		compact, err := json.Marshal(text)
		if err != nil {
			return relabel.Errorf(relabel.CodeInvalid, "is not JSON").On("sampling.chat_template_kwargs." + name).Because(err)
		}
		object[name] = compact
	}
	return nil
}

func (s *site) listPolicies(ctx context.Context, in *api.PageQuery) (*of[api.Page[relabel.Policy]], error) {
	return pageOf(s.Store.ListPolicies(ctx, page(*in)))
}

func (s *site) showPolicy(ctx context.Context, in *struct {
	Policy string `path:"policy" maxLength:"200" doc:"Its id, its name (then the newest version), or name@version."`
}) (*of[relabel.Policy], error) {
	return one(s.findPolicy(ctx, in.Policy))
}

func (s *site) listModels(ctx context.Context, in *struct {
	Policy string `path:"policy" maxLength:"200" doc:"Its id, its name (then the newest version), or name@version."`
	api.PageQuery
}) (*of[api.Page[relabel.ModelSeen]], error) {
	p, err := s.findPolicy(ctx, in.Policy)
	if err != nil {
		return nil, err
	}
	seen, err := s.Store.ListModels(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	return pageOf(cut(seen, in.PageQuery, func(m relabel.ModelSeen) string {
		return uuid.NewSHA1(m.PolicyID, []byte(m.BaseURL+"\n"+m.Model+"\n"+m.Fingerprint)).String()
	}))
}

// findPolicy finds a policy by id, by name or by name@version.
func (s *site) findPolicy(ctx context.Context, word string) (relabel.Policy, error) {
	if id, err := uuid.Parse(word); err == nil {
		return s.Store.FindPolicy(ctx, id)
	}
	return s.Store.FindPolicyByName(ctx, word)
}
