package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"relabel/api"
)

func (s *site) addOutcomes() {
	patch := operation(http.MethodGet, "/v1/trajectories/{id}/patch", "trajectories", "show-patch", "Show the submission",
		"The patch of the rollout, byte for byte; empty if it changed nothing.")
	patch.Responses = map[string]*huma.Response{"200": {
		Description: "The patch.",
		Content:     map[string]*huma.MediaType{"text/x-diff": {Schema: &huma.Schema{Type: huma.TypeString, Description: "A git patch against the task's base commit."}}},
	}}
	add(s, patch, s.showPatch)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/verdict", "trajectories", "show-verdict", "Show the verdict",
		"The verifier's result in a fresh container: per test, and the output. 404 before there is one."), s.showVerdict)
}

type patchAnswer struct {
	ContentType string `header:"Content-Type" doc:"text/x-diff"`
	Body        []byte
}

func (s *site) showPatch(ctx context.Context, in *IDPath) (*patchAnswer, error) {
	if _, err := s.Store.FindTrajectory(ctx, in.ID); err != nil {
		return nil, err
	}
	patch, err := s.Store.FindPatch(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &patchAnswer{"text/x-diff", patch}, nil
}

func (s *site) showVerdict(ctx context.Context, in *IDPath) (*of[api.VerdictView], error) {
	v, err := s.Store.FindVerdict(ctx, in.ID)
	return one(api.VerdictView{Verdict: v, Output: strings.ToValidUTF8(string(v.Output), "\uFFFD")}, err)
}
