package client

import (
	"context"
	"net/url"
	"strconv"

	"relabel"
	"relabel/api"
)

// CreateValidation stores the result of a validation of a task.
func (c *Client) CreateValidation(ctx context.Context, taskset relabel.ID, in api.NewValidation) (relabel.Validation, error) {
	return post[relabel.Validation](ctx, c, at("tasksets", taskset.String(), "validations"), in)
}

// ListSoundness lists the tasks of a task set, by its id or its name, with their newest validations.
func (c *Client) ListSoundness(ctx context.Context, taskset string, query api.SoundnessQuery) ([]relabel.TaskSoundness, error) {
	return list[relabel.TaskSoundness](ctx, c, at("tasksets", taskset, "validations"), Values(query))
}

// CountSoundness counts the tasks of a task set at a revision, 0 for the newest.
func (c *Client) CountSoundness(ctx context.Context, taskset string, revision int) (relabel.SoundnessCounts, error) {
	return get[relabel.SoundnessCounts](ctx, c, under(at("tasksets", taskset, "soundness"), Values(api.RevisionQuery{Revision: revision})))
}

// ValidationLog returns the log of a run of a validation.
func (c *Client) ValidationLog(ctx context.Context, id relabel.ID, patch relabel.ValidatedPatch, number int) (string, error) {
	query := url.Values{"patch": {string(patch)}, "number": {strconv.Itoa(number)}}
	log, err := get[api.ValidationLog](ctx, c, under(at("validations", id.String(), "log"), query))
	return log.Log, err
}

// TasksetRevisions lists the revisions of a task set, newest first.
func (c *Client) TasksetRevisions(ctx context.Context, taskset relabel.ID) ([]relabel.TasksetRevision, error) {
	return list[relabel.TasksetRevision](ctx, c, at("tasksets", taskset.String(), "revisions"), nil)
}

// ExcludeTasks excludes tasks of a task set in a new revision.
func (c *Client) ExcludeTasks(ctx context.Context, taskset relabel.ID, tasks []relabel.ExcludedTask) (relabel.Taskset, error) {
	return post[relabel.Taskset](ctx, c, at("tasksets", taskset.String(), "exclude"), api.NewExclusion{Tasks: tasks})
}

// IncludeTasks ends the exclusion of tasks in a new revision.
func (c *Client) IncludeTasks(ctx context.Context, taskset relabel.ID, instances []string) (relabel.Taskset, error) {
	return post[relabel.Taskset](ctx, c, at("tasksets", taskset.String(), "include"), api.NewInclusion{Instances: instances})
}

// DropFlaky drops the flaky tests of tasks in a new revision.
func (c *Client) DropFlaky(ctx context.Context, taskset relabel.ID, instances []string) (relabel.Taskset, error) {
	return post[relabel.Taskset](ctx, c, at("tasksets", taskset.String(), "drop-flaky"), api.DropFlaky{Instances: instances})
}
