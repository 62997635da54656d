package openhands

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"relabel"
	"relabel/envs"
	"relabel/envs/scaffold/arguments"
)

// maxFile is the largest file that the editor opens, in bytes (4 MiB).
const maxFile = 4 << 20

// edit executes one call of the editor. A problem with the path or the file is an observation; an
// error means that the sandbox failed.
func (e *Episode) edit(ctx context.Context, args arguments.Arguments) (relabel.Observation, error) {
	name := args.Texts["path"]
	switch {
	case strings.Contains(name, "\x00"):
		return refusal("The path holds a NUL character, which no path can."), nil
	case !path.IsAbs(name):
		return refusal("The path %s is not absolute. Did you mean %s?", name, path.Join(e.workdir, name)), nil
	}
	name = path.Clean(name)
	switch args.Texts["command"] {
	case "view":
		return e.view(ctx, name, args)
	case "create":
		return e.create(ctx, name, args.Texts["file_text"])
	case "str_replace":
		return e.replace(ctx, name, args.Texts["old_str"], args.Texts["new_str"])
	}
	return e.insert(ctx, name, args.Integers["insert_line"], args.Texts["new_str"])
}

// open reads a whole text file. no is a refusal if the file cannot be read, is not text or is too large.
func (e *Episode) open(ctx context.Context, name string) (data []byte, no *relabel.Observation, err error) {
	data, size, err := e.sandbox.ReadFile(ctx, name, maxFile)
	var o relabel.Observation
	switch {
	case err != nil:
		o, err = e.refused(ctx, name, err)
	case size > maxFile:
		o = refusal("The file %s is %d bytes large, and the editor opens at most %d. Use execute_bash with sed -n, grep or head instead.", name, size, maxFile)
	case bytes.IndexByte(data, 0) >= 0:
		o = refusal("The file %s is binary: it holds NUL bytes. Use execute_bash, for instance with file or xxd, to examine it.", name)
	default:
		return data, nil, nil
	}
	return nil, &o, err
}

// refused turns the error of a file operation into an observation, unless the sandbox failed.
func (e *Episode) refused(ctx context.Context, name string, err error) (relabel.Observation, error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refusal("There is no file %s. View a folder, or use find, to see what there is.", name), nil
	case errors.Is(err, fs.ErrPermission):
		return refusal("The file %s may not be accessed: permission denied.", name), nil
	case errors.Is(err, envs.ErrNotRegular):
		return refusal("%s is not a regular file, so the editor cannot open it.", name), nil
	case ctx.Err() != nil || relabel.CodeOf(err) == relabel.CodeEnvironment:
		return relabel.Observation{}, broken("accessing a file", errors.Join(ctx.Err(), err))
	}
	return refusal("%s cannot be used: %v.", name, err), nil
}

// create makes a new file.
func (e *Episode) create(ctx context.Context, name, content string) (relabel.Observation, error) {
	info, err := e.sandbox.Stat(ctx, name)
	switch {
	case err == nil && info.Mode.IsDir():
		return refusal("%s is a folder. Give the path of a file to create.", name), nil
	case err == nil:
		return refusal("The file %s exists already. Change it with str_replace or insert.", name), nil
	case !errors.Is(err, fs.ErrNotExist):
		return e.refused(ctx, name, err)
	}
	if err := e.sandbox.WriteFile(ctx, name, []byte(content), 0o644); err != nil {
		return e.refused(ctx, name, err)
	}
	return relabel.Observation{Content: "The file " + name + " was created."}, nil
}

// save writes an edited file and shows the lines around the change.
func (e *Episode) save(ctx context.Context, name string, after []byte, from, lines int) (relabel.Observation, error) {
	info, err := e.sandbox.Stat(ctx, name)
	if err != nil {
		return e.refused(ctx, name, err)
	}
	if err := e.sandbox.WriteFile(ctx, name, after, info.Mode.Perm()); err != nil {
		return e.refused(ctx, name, err)
	}
	return relabel.Observation{Content: "The file " + name + " was changed. " + snippet(after, from, lines)}, nil
}
