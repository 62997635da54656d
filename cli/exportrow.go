package cli

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"relabel"
)

// rowFlags choose a row of an export's folder.
type rowFlags struct {
	Row       string `placeholder:"N|ROW_ID" help:"Show the tokens or the messages of a row, given by its number in the view, from 0, or its row_id. What is trained on is in colour, or in brackets without a terminal or with NO_COLOR."`
	View      string `placeholder:"VIEW" enum:",messages,linear,packed,tree,preference,arrow,prompt_completion,chat" default:"" help:"View of the row. Default: linear, or another token view, or the only view."`
	Tokenizer string `placeholder:"DIR" type:"existingdir" help:"Folder of the tokenizer. Default: the registered one, from the running server, or the folder that the manifest names."`
	All       bool   `help:"Do not shorten long runs of tokens and texts that are not trained on."`
}

// show prints a row.
func (f rowFlags) show(p *Ports, dir string, fetch FetchTokenizer) error {
	m, err := p.ReadManifest(dir)
	if err != nil {
		return err
	}
	name, err := f.view(m)
	if err != nil {
		return err
	}
	view := p.OpenView(dir, m, name)
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
	d := Drawing{Out: out, Manifest: m, View: name, Path: path, Number: number, Of: view.Len(), All: f.All,
		Colour: term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == ""}
	if m.Tokenizer != nil {
		d.Words = openVocabulary(*m.Tokenizer, f.Tokenizer, fetch)
	}
	d.Draw(&row)
	return out.Flush()
}

// inView reports whether a file of an export may be of the requested view.
func (f rowFlags) inView(name string) bool {
	view, _, _ := strings.Cut(name, "/")
	return f.View == "" || view == f.View
}

// view returns the requested view, or the first token view.
func (f rowFlags) view(m relabel.Manifest) (relabel.View, error) {
	asked := relabel.View(f.View)
	for _, v := range []relabel.View{relabel.ViewLinear, relabel.ViewTree, relabel.ViewPacked, relabel.ViewArrow, relabel.ViewChat, relabel.ViewPromptCompletion, relabel.ViewPreference, relabel.ViewMessages} {
		if asked == "" && slices.Contains(m.Views, v) {
			asked = v
		}
	}
	if !slices.Contains(m.Views, asked) {
		return "", relabel.Errorf(relabel.CodeNotFound, "the export has no view %s; available: %s", asked, ViewWords(m.Views)).On("--view")
	}
	return asked, nil
}
