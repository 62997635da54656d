package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"relabel"
	"relabel/tasks/harbor"
)

// TasksBuildImages is `relabel tasks build-images SET`. It needs Docker, and no server.
type TasksBuildImages struct {
	DockerFlags
	Set     string   `arg:"" type:"existingpath" help:"Folder, tar file or zip file with task folders of Harbor."`
	Only    []string `placeholder:"INSTANCE" help:"Only the images of these tasks."`
	Again   bool     `help:"Also build images that exist."`
	Verbose bool     `help:"Print the output of the builds."`
}

// BuildImage builds an image on each engine that lacks it, or on each with again, from the context that files writes.
// built is on how many. A failed Dockerfile is CodeInvalid, with the end of its output.
type BuildImage func(ctx context.Context, name string, again bool, files func(io.Writer) error, log io.Writer) (built int, err error)

// Run builds the images one after the other. It continues after a failed one, and fails then.
func (c *TasksBuildImages) Run(ctx context.Context, p *Ports) error {
	set, closeSet, err := openHarbor(c.Set)
	if err != nil {
		return err
	}
	if set == nil {
		return relabel.Errorf(relabel.CodeInvalid, "%s has no task folders of Harbor", c.Set).On("set")
	}
	build, closeDocker, err := p.OpenBuild(ctx, c.DockerFlags)
	if err != nil {
		return errors.Join(err, closeSet())
	}
	return errors.Join(c.build(ctx, set, build), closeDocker(), closeSet())
}

func (c *TasksBuildImages) build(ctx context.Context, set fs.FS, build BuildImage) error {
	folders, err := harbor.Read(set)
	if err != nil {
		return err
	}
	var refused []string
	for _, f := range folders {
		if f.Refused != nil {
			refused = append(refused, f.String())
		}
	}
	warnOf("skipped", refused)
	if folders, err = onlyFolders(folders, c.Only); err != nil {
		return err
	}
	log := io.Discard
	if c.Verbose {
		log = os.Stderr
	}
	failures := 0
	for _, f := range harbor.Images(folders) {
		dir, err := fs.Sub(set, f.Path)
		if err != nil {
			return err
		}
		built, err := build(ctx, f.Task.Image, c.Again, func(w io.Writer) error { return harbor.WriteContext(w, dir) }, log)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			failures++
			fmt.Printf("%s  %s: failed: %s\n", f.Task.Image, f.Task.InstanceID, relabel.Shown(err))
		case built == 0:
			say("%s  %s: exists", f.Task.Image, f.Task.InstanceID)
		default:
			say("%s  %s: built", f.Task.Image, f.Task.InstanceID)
		}
	}
	if failures > 0 {
		return ErrSomeFailed
	}
	return nil
}

// onlyFolders returns the folders of the named tasks. An unknown name is an error.
func onlyFolders(folders []harbor.Folder, names []string) ([]harbor.Folder, error) {
	if len(names) == 0 {
		return folders, nil
	}
	var kept []harbor.Folder
	for _, name := range names {
		f := Find(folders, func(f harbor.Folder) bool { return f.Task.InstanceID == name })
		if f == nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "the set has no instance %q", name).On("--only")
		}
		kept = append(kept, *f)
	}
	return kept, nil
}
