package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"relabel/api"
	"relabel/modelfiles"
	"relabel/safetext"
)

// policyLoad is `relabel policy load NAME DIR`.
type policyLoad struct {
	ClientFlags
	trainedFlags
	Name        string `arg:"" help:"Name of the policy, whose addresses and settings the next version has, NAME@VERSION or id."`
	Folder      string `arg:"" type:"existingdir" name:"dir" help:"Folder of the adapter or the checkpoint on this machine."`
	Path        string `placeholder:"DIR" help:"The same folder, as the servers name it. Default: its absolute path on this machine."`
	TrainedFrom string `placeholder:"POLICY" help:"The policy version that this training started from: its id, its name (then the newest version), or name@version."`
	Untrained   bool   `help:"The model is the start of training: no export has trained it."`
}

// Run hashes the folder's files and loads them.
func (c *policyLoad) Run(ctx context.Context) error {
	body := api.NewWeights{TrainedFrom: c.TrainedFrom, Untrained: c.Untrained}
	var err error
	if body.TrainedOn, err = c.trained(); err != nil {
		return err
	}
	folder, err := filepath.Abs(c.Folder)
	if err != nil {
		return err
	}
	weights, err := modelfiles.HashWeights(ctx, folder)
	if err != nil {
		return err
	}
	body.SHA256, body.Kind, body.Path = weights.SHA256, weights.Kind, cmp.Or(c.Path, folder)
	return c.With(ctx, func(cl *Session) error {
		p, err := FindPolicy(ctx, cl, c.Name)
		if err != nil {
			return err
		}
		loaded, err := cl.LoadWeights(ctx, p.ID.String(), body)
		if err != nil {
			return err
		}
		sayLoaded(loaded)
		return weights.CheckUnchanged(folder)
	})
}

// sayLoaded prints what a load did.
func sayLoaded(loaded api.LoadedPolicy) {
	fmt.Printf("%s  %s@%d\n", loaded.ID, loaded.Name, loaded.Version)
	say("%s %s, sha256 %s", loaded.Weights.Kind, loaded.Model, loaded.Weights.SHA256)
	if len(loaded.LoadedAt) == 0 {
		say("it was loaded before at all addresses")
	} else {
		say("loaded at %s", strings.Join(loaded.LoadedAt, ", "))
	}
	say("weights: %s", loaded.Check.Text())
	if len(loaded.Unloaded) > 0 {
		say("unloaded %s, which nothing uses", strings.Join(loaded.Unloaded, ", "))
	}
	for _, problem := range loaded.NotUnloaded {
		fmt.Fprintln(os.Stderr, safetext.TerminalLine("an adapter that nothing uses remains: "+problem))
	}
}
