package tasks

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel"
)

// maxFiles bounds the files of an archive.
const maxFiles = 20_000

// Member is a file of tasks: the whole input, or a file of an archive.
type Member struct {
	Name string // of the whole input, Options.File
	Input
}

// membersOf lists the files of an input in reading order: itself, or those of an archive with rows. With a split,
// only its files.
func membersOf(in Input, options Options) (files []Member, archive bool, err error) {
	start, err := firstBytes(in)
	if err != nil {
		return nil, false, unreadable(options.File, err)
	}
	what, err := recognise(start)
	switch {
	case err != nil:
		return nil, false, unreadable(options.File, err)
	case what != tarFile && options.Split != "":
		return nil, false, relabel.Errorf(relabel.CodeInvalid, "is given, but only a folder or several files have splits").On("split")
	case what != tarFile:
		return []Member{{options.File, in}}, false, nil
	}
	if files, err = readArchive(in, options.File); err != nil {
		return nil, true, err
	}
	files, err = chooseSplit(files, options)
	return files, true, err
}

// readArchive lists the files of a tar archive of a name, without links, hidden files and files that have no rows.
func readArchive(in Input, called string) ([]Member, error) {
	section := io.NewSectionReader(in, 0, in.Size())
	archive := tar.NewReader(section)
	var files []Member
	seen := map[string]bool{}
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, unreadable(called, fmt.Errorf("is a damaged tar archive: %w", err))
		}
		name := strings.TrimPrefix(path.Clean(header.Name), "./")
		if problem := wrongMember(header, name, seen[name]); problem != "" {
			return nil, relabel.Errorf(relabel.CodeInvalid, "%s", problem).On(fmt.Sprintf("%.200q", header.Name))
		}
		if seen[name] = true; len(seen) > maxFiles {
			return nil, unreadable(called, fmt.Errorf("has more than %d files", maxFiles))
		}
		if path.Base(name) == "task.toml" {
			return nil, relabel.Errorf(relabel.CodeInvalid, "is a task folder of Harbor: relabel tasks import reads its folder").On(name)
		}
		if header.Typeflag == tar.TypeDir || !hasRows(name) {
			continue
		}
		at, err := section.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, unreadable(name, err)
		}
		files = append(files, Member{name, io.NewSectionReader(in, at, header.Size)})
	}
	slices.SortFunc(files, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// wrongMember tells what is wrong with a member of an archive; "" if nothing is.
func wrongMember(header *tar.Header, name string, twice bool) string {
	switch {
	case !fs.ValidPath(name):
		return "is not a path within the archive"
	case header.Typeflag == tar.TypeDir:
		return ""
	case header.Typeflag != tar.TypeReg:
		return "is neither a file nor a folder"
	case isSparse(header):
		return "is a sparse file: make the archive without --sparse"
	case twice:
		return "is in the archive twice"
	}
	return ""
}

// isSparse reports whether the archive holds less than the whole file.
func isSparse(header *tar.Header) bool {
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse") {
			return true
		}
	}
	return header.Typeflag == tar.TypeGNUSparse
}

// rowFile matches the names of files with rows.
var rowFile = regexp.MustCompile(`(?i)\.(?:jsonl|ndjson|json|parquet)(?:\.(?:gz|zst|zstd))?$`)

// HasRows reports whether a file of a folder is taken for one with rows, by its name: not the card of a data set, its
// metadata or a hidden file.
func HasRows(name string) bool { return hasRows(name) }

func hasRows(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return false
		}
	}
	switch path.Base(name) {
	case "dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json":
		return false
	}
	return rowFile.MatchString(name)
}

// shard matches the end of a name such as train-00000-of-00003.
var shard = regexp.MustCompile(`-\d{5,}-of-\d{5,}$`)

// SplitOf is the split of a file of a data set as Hugging Face lays it out: train of data/train-00000-of-00003.parquet,
// test/0000.parquet or train.jsonl.
func SplitOf(name string) string {
	base := path.Base(name)
	base = rowFile.ReplaceAllString(base, "")
	base = shard.ReplaceAllString(base, "")
	if strings.Trim(base, "0123456789") == "" {
		base = path.Base(path.Dir(name))
	}
	return base
}

// chooseSplit keeps the files of a split.
func chooseSplit(all []Member, options Options) ([]Member, error) {
	if len(all) == 0 {
		return nil, unreadable(options.File, errors.New("has no file with rows: .jsonl, .json or .parquet, also with .gz or .zst"))
	}
	split := options.Split
	if split == "" {
		return all, nil
	}
	var chosen []Member
	splits := map[string]bool{}
	for _, m := range all {
		of := SplitOf(m.Name)
		splits[of] = true
		if of == split {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		names := make([]string, 0, len(splits))
		for name := range splits {
			names = append(names, name)
		}
		slices.Sort(names)
		return nil, relabel.Errorf(relabel.CodeInvalid, "%q is not one of the splits: %s", split, strings.Join(names[:min(20, len(names))], ", ")).On("split")
	}
	return chosen, nil
}
