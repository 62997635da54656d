package bare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"relabel"
	"relabel/envs"
)

// maxFile is the largest file that the editor opens, in bytes (1 MiB).
const maxFile = 1 << 20

// edit executes one call of the editor: str_replace and create change a file, view shows one as cat
// does. Paths are below the repository, or absolute. An error means that the sandbox failed.
func (e *Episode) edit(ctx context.Context, texts map[string]string) (relabel.Observation, error) {
	name := texts["path"]
	if strings.Contains(name, "\x00") {
		return failed(NotParsed), nil
	}
	switch texts["command"] {
	case "str_replace":
		return e.replace(ctx, name, texts["old_str"], texts["new_str"])
	case "create":
		return e.create(ctx, name, texts["file_text"])
	case "view":
		return e.bash(ctx, "cat -- '"+strings.ReplaceAll(name, "'", `'\''`)+"'")
	}
	return failed("The editor has str_replace, create and view."), nil
}

// absolute is the path of name in the sandbox.
func (e *Episode) absolute(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(e.workdir, name)
}

// replace replaces the one occurrence of old.
func (e *Episode) replace(ctx context.Context, name, old, text string) (relabel.Observation, error) {
	const refused = "No replacement was performed: "
	data, size, err := e.Files().ReadFile(ctx, e.absolute(name), maxFile)
	switch {
	case err != nil:
		return e.refused(ctx, refused, name, err)
	case size > maxFile:
		return failed(refused + name + " is too large"), nil
	}
	count := bytes.Count(data, []byte(old))
	switch {
	case old == "" || count == 0:
		return failed(refused + "old_str not found in " + name), nil
	case count > 1:
		return failed(refused + "old_str is not unique in " + name), nil
	}
	return e.write(ctx, refused, name, bytes.Replace(data, []byte(old), []byte(text), 1), "edited")
}

// create makes a new file.
func (e *Episode) create(ctx context.Context, name, text string) (relabel.Observation, error) {
	const refused = "No file was created: "
	_, err := e.Files().Stat(ctx, e.absolute(name))
	switch {
	case err == nil:
		return failed(refused + name + " exists"), nil
	case !errors.Is(err, fs.ErrNotExist):
		return e.refused(ctx, refused, name, err)
	}
	return e.write(ctx, refused, name, []byte(text), "created")
}

// write replaces or creates a file. done says in one word what became of it.
func (e *Episode) write(ctx context.Context, refused, name string, data []byte, done string) (relabel.Observation, error) {
	if err := e.Files().WriteFile(ctx, e.absolute(name), data, 0o644); err != nil {
		return e.refused(ctx, refused, name, err)
	}
	return relabel.Observation{Content: fmt.Sprintf("The file %s has been %s.", name, done)}, nil
}

// refused turns the error of a file operation into an observation, unless the sandbox failed.
func (e *Episode) refused(ctx context.Context, refused, name string, err error) (relabel.Observation, error) {
	switch code := relabel.CodeOf(err); {
	case errors.Is(err, fs.ErrNotExist):
		return failed(refused + name + " does not exist"), nil
	case errors.Is(err, fs.ErrPermission):
		return failed(refused + name + " may not be accessed"), nil
	case errors.Is(err, envs.ErrNotRegular):
		return failed(refused + name + " is not a file"), nil
	case code == relabel.CodeDisk, code == relabel.CodeEnvironment:
		return relabel.Observation{}, err
	case ctx.Err() != nil:
		return relabel.Observation{}, relabel.Errorf(relabel.CodeEnvironment, "the sandbox failed while accessing a file").Because(errors.Join(ctx.Err(), err))
	}
	return failed(refused + name + " cannot be used"), nil
}
