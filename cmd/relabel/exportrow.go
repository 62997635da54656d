package main

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/term"

	"relabel"
	"relabel/cli"
	"relabel/shard/rows"
	"relabel/shard/verify"
)

// rowFlags choose a row of an export's folder.
type rowFlags struct {
	Row       string `placeholder:"N|ROW_ID" help:"Show a row's tokens, with what is trained on in colour (in brackets without a terminal, or with NO_COLOR): its number in the view, from 0, or its row_id."`
	View      string `placeholder:"VIEW" enum:",messages,linear,packed,tree" default:"" help:"View of the row. Default: linear, or another one of tokens."`
	Tokenizer string `placeholder:"DIR" type:"existingdir" help:"Folder of the tokenizer. Default: the registered one, from the server that runs, or where the manifest says that it was."`
	All       bool   `help:"Long runs of what is not trained on, too."`
}

// show prints a row. fetch gets a registered tokenizer.
func (f rowFlags) show(dir string, fetch func(hash string) (relabel.TokenizerFiles, error)) error {
	m, err := verify.ReadManifest(dir)
	if err != nil {
		return err
	}
	name, err := f.view(m)
	if err != nil {
		return err
	}
	view := rows.NewView(m, name, folderSource(dir))
	number, err := strconv.Atoi(f.Row)
	if err != nil {
		if number, err = view.Named(f.Row); err != nil {
			return err
		}
	}
	row, path, err := view.At(number)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	d := cli.Drawing{Out: out, Manifest: m, View: name, Path: path, Number: number, Of: view.Len(), All: f.All,
		Colour: term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == ""}
	if m.Tokenizer != nil {
		d.Words = cli.OpenVocabulary(*m.Tokenizer, f.Tokenizer, fetch)
	}
	d.Draw(&row)
	return out.Flush()
}

// view is the view asked for, or the first of tokens that is there.
func (f rowFlags) view(m relabel.Manifest) (relabel.View, error) {
	asked := relabel.View(f.View)
	for _, v := range []relabel.View{relabel.ViewLinear, relabel.ViewTree, relabel.ViewPacked, relabel.ViewMessages} {
		if asked == "" && slices.Contains(m.Views, v) {
			asked = v
		}
	}
	if !slices.Contains(m.Views, asked) {
		return "", relabel.Errorf(relabel.CodeNotFound, "the export has no view %s: it has %s", asked, cli.ViewWords(m.Views)).On("--view")
	}
	return asked, nil
}

// folderSource opens the files of an export's folder.
func folderSource(dir string) rows.Source {
	return func(path string) (rows.Bytes, error) {
		if !filepath.IsLocal(filepath.FromSlash(path)) {
			return nil, relabel.Errorf(relabel.CodeInvalid, "the manifest names %q, which is outside of the folder", path)
		}
		file, err := os.Open(filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil {
			return nil, relabel.Errorf(relabel.CodeNotFound, "%s cannot be opened", path).Because(err)
		}
		info, err := file.Stat()
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return localFile{file, info}, nil
	}
}

// localFile is a file with its length.
type localFile struct {
	*os.File
	fs.FileInfo
}

// Name is the file's.
func (f localFile) Name() string { return f.File.Name() }

// Size is the file's length in bytes.
func (f localFile) Size() int64 { return f.FileInfo.Size() }

var _ io.ReaderAt = localFile{}
