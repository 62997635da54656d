package docker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/build"
)

// buildTime bounds the build of a Dockerfile.
const buildTime = time.Hour

// DockerfileSpec describes an image to build from a Dockerfile. The build has a network.
type DockerfileSpec struct {
	Name       string
	Context    func(w io.Writer) error // writes the context of the build as a tar archive
	Dockerfile string                  // path in the context; "" means Dockerfile
	Labels     map[string]string
	Variables  map[string]string // arguments of the build
	Log        io.Writer         // receives the output; nil: nobody
}

// BuildImage builds an image from a Dockerfile. A Dockerfile that fails, or cannot be read, is a *BuildError.
func (h *Host) BuildImage(ctx context.Context, spec DockerfileSpec) error {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	in, out := io.Pipe()
	go func() { out.CloseWithError(spec.Context(out)) }()
	defer in.Close()
	arguments := map[string]*string{}
	for name, value := range spec.Variables {
		arguments[name] = &value
	}
	answer, err := h.client.ImageBuild(ctx, in, build.ImageBuildOptions{
		Tags: []string{spec.Name}, Dockerfile: spec.Dockerfile, Labels: spec.Labels, BuildArgs: arguments,
		Remove: true, ForceRemove: true, Version: build.BuilderV1,
	})
	if errdefs.IsInvalidArgument(err) {
		return &BuildError{Exit: 1, Output: err.Error()}
	}
	if err != nil {
		return failed(ctx, "build "+spec.Name, err)
	}
	defer answer.Body.Close()
	tail := &tailWriter{to: spec.Log}
	for lines := json.NewDecoder(answer.Body); ; {
		var line struct{ Stream, Error string }
		if err := lines.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return failed(ctx, "build "+spec.Name, err)
		}
		if _, err := io.WriteString(tail, line.Stream+line.Error); err != nil {
			return err
		}
		if line.Error != "" {
			return &BuildError{Exit: 1, Output: tail.String()}
		}
	}
}
