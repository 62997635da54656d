// Package modelfiles reads the files of a model's folder: tokenizer, chat templates and
// configuration. It reads only regular files and no more bytes than their bounds, so that a
// device, a named pipe or a huge file does no harm.
package modelfiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"relabel"
)

// errNotRegular means that a path is a folder, a device, a pipe or a socket.
var errNotRegular = errors.New("not a regular file")

// ReadFile reads a regular file of at most limit bytes. It does not block on a named pipe.
func ReadFile(name string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(name, flags, 0)
	if err != nil {
		return nil, err
	}
	return readAll(file, limit)
}

// readAll reads and closes a file.
func readAll(file *os.File, limit int64) ([]byte, error) {
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	case info.Size() > limit:
		return nil, fmt.Errorf("%d bytes exceed the limit of %d", info.Size(), limit)
	}
	content, err := io.ReadAll(io.LimitReader(file, limit+1)) // the file may grow meanwhile
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return content, err
}

// opener opens a file or folder in a folder by its slash-separated name.
type opener func(name string) (*os.File, error)

// flags open files and folders without blocking on named pipes.
const flags = os.O_RDONLY | syscall.O_NONBLOCK

// ReadFolder reads the relevant files of a folder chosen by the caller of this process. It
// follows symbolic links. CodeNotFound if the folder does not exist; CodeInvalid names a file
// that cannot be used.
func ReadFolder(dir string) (relabel.TokenizerFiles, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeNotFound, "the folder cannot be read").On(dir).Because(err)
	}
	if !info.IsDir() {
		return nil, relabel.Errorf(relabel.CodeInvalid, "is not a folder: name the one that contains %s", relabel.TokenizerJSON).On(dir)
	}
	return read(func(name string) (*os.File, error) {
		return os.OpenFile(filepath.Join(dir, filepath.FromSlash(name)), flags, 0)
	})
}

// errUnreadable is the only error for paths that cannot be read below a root.
var errUnreadable = relabel.Errorf(relabel.CodeInvalid,
	"cannot be read: it must be the path of a folder below --tokenizers of this machine that holds %s as a regular file", relabel.TokenizerJSON)

// Unreadable returns the error of ReadBelow for a path that does not exist, is outside of the
// root or is not a regular file. It is also the answer if there is no root.
func Unreadable() *relabel.Error {
	e := *errUnreadable
	return &e
}

// ReadBelow reads the relevant files of the folder at a path below root; an absolute path
// must begin with root's own. Symbolic links cannot leave root. The error is Unreadable
// whether a path is absent, outside or not regular, so it does not reveal what exists.
func ReadBelow(root *os.Root, dir string) (relabel.TokenizerFiles, error) {
	local, ok := below(root, dir)
	if !ok {
		return nil, Unreadable()
	}
	files, err := read(func(name string) (*os.File, error) {
		return root.OpenFile(filepath.Join(local, filepath.FromSlash(name)), flags, 0)
	})
	if err != nil || len(files[relabel.TokenizerJSON]) == 0 {
		return nil, Unreadable().Because(err)
	}
	return files, nil
}

// ReadTemplateBelow reads the chat template at a path below root, with ReadBelow's rules.
func ReadTemplateBelow(root *os.Root, name string) (string, error) {
	local, ok := below(root, name)
	if !ok {
		return "", Unreadable()
	}
	file, err := root.OpenFile(local, flags, 0)
	if err != nil {
		return "", Unreadable().Because(err)
	}
	text, err := readAll(file, relabel.MaxChatTemplate)
	if err != nil {
		return "", Unreadable().Because(err)
	}
	return string(text), nil
}

// below returns a path relative to root.
func below(root *os.Root, name string) (string, bool) {
	if filepath.IsAbs(name) {
		relative, err := filepath.Rel(root.Name(), filepath.Clean(name))
		if err != nil {
			return "", false
		}
		name = relative
	}
	return name, filepath.IsLocal(name) && !strings.ContainsRune(name, 0)
}

// mostEntries is the maximum number of entries read from a templates folder.
const mostEntries = 1000

// names lists the entries of an open folder.
func names(folder *os.File, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	list, err := folder.Readdirnames(mostEntries)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return list, err
}

// read reads all used files of a folder that exist.
func read(from opener) (relabel.TokenizerFiles, error) {
	files, left := relabel.TokenizerFiles{}, int64(relabel.MaxTokenizerBytes)
	wanted, err := wantedFiles(from)
	if err != nil {
		return nil, err
	}
	for _, name := range wanted {
		file, err := from(name)
		if missing(err) {
			continue
		}
		if err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "cannot be opened").On(name).Because(err)
		}
		content, err := readAll(file, left)
		if err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "cannot be used: %v", err).On(name).Because(err)
		}
		if err := CheckFile(name, int64(len(content))); err != nil {
			return nil, err
		}
		left -= int64(len(content))
		files[name] = content
	}
	return files, nil
}

// missing reports whether an error means that a file does not exist.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// wantedFiles lists the names of all files that may be used.
func wantedFiles(from opener) ([]string, error) {
	wanted := slices.Clone(used)
	others, err := names(from(strings.TrimSuffix(otherTemplates, "/")))
	if err != nil && !missing(err) {
		return nil, relabel.Errorf(relabel.CodeInvalid, "cannot be listed").On(otherTemplates).Because(err)
	}
	for _, other := range others {
		if name := path.Join(otherTemplates, other); isUsed(name) {
			wanted = append(wanted, name)
		}
	}
	if len(wanted) > maxFiles {
		return nil, relabel.Errorf(relabel.CodeInvalid, "more than %d files are used", maxFiles).On(otherTemplates)
	}
	return wanted, nil
}
