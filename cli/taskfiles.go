package cli

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relabel"
	"relabel/tasks"
)

// taskFile is a file of tasks on this machine.
type taskFile struct {
	name string // in the archive, with slashes
	path string
	size int64
}

// findTaskFiles lists the files of paths: a file is taken as it is, of a folder the files with rows. With several paths,
// the names of a folder's files begin with its own.
func findTaskFiles(paths []string) ([]taskFile, error) {
	var files []taskFile
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, taskFile{filepath.Base(path), path, info.Size()})
			continue
		}
		found, err := taskFilesIn(path)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if len(paths) > 1 {
				f.name = folderName(path) + f.name
			}
			files = append(files, f)
		}
	}
	seen := map[string]string{}
	for _, f := range files {
		if other, twice := seen[f.name]; twice {
			return nil, relabel.Errorf(relabel.CodeInvalid, "%s and %s have the same name: put them into a folder, and give the folder", other, f.path)
		}
		seen[f.name] = f.path
	}
	return files, nil
}

// folderName returns the name of a folder with a slash, "" if it has none. A dot in front of it would hide its files in
// the archive.
func folderName(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	name := strings.TrimLeft(filepath.Base(path), "."+string(filepath.Separator))
	if name == "" {
		return ""
	}
	return name + "/"
}

// builtFiles are in the output folder of `relabel tasks build`. Only the first has tasks.
var builtFiles = []string{"tasks.jsonl", "journal.jsonl", "report.json"}

// builtTasks returns the tasks of an output folder of `relabel tasks build`; nil if it is another folder.
func builtTasks(folder string) []taskFile {
	var files []taskFile
	for _, name := range builtFiles {
		path := filepath.Join(folder, name)
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		files = append(files, taskFile{name, path, info.Size()})
	}
	return files[:1]
}

// taskFilesIn lists the files of a folder with rows.
func taskFilesIn(folder string) ([]taskFile, error) {
	files := builtTasks(folder)
	if files != nil {
		return files, nil
	}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		case entry.Name() == "task.toml":
			return relabel.Errorf(relabel.CodeInvalid, "%s is a task folder of Harbor: give the folder with task folders alone", filepath.Dir(path))
		case !tasks.HasRows(name):
			return nil
		}
		info, err := os.Stat(path) // Hugging Face's cache has links
		if err != nil {
			return err
		}
		files = append(files, taskFile{name, path, info.Size()})
		return nil
	})
	if err == nil && len(files) == 0 {
		err = relabel.Errorf(relabel.CodeInvalid, "%s has no file with rows: .jsonl, .json or .parquet, also with .gz or .zst", folder)
	}
	return files, err
}

// uploaded is the body of an import.
type uploaded struct {
	io.Reader
	size int64        // bytes
	file string       // name of the file that it is; "" of several
	end  func() error // closes what it is read from
}

// upload returns the body of an import: a file as it is, a folder or several files as a tar archive, which is written
// as it is read.
func upload(paths []string, skip bool) (*uploaded, error) {
	lines, err := harborTasks(paths, skip)
	if err != nil {
		return nil, err
	}
	if lines != nil {
		return &uploaded{bytes.NewReader(lines), int64(len(lines)), "", func() error { return nil }}, nil
	}
	files, err := findTaskFiles(paths)
	if err != nil {
		return nil, err
	}
	if info, _ := os.Stat(paths[0]); len(files) == 1 && info != nil && !info.IsDir() {
		return uploadFile(files[0])
	}
	slices.SortFunc(files, func(a, b taskFile) int { return strings.Compare(a.name, b.name) })
	counted := &counter{}
	if err := writeTar(counted, files, func(taskFile) (io.ReadCloser, error) { return nil, nil }); err != nil {
		return nil, err
	}
	reader, writer := io.Pipe()
	go func() {
		_ = writer.CloseWithError(writeTar(writer, files, func(f taskFile) (io.ReadCloser, error) { return os.Open(f.path) }))
	}()
	return &uploaded{reader, counted.bytes, "", reader.Close}, nil
}

// uploadFile returns a file as the body of an import.
func uploadFile(file taskFile) (*uploaded, error) {
	f, err := os.Open(file.path)
	if err != nil {
		return nil, err
	}
	if file.size == 0 {
		return nil, errors.Join(noTask(file.name), f.Close())
	}
	// A client closes the body of its request.
	return &uploaded{io.NopCloser(f), file.size, strings.ToValidUTF8(file.name, "\uFFFD"), f.Close}, nil
}

// harborTasks returns the task folders of Harbor at a path as a task file; nil if it has none.
func harborTasks(paths []string, skip bool) ([]byte, error) {
	if len(paths) != 1 {
		return nil, nil
	}
	set, closeSet, err := openHarbor(paths[0])
	if err != nil || set == nil {
		return nil, err
	}
	lines, err := harborLines(set, skip)
	return lines, errors.Join(err, closeSet())
}

// counter counts the bytes that are written to it.
type counter struct{ bytes int64 }

// Write counts.
func (c *counter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return len(p), nil
}

// writeTar writes an archive of files. The same files make the same archive. If open gives no reader, it counts the
// file's bytes alone.
func writeTar(out io.Writer, files []taskFile, open func(taskFile) (io.ReadCloser, error)) error {
	archive := tar.NewWriter(out)
	for _, f := range files {
		if err := archive.WriteHeader(&tar.Header{Name: f.name, Size: f.size, Mode: 0o644, Typeflag: tar.TypeReg, Format: tar.FormatPAX}); err != nil {
			return err
		}
		content, err := open(f)
		if err != nil {
			return err
		}
		if content == nil {
			content = io.NopCloser(io.LimitReader(zeros{}, f.size))
		}
		n, err := io.Copy(archive, content)
		if err = errors.Join(err, content.Close()); err == nil && n != f.size {
			err = fmt.Errorf("%s changed while it was sent", f.path)
		}
		if err != nil {
			return err
		}
	}
	return archive.Close()
}

// zeros reads as zeros without end.
type zeros struct{}

// Read leaves the bytes as they are: none of them counts.
func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// openTasks opens files or folders of tasks in any known format, and checks them. Close closes them.
func openTasks(paths []string, options tasks.Options) (set *tasks.Set, closeFiles func() error, err error) {
	opened := []io.Closer{}
	closeFiles = func() (err error) {
		for _, f := range opened {
			err = errors.Join(err, f.Close())
		}
		return err
	}
	lines, err := harborTasks(paths, false)
	if err != nil {
		return nil, nil, err
	}
	if lines != nil {
		set, err = tasks.Open(bytes.NewReader(lines), options)
	} else {
		var members []tasks.Member
		if members, opened, err = openFiles(paths); err == nil {
			set, err = openMembers(members, options)
		}
	}
	if err == nil {
		_, err = set.Check()
	}
	if err != nil {
		return nil, nil, errors.Join(err, closeFiles())
	}
	return set, closeFiles, nil
}

// openFiles opens the files of paths.
func openFiles(paths []string) (members []tasks.Member, opened []io.Closer, err error) {
	files, err := findTaskFiles(paths)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		file, err := os.Open(f.path)
		if err != nil {
			return nil, opened, err
		}
		opened = append(opened, file)
		members = append(members, tasks.Member{Name: f.name, Input: io.NewSectionReader(file, 0, f.size)})
	}
	return members, opened, nil
}

// ReadTaskFiles reads the tasks of files or folders in any known format.
func ReadTaskFiles(paths []string, options tasks.Options) (all []relabel.Task, err error) {
	set, closeFiles, err := openTasks(paths, options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeFiles()) }()
	for task, err := range set.Tasks() {
		if err != nil {
			return nil, err
		}
		all = append(all, task)
	}
	return all, nil
}

// openMembers opens one file as itself, which may be an archive, and several as those of a folder.
func openMembers(members []tasks.Member, options tasks.Options) (*tasks.Set, error) {
	if len(members) == 1 {
		options.File = members[0].Name
		return tasks.Open(members[0].Input, options)
	}
	return tasks.OpenFiles(members, options)
}

// noTask is the error for a file without tasks.
func noTask(name string) error {
	return relabel.Errorf(relabel.CodeInvalid, "%s contains no task; a task file has one task per row", name)
}
