package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/docker/docker/api/types/build"

	"relabel"
)

const (
	buildTime  = time.Hour // bounds the build of an image
	maxLogTail = 8 << 10   // bytes of a failed build's output in its error
)

// BuildImage builds an image from a context with a Dockerfile, which files writes as a tar file. The build has a
// network. log receives its output. A command that fails is CodeInvalid, with the end of the output.
func (h *Host) BuildImage(ctx context.Context, name string, files func(io.Writer) error, log io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	in, out := io.Pipe()
	go func() { out.CloseWithError(files(out)) }()
	defer in.Close()
	answer, err := h.client.ImageBuild(ctx, in, build.ImageBuildOptions{Tags: []string{name}, Remove: true, ForceRemove: true, Version: build.BuilderV1})
	if err != nil {
		return relabel.Errorf(relabel.CodeInvalid, "the engine at %s cannot build %s: %v", h.Name(), name, err).Because(err)
	}
	defer answer.Body.Close()
	var tail []byte
	for lines := json.NewDecoder(answer.Body); ; {
		var line struct{ Stream, Error string }
		if err := lines.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return failed(ctx, "build "+name, err)
		}
		tail = append(tail, line.Stream+line.Error...)
		tail = tail[max(0, len(tail)-maxLogTail):]
		if _, err := io.WriteString(log, line.Stream); err != nil {
			return err
		}
		if line.Error != "" {
			return relabel.Errorf(relabel.CodeInvalid, "its Dockerfile fails:\n%s", tail).Because(fmt.Errorf("build %s: %s", name, line.Error))
		}
	}
}
