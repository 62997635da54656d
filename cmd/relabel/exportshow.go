package main

import (
	"context"
	"errors"
	"fmt"

	"relabel"
	"relabel/cli"
	"relabel/shard/verify"
)

// exportShow is `relabel export show ID|DIR`.
type exportShow struct {
	cli.ClientFlags
	rowFlags
	ID string `arg:"" name:"id|dir" help:"Id of the export, or its folder."`
}

// Run prints one export, or a row of it.
func (c *exportShow) Run(ctx context.Context) error {
	if cli.IsFolder(c.ID) {
		return c.folder(c.ID, func(hash string) (relabel.TokenizerFiles, error) { return c.RegisteredTokenizer(ctx, hash) })
	}
	return c.With(ctx, func(cl *cli.Session) error {
		e, err := cli.FindExport(ctx, cl, c.ID)
		if err != nil {
			return err
		}
		if c.Row == "" {
			return errors.Join(cli.PrintExport(e), cli.PrintOptions(e))
		}
		if !cli.IsFolder(e.Directory) {
			return relabel.Errorf(relabel.CodeNotFound, "its files are in %s, not on this machine: fetch them, or look at the row in the viewer", e.Directory).On("--row")
		}
		return c.folder(e.Directory, func(hash string) (relabel.TokenizerFiles, error) { return cl.RegisteredTokenizer(ctx, hash) })
	})
}

// folder prints what the manifest of an export's folder says, or a row. fetch gets a
// registered tokenizer.
func (c *exportShow) folder(dir string, fetch func(hash string) (relabel.TokenizerFiles, error)) error {
	if c.Row != "" {
		return c.show(dir, fetch)
	}
	m, err := verify.ReadManifest(dir)
	if err != nil {
		return err
	}
	fmt.Printf("%d labelled states as %s of run %s\n", m.States, cli.ViewWords(m.Views), m.Run)
	if m.TooLong != nil && m.TooLong.Labels() > 0 {
		fmt.Println("  " + m.TooLong.Words())
	}
	e := relabel.Export{LeftOut: m.LeftOut, PromptCheck: m.PromptCheck, ModelCheck: m.ModelCheck}
	for _, f := range m.Files {
		e.Files = append(e.Files, relabel.ExportFile{Path: f.Path, SHA256: f.SHA256, Bytes: f.Bytes, Rows: f.Rows, Tokens: f.Tokens, SupervisedTokens: f.SupervisedTokens})
	}
	return cli.PrintFiles(e)
}
