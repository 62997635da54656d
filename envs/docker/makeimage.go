package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
)

// ImageSpec describes an image to make: files are copied into a container of another image, and a script
// runs there.
type ImageSpec struct {
	Name    string
	From    string // must exist
	Workdir string
	Files   func(w io.Writer) error // writes a tar archive that is unpacked at /; nil: no files
	// Script is run by bash in Workdir, with network, as root. "": nothing runs, and no container starts.
	Script       string
	Certificates []byte            // PEM, that the script trusts; not kept in the image
	Variables    map[string]string // of the script, not kept in the image
	Environment  map[string]string // of the script and the image
	Labels       map[string]string // of the image and the container
	Timeout      time.Duration     // of the script
	Log          io.Writer         // receives the script's output; nil: nobody
}

// BuildError is a command of an image's build that failed.
type BuildError struct {
	Exit     int
	TimedOut bool
	Output   string // its end
}

// Error tells how the command ended.
func (e *BuildError) Error() string { return fmt.Sprintf("exit %d: %s", e.Exit, e.Output) }

// certificatesPath is where the script finds its certificates, and certificateVariables name it to the
// usual tools.
const certificatesPath = "/tmp/relabel-certificates.pem"

var certificateVariables = []string{
	"SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "npm_config_cafile", "CARGO_HTTP_CAINFO", "GIT_SSL_CAINFO",
}

// Limits of a container in which an image is made.
const (
	makeMemory = 8 << 30
	makePIDs   = 8192
	maxTail    = 8 << 10 // bytes of a failed script's output in the error
)

// MakeImage makes an image and replaces one of the same name. If it fails, it leaves nothing behind. A script
// that fails or does not end is a *BuildError.
func (h *Host) MakeImage(ctx context.Context, spec ImageSpec) (err error) {
	id, err := h.createMaker(ctx, spec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.removeMaker(ctx, id)) }()
	if spec.Files != nil {
		if err := h.copyIn(ctx, id, spec.Files); err != nil {
			return err
		}
	}
	if spec.Script != "" {
		if err := h.runScript(ctx, id, spec); err != nil {
			return err
		}
	}
	return h.commit(ctx, id, spec)
}

// createMaker creates the container. It waits for its end or a script.
func (h *Host) createMaker(ctx context.Context, spec ImageSpec) (id string, err error) {
	call, cancel := context.WithTimeout(ctx, h.times.Create)
	defer cancel()
	pids := int64(makePIDs)
	made, err := h.client.ContainerCreate(call, &container.Config{
		Image: spec.From, Entrypoint: []string{"tail", "-f", "/dev/null"}, User: "0", WorkingDir: "/", Labels: spec.Labels,
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	}, &container.HostConfig{
		LogConfig: container.LogConfig{Type: "none"}, Init: new(true),
		Resources: container.Resources{Memory: makeMemory, MemorySwap: makeMemory, PidsLimit: &pids},
	}, nil, nil, "")
	if err != nil {
		return "", failed(ctx, "create a container of "+spec.From, err)
	}
	return made.ID, nil
}

// removeMaker removes the container, also if ctx ended.
func (h *Host) removeMaker(ctx context.Context, id string) error {
	clean, cancel := h.cleanUpContext(ctx)
	defer cancel()
	if err := h.client.ContainerRemove(clean, id, container.RemoveOptions{Force: true, RemoveVolumes: true}); err != nil {
		return failed(clean, "remove a container", err)
	}
	return nil
}

// copyIn unpacks an archive at / of the container.
func (h *Host) copyIn(ctx context.Context, id string, files func(io.Writer) error) error {
	in, out := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := files(out)
		out.CloseWithError(err)
		written <- err
	}()
	err := h.client.CopyToContainer(ctx, id, "/", in, container.CopyToContainerOptions{})
	in.CloseWithError(errors.New("the engine stopped reading"))
	if wrong := <-written; err == nil && wrong != nil {
		err = wrong
	}
	if err != nil {
		return failed(ctx, "copy files into a container", err)
	}
	return nil
}

// runScript starts the container and runs the script.
func (h *Host) runScript(ctx context.Context, id string, spec ImageSpec) error {
	variables := slices.Concat(pairs(spec.Variables), pairs(spec.Environment))
	script := "cd " + shellQuote(spec.Workdir) + " || exit\n" + spec.Script
	if len(spec.Certificates) > 0 {
		if err := h.copyCertificates(ctx, id, spec.Certificates); err != nil {
			return err
		}
		for _, name := range certificateVariables {
			variables = append(variables, name+"="+certificatesPath)
		}
		script = useTrustStore + script
	}
	if err := h.client.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		return failed(ctx, "start a container of "+spec.From, err)
	}
	limited, cancel := context.WithTimeout(ctx, spec.Timeout)
	defer cancel()
	tail := &tailWriter{to: spec.Log}
	exit, err := h.exec(limited, id, []string{"bash", "-c", script}, variables, tail)
	switch {
	case ctx.Err() == nil && limited.Err() != nil:
		return &BuildError{TimedOut: true, Output: tail.String()}
	case err != nil:
		return failed(ctx, "run a script in a container", err)
	case exit != 0:
		return &BuildError{Exit: exit, Output: tail.String()}
	}
	_, err = h.exec(ctx, id, []string{"rm", "-f", certificatesPath, trustStorePath}, nil, io.Discard)
	return err
}

// copyCertificates writes the certificates that the script trusts.
func (h *Host) copyCertificates(ctx context.Context, id string, certificates []byte) error {
	store, err := trustStore(certificates)
	if err != nil {
		return err
	}
	if err := h.copyIn(ctx, id, singleFile(trustStorePath, store)); err != nil {
		return err
	}
	return h.copyIn(ctx, id, singleFile(certificatesPath, certificates))
}

// exec runs a command in the container and returns its exit code. The end of ctx ends the wait, not the
// command.
func (h *Host) exec(ctx context.Context, id string, command, variables []string, out io.Writer) (exit int, err error) {
	made, err := h.client.ContainerExecCreate(ctx, id, container.ExecOptions{User: "0", Cmd: command, Env: variables, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return 0, err
	}
	stream, err := h.client.ContainerExecAttach(ctx, made.ID, container.ExecAttachOptions{})
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	stop := context.AfterFunc(ctx, stream.Close)
	defer stop()
	if _, err := stdcopy.StdCopy(out, out, stream.Reader); err != nil {
		return 0, errors.Join(err, ctx.Err())
	}
	state, err := h.client.ContainerExecInspect(ctx, made.ID)
	return state.ExitCode, err
}

// commit makes the image. Its command, user and so on are those of the image that it was made from.
func (h *Host) commit(ctx context.Context, id string, spec ImageSpec) error {
	from, err := h.client.ImageInspect(ctx, spec.From)
	if err != nil {
		return failed(ctx, "look at image "+spec.From, err)
	}
	config := container.Config{}
	if c := from.Config; c != nil {
		config.Cmd, config.Entrypoint, config.User, config.Volumes = c.Cmd, c.Entrypoint, c.User, c.Volumes
		config.Env = c.Env
	}
	if config.Cmd == nil {
		config.Cmd = []string{}
	}
	if config.Entrypoint == nil {
		config.Entrypoint = []string{}
	}
	config.Labels, config.WorkingDir = spec.Labels, spec.Workdir
	config.Env = append(withoutNames(config.Env, spec.Environment), pairs(spec.Environment)...)
	if _, err := h.client.ContainerCommit(ctx, id, container.CommitOptions{Reference: spec.Name, Config: &config}); err != nil {
		return failed(ctx, "make image "+spec.Name, err)
	}
	return nil
}

// pairs returns variables as NAME=value, sorted.
func pairs(variables map[string]string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		list = append(list, name+"="+variables[name])
	}
	return list
}

// withoutNames returns the variables that are not named.
func withoutNames(list []string, names map[string]string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		_, named := names[name]
		return named
	})
}

// shellQuote quotes a word for a shell.
func shellQuote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// tailWriter passes everything on and keeps the end.
type tailWriter struct {
	to   io.Writer
	tail []byte
}

func (w *tailWriter) Write(p []byte) (int, error) {
	w.tail = append(w.tail, p...)
	w.tail = w.tail[max(0, len(w.tail)-maxTail):]
	if w.to == nil {
		return len(p), nil
	}
	return w.to.Write(p)
}

func (w *tailWriter) String() string { return string(bytes.ToValidUTF8(w.tail, []byte("�"))) }
