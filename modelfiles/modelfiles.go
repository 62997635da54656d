// Package modelfiles reads the files of a model's folder: tokenizer, chat templates and
// configuration. It reads regular files alone, and never more bytes than their bounds, so
// that a device, a named pipe or a huge file costs nothing.
package modelfiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"relabel"
)

// errNotRegular means that a path is a folder, a device, a pipe or a socket.
var errNotRegular = errors.New("not a regular file")

// ReadFile reads a regular file of at most limit bytes. It does not block on a named pipe.
func ReadFile(name string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return readAll(file, limit)
}

// readAll reads and closes a file.
func readAll(file fs.File, limit int64) ([]byte, error) {
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	case info.Size() > limit:
		return nil, fmt.Errorf("%d bytes are more than %d", info.Size(), limit)
	}
	content, err := io.ReadAll(io.LimitReader(file, limit+1)) // the file may grow meanwhile
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return content, err
}

// opener opens a file in a folder by its slash-separated name, and lists folders in it.
type opener struct {
	open func(name string) (fs.File, error)
	list func(name string) ([]string, error)
}

// ReadFolder reads the relevant files of a folder chosen by the caller of this process. It
// follows symbolic links. CodeNotFound if the folder does not exist; CodeInvalid names a file
// that cannot be used.
func ReadFolder(dir string) (relabel.TokenizerFiles, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeNotFound, "the folder cannot be read").On(dir).Because(err)
	}
	if !info.IsDir() {
		return nil, relabel.Errorf(relabel.CodeInvalid, "is not a folder: name the one that holds %s", relabel.TokenizerJSON).On(dir)
	}
	return read(opener{
		open: func(name string) (fs.File, error) {
			return os.OpenFile(filepath.Join(dir, filepath.FromSlash(name)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
		},
		list: func(name string) ([]string, error) { return names(os.Open(filepath.Join(dir, name))) },
	})
}

// errUnreadable is the only error for paths that cannot be read below a root.
var errUnreadable = relabel.Errorf(relabel.CodeInvalid,
	"cannot be read: it must be the path of a folder below --tokenizers of this machine that holds %s as a regular file", relabel.TokenizerJSON)

// Unreadable is the error of ReadBelow for a path that is absent, outside of the root or
// not regular; also what to answer where there is no root.
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
	files, err := read(openerBelow(root, local))
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
	file, err := root.OpenFile(local, os.O_RDONLY|syscall.O_NONBLOCK, 0)
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

func openerBelow(root *os.Root, dir string) opener {
	return opener{
		open: func(name string) (fs.File, error) {
			return root.OpenFile(filepath.Join(dir, filepath.FromSlash(name)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
		},
		list: func(name string) ([]string, error) {
			return names(root.OpenFile(filepath.Join(dir, name), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_DIRECTORY, 0))
		},
	}
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

// read reads all used files of a folder that are there.
func read(from opener) (relabel.TokenizerFiles, error) {
	files, left := relabel.TokenizerFiles{}, int64(relabel.MaxTokenizerBytes)
	wanted, err := wantedFiles(from)
	if err != nil {
		return nil, err
	}
	for _, name := range wanted {
		file, err := from.open(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "cannot be opened").On(name).Because(err)
		}
		content, err := readAll(file, left)
		if err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "cannot be used: %v", err).On(name).Because(err)
		}
		if err := relabel.CheckTokenizerFile(name, int64(len(content))); err != nil {
			return nil, err
		}
		left -= int64(len(content))
		files[name] = content
	}
	return files, nil
}

// wantedFiles are the names of the files that are used, whether they are there or not.
func wantedFiles(from opener) ([]string, error) {
	wanted := relabel.TokenizerFileNames()
	others, err := from.list(strings.TrimSuffix(relabel.OtherTemplates, "/"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return nil, relabel.Errorf(relabel.CodeInvalid, "cannot be listed").On(relabel.OtherTemplates).Because(err)
	}
	for _, other := range others {
		if name := path.Join(relabel.OtherTemplates, other); relabel.IsTokenizerFile(name) {
			wanted = append(wanted, name)
		}
	}
	if len(wanted) > relabel.MaxTokenizerFiles {
		return nil, relabel.Errorf(relabel.CodeInvalid, "more than %d files are used", relabel.MaxTokenizerFiles).On(relabel.OtherTemplates)
	}
	return wanted, nil
}
