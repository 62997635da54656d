package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"relabel"
	"relabel/cli"
	"relabel/shard/render"
	"relabel/shard/rows"
	"relabel/shard/verify"
)

// verifyExport checks an export's folder.
func verifyExport(ctx context.Context, o cli.VerifyOptions) (cli.VerifyReport, error) {
	student, err := exportStudent(o)
	if err != nil {
		return cli.VerifyReport{}, err
	}
	progress := new(verify.Progress)
	done := o.Progress(func() (rows, tokens int64) { return progress.Rows.Load(), progress.Tokens.Load() })
	report, err := verify.Check(ctx, o.Dir, verify.Options{Student: student, First: o.First, Progress: progress})
	done()
	if err != nil {
		return cli.VerifyReport{}, err
	}
	r := cli.VerifyReport{Sound: report.Sound(), Fields: struct {
		Sound bool `json:"sound"`
		*verify.Report
	}{report.Sound(), report}}
	for _, p := range report.Problems {
		r.Lines = append(r.Lines, p.String())
	}
	for _, note := range report.Notes {
		r.Lines = append(r.Lines, "note: "+note)
	}
	r.Lines = append(r.Lines, report.Figure())
	return r, nil
}

// exportStudent opens the tokenizer and template of the export, or returns nil if nothing is
// rendered. The check reports a manifest that cannot be read.
func exportStudent(o cli.VerifyOptions) (*render.Student, error) {
	m, err := verify.ReadManifest(o.Dir)
	if err != nil || !o.Render {
		return nil, nil
	}
	var unfetched error
	if o.Tokenizer == "" && o.Template == "" && m.Tokenizer != nil && m.Tokenizer.Hash != "" {
		files, err := o.Fetch(m.Tokenizer.Hash)
		if files != nil {
			return verify.NewStudent(m, files)
		}
		unfetched = err
	}
	s, err := verify.OpenStudent(m, o.Tokenizer, o.Template)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		err = cmp.Or(unfetched, err)
		return nil, relabel.Errorf(relabel.CodeNotFound, "%s: give its folder with --tokenizer, or skip the comparison with --no-render", cli.Message(err))
	}
	return s, err
}

// openView opens a view in an export's folder.
func openView(dir string, m relabel.Manifest, view relabel.View) cli.ExportView {
	return rows.NewView(m, view, func(path string) (rows.Bytes, error) {
		file, err := os.OpenInRoot(dir, filepath.FromSlash(path)) // the manifest may name any path
		if err != nil {
			return nil, relabel.Errorf(relabel.CodeNotFound, "%s cannot be opened", path).Because(err)
		}
		info, err := file.Stat()
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return localFile{file, info.Size()}, nil
	})
}

// localFile is a file with its size in bytes.
type localFile struct {
	*os.File
	size int64
}

// Size returns the size in bytes.
func (f localFile) Size() int64 { return f.size }
