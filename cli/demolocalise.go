package cli

import (
	"bytes"
	"context"
	"fmt"

	"relabel"
	"relabel/api"
	"relabel/localise"
)

// localise begins to roll out tasks to localise the issues of the demo's tasks. It returns nil without mirrors.
func (d *demo) localise(ctx context.Context) (*relabel.Run, []begun, error) {
	if !d.command.Searching() {
		fmt.Println("No issues to localise: they need --repositories DIR, the mirrors that `relabel tasks build --releases` makes.")
		return nil, nil, nil
	}
	made, err := d.makeSearches(ctx)
	if err != nil {
		return nil, nil, err
	}
	if made.Made == 0 {
		say("No issues to localise: %s", made.Dropped[0].Detail)
		return nil, nil, nil
	}
	var file bytes.Buffer
	if err := localise.Write(&file, made.Tasks); err != nil {
		return nil, nil, err
	}
	s := *d
	if s.set, err = d.importFile(ctx, "demo-localise", file.Bytes()); err != nil {
		return nil, nil, err
	}
	run, err := s.run(ctx, "demo-localise", relabel.DAgger, nil)
	if err != nil {
		return nil, nil, err
	}
	rounds, err := s.beginSearches(ctx, run)
	return &run, rounds, err
}

// beginSearches begins the collection, and the evaluation if a task is held out.
func (d *demo) beginSearches(ctx context.Context, run relabel.Run) ([]begun, error) {
	collection, err := d.begin(ctx, run, relabel.Collect, 1, demoSkills[1])
	if err != nil || d.set.HeldOut == 0 {
		return []begun{collection}, err
	}
	evaluation, err := d.begin(ctx, run, relabel.Evaluate, 1, demoSkills[len(demoSkills)-1])
	return []begun{collection, evaluation}, err
}

// makeSearches makes tasks to localise of the demo's tasks: their gold patches are the changes.
func (d *demo) makeSearches(ctx context.Context) (localise.Result, error) {
	mirrors, _, closeMirrors, err := d.openMirrors(d.command.Repositories) // the server has logged which parsers are missing
	if err != nil {
		return localise.Result{}, err
	}
	defer closeMirrors()
	builder := localise.Builder{Repositories: mirrors, Exclude: new(localise.Exclusions)}
	return builder.Build(ctx, localise.FromTasks(d.tasks))
}

// reportLocalised prints the figures of a run with tasks to localise.
func (d *demo) reportLocalised(ctx context.Context, run relabel.Run) error {
	fmt.Println()
	if err := PrintIterations(ctx, d.client, run); err != nil {
		return err
	}
	report, err := d.client.Localisation(ctx, run.ID, api.LocalisationQuery{})
	if err != nil {
		return err
	}
	for _, it := range report.Iterations {
		say("%s %d: successful tool calls: %s", it.Kind, it.Number, proportionText(it.Calls))
	}
	say("Localisation of %s: %s/runs/%s/localisation, or relabel report localise %[1]s", run.Name, d.client.Base, run.ID)
	return nil
}
