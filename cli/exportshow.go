package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"relabel"
)

// exportShow is `relabel export show ID|DIR|PLACE`.
type exportShow struct {
	ClientFlags
	rowFlags
	ID string `arg:"" name:"id|dir|place" help:"Id of the export, its folder, or its place on the Hugging Face Hub: hf://organisation/name@revision."`
}

// Run prints one export, or a row of it.
func (c *exportShow) Run(ctx context.Context, p *Ports) error {
	switch {
	case c.Row != "":
		return exportFiles{c.ClientFlags, p, c.inView}.use(ctx, c.ID, func(dir string, fetch FetchTokenizer) error { return c.show(p, dir, fetch) })
	case IsFolder(c.ID):
		return printFolder(p, c.ID)
	case isPlace(c.ID):
		none := func(string) bool { return false } // the manifest has it all
		return exportFiles{c.ClientFlags, p, none}.use(ctx, c.ID, func(dir string, _ FetchTokenizer) error { return printFolder(p, dir) })
	}
	return exportFlags{c.ClientFlags, c.ID}.withExport(ctx, func(cl *Session, id relabel.ID) error {
		e, err := cl.Export(ctx, id)
		if err != nil {
			return err
		}
		return errors.Join(PrintExport(e), showManifest(ctx, cl, e), PrintOptions(e))
	})
}

// printFolder prints the manifest in an export's folder.
func printFolder(p *Ports, dir string) error {
	m, err := p.ReadManifest(dir)
	if err != nil {
		return err
	}
	say("%d labelled states as %s of run %s", m.States, ViewWords(m.Views), m.Run)
	if m.TooLong != nil && m.TooLong.Labels() > 0 {
		fmt.Println("  " + m.TooLong.Words())
	}
	e := relabel.Export{Excluded: m.Excluded, PromptCheck: m.PromptCheck, ModelCheck: m.ModelCheck}
	for _, f := range m.Files {
		e.Files = append(e.Files, relabel.ExportFile{Path: f.Path, SHA256: f.SHA256, Bytes: f.Bytes, Rows: f.Rows, Tokens: f.Tokens, SupervisedTokens: f.SupervisedTokens})
	}
	return errors.Join(PrintFiles(e), printManifest(m))
}

// showManifest prints what the manifest of a finished export says, read through the server, or why the server cannot
// read it: the files may be on another machine.
func showManifest(ctx context.Context, cl *Session, e relabel.Export) error {
	if e.State != relabel.ExportDone {
		return nil
	}
	body, err := cl.ExportFile(ctx, e.ID, "manifest.json")
	if err != nil {
		_, err = fmt.Printf("  its manifest.json cannot be shown: %v\n", err)
		return err
	}
	defer body.Close()
	var m relabel.Manifest
	if err := json.NewDecoder(body).Decode(&m); err != nil {
		return relabel.Errorf(relabel.CodeInvalid, "manifest.json of the export cannot be read").Because(err)
	}
	return printManifest(m)
}
