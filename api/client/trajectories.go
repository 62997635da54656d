package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"relabel"
	"relabel/api"
)

// Trajectories lists the trajectories that fit a filter, which takes the parameters of GET /v1/trajectories.
func (c *Client) Trajectories(ctx context.Context, filter url.Values) ([]relabel.Trajectory, error) {
	return list[relabel.Trajectory](ctx, c, at("trajectories"), filter)
}

// TrajectoryPage returns one page of Trajectories with its counts; filter takes after, before and limit too.
func (c *Client) TrajectoryPage(ctx context.Context, filter url.Values) (relabel.TrajectoryPage, error) {
	return get[relabel.TrajectoryPage](ctx, c, under(at("trajectories"), filter))
}

// SearchTexts looks for a text in what trajectories hold: filter has it as text, and takes what that of TrajectoryPage does. CodeBusy if too many search at once.
func (c *Client) SearchTexts(ctx context.Context, filter url.Values) (relabel.TextPage, error) {
	return get[relabel.TextPage](ctx, c, under(at("trajectories", "search"), filter))
}

// Trajectory returns a trajectory without its turns.
func (c *Client) Trajectory(ctx context.Context, id relabel.ID) (relabel.Trajectory, error) {
	return get[relabel.Trajectory](ctx, c, at("trajectories", id.String()))
}

// Attempts lists a trajectory's attempts in order.
func (c *Client) Attempts(ctx context.Context, id relabel.ID) ([]relabel.Attempt, error) {
	return list[relabel.Attempt](ctx, c, at("trajectories", id.String(), "attempts"), nil)
}

// Calls lists a trajectory's model calls in order.
func (c *Client) Calls(ctx context.Context, id relabel.ID) ([]relabel.Call, error) {
	return list[relabel.Call](ctx, c, at("trajectories", id.String(), "calls"), nil)
}

// Turns returns a page of a trajectory's turns. options takes from, limit and raw.
func (c *Client) Turns(ctx context.Context, id relabel.ID, options url.Values) (api.TurnPage, error) {
	return get[api.TurnPage](ctx, c, under(at("trajectories", id.String(), "turns"), options))
}

// State returns the state of a trajectory at turn n, from 1. options takes raw.
func (c *Client) State(ctx context.Context, id relabel.ID, n int, options url.Values) (api.StateView, error) {
	return get[api.StateView](ctx, c, under(at("trajectories", id.String(), "states", strconv.Itoa(n)), options))
}

// TrajectoryTime says where a trajectory's time went.
func (c *Client) TrajectoryTime(ctx context.Context, id relabel.ID) (relabel.TimeReport, error) {
	return get[relabel.TimeReport](ctx, c, at("trajectories", id.String(), "time"))
}

// Patch returns the submission of a trajectory, byte for byte.
func (c *Client) Patch(ctx context.Context, id relabel.ID) ([]byte, error) {
	return c.read(ctx, at("trajectories", id.String(), "patch"))
}

// Verdict returns a trajectory's verdict with its output. CodeNotFound before there is one.
func (c *Client) Verdict(ctx context.Context, id relabel.ID) (api.VerdictView, error) {
	return get[api.VerdictView](ctx, c, at("trajectories", id.String(), "verdict"))
}

// Verdicts lists a trajectory's verdicts, newest first.
func (c *Client) Verdicts(ctx context.Context, id relabel.ID) (api.Verdicts, error) {
	return get[api.Verdicts](ctx, c, at("trajectories", id.String(), "verdicts"))
}

// Regradings lists a trajectory's regradings, newest first.
func (c *Client) Regradings(ctx context.Context, id relabel.ID) (api.Regradings, error) {
	return get[api.Regradings](ctx, c, at("trajectories", id.String(), "regradings"))
}

// RelabelTrajectory asks another teacher at a trajectory's states.
func (c *Client) RelabelTrajectory(ctx context.Context, id relabel.ID, in api.NewRelabeling) (relabel.Relabeling, error) {
	return post[relabel.Relabeling](ctx, c, at("trajectories", id.String(), "relabel"), in)
}

// ImportTrajectories stores documents of the Agent Trajectory Interchange Format, one per line of content, as a run. options
// takes name, student and teacher.
func (c *Client) ImportTrajectories(ctx context.Context, options url.Values, content io.Reader, size int64) (api.ImportedTrajectories, error) {
	return post[api.ImportedTrajectories](ctx, c, under(at("trajectories", "import"), options), file{"application/x-ndjson", content, size})
}

// ATIF returns a trajectory as a document of the Agent Trajectory Interchange Format. options takes
// prompt_token_ids. The caller closes it; a document that breaks off ends with an error.
func (c *Client) ATIF(ctx context.Context, id relabel.ID, options url.Values) (io.ReadCloser, error) {
	res, err := c.open(ctx, http.MethodGet, under(at("trajectories", id.String(), "atif"), options), file{}, nil)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}
