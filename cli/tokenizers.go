package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"relabel"
	"relabel/modelfiles"
)

// TokenizerCommand is `relabel tokenizer`.
type TokenizerCommand struct {
	Add    tokenizerAdd    `cmd:"" help:"Register the tokenizer and the chat templates of a model's folder, or a new version of them."`
	List   tokenizerList   `cmd:"" help:"List registered tokenizers, all versions, newest first."`
	Show   tokenizerShow   `cmd:"" help:"Show a registered tokenizer and its files."`
	Delete tokenizerDelete `cmd:"" help:"Delete a name with all its versions; refused while a policy or a running export uses them."`
}

// tokenizerAdd is `relabel tokenizer add NAME DIR`.
type tokenizerAdd struct {
	ClientFlags
	Name string `arg:"" help:"Name that policies and exports use."`
	Dir  string `arg:"" type:"existingdir" help:"Folder of the model on this machine. Its tokenizer, chat templates and configuration are sent, at most 64 MiB; weights are not."`
}

// Run registers the folder.
func (c *tokenizerAdd) Run(ctx context.Context) error {
	files, err := readModelFolder(c.Dir)
	if err != nil {
		return err
	}
	return c.With(ctx, func(cl *Session) error {
		t, err := cl.AddTokenizer(ctx, c.Name, files)
		if err != nil {
			return err
		}
		say("%s  %s@%d", t.Hash, t.Name, t.Version)
		return nil
	})
}

// readModelFolder reads and checks the files of a folder.
func readModelFolder(dir string) (relabel.TokenizerFiles, error) {
	files, err := modelfiles.ReadFolder(dir)
	if err != nil {
		return nil, err
	}
	var wrong *relabel.Error
	if errors.As(modelfiles.Check(files), &wrong) {
		return nil, wrong.On(filepath.Join(dir, wrong.Field))
	}
	return files, nil
}

// UseTokenizer returns the REST name of a tokenizer that was given to a command. It registers a
// folder of this machine, unless its files are registered; any other value is a name, a hash or
// a path on the server.
func UseTokenizer(ctx context.Context, cl *Session, given string) (string, error) {
	if given == "" {
		return "", nil
	}
	if !IsFolder(given) {
		return given, nil
	}
	files, err := readModelFolder(given)
	if err != nil {
		return "", err
	}
	there, err := cl.Tokenizer(ctx, files.Hash())
	switch {
	case err == nil:
		return fmt.Sprintf("%s@%d", there.Name, there.Version), nil
	case relabel.CodeOf(err) != relabel.CodeNotFound:
		return "", err
	}
	whole, err := filepath.Abs(given)
	if err != nil {
		return "", err
	}
	t, err := cl.AddTokenizer(ctx, tokenizerName(filepath.Base(whole), files.Hash()), files)
	return fmt.Sprintf("%s@%d", t.Name, t.Version), err
}

// notHere adds to the server's refusal of a field that this machine has no such file either.
// given holds the given values by field.
func notHere(err error, given map[string]string) error {
	if relabel.CodeOf(err) != relabel.CodeInvalid {
		return err
	}
	for field, word := range given {
		if word == "" || !strings.HasPrefix(err.Error(), field+": ") || strings.HasPrefix(err.Error(), field+": does not apply") {
			continue
		}
		_, missing := os.Stat(word)
		if whole, failed := filepath.Abs(word); failed == nil && missing != nil {
			return relabel.Errorf(relabel.CodeInvalid, "%s\n  nor is it on this machine: there is no %s", err.Error(), whole)
		}
	}
	return err
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// tokenizerName returns the name for a folder that is registered without one: the folder's name
// and the beginning of the hash, so that folders of the same name do not collide.
func tokenizerName(folder, hash string) string {
	folder = strings.Trim(notInName.ReplaceAllString(folder, "-"), "._-")
	if folder == "" {
		folder = "tokenizer"
	}
	return folder[:min(len(folder), 80)] + "-" + hash[:8]
}

// useTemplate returns the REST form of a chat template that was given to a command: the text of
// a file of this machine, else a path on the server.
func useTemplate(given string) (text, path string, err error) {
	if given == "" {
		return "", "", nil
	}
	content, err := modelfiles.ReadFile(given, relabel.MaxChatTemplate)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", given, nil
	case err != nil:
		return "", "", relabel.Errorf(relabel.CodeInvalid, "the template %s cannot be read", given).Because(err)
	}
	return string(content), "", nil
}

// tokenizerList is `relabel tokenizer list`.
type tokenizerList struct{ ClientFlags }

// Run prints the tokenizers.
func (c *tokenizerList) Run(ctx context.Context) error {
	heads := []string{"NAME", "HASH", "FILES", "BYTES", "REGISTERED"}
	return list(ctx, c.ClientFlags, (*Session).Tokenizers, heads, func(t relabel.Tokenizer) []any {
		return []any{fmt.Sprintf("%s@%d", t.Name, t.Version), t.Hash, len(t.Files), t.Bytes, t.CreatedAt}
	})
}

// tokenizerShow is `relabel tokenizer show NAME`.
type tokenizerShow struct {
	ClientFlags
	Tokenizer string `arg:"" help:"Name (then the newest version), NAME@VERSION, or hash."`
}

// Run prints one tokenizer.
func (c *tokenizerShow) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		one, err := cl.Tokenizer(ctx, c.Tokenizer)
		if one, err = named(one, err, "tokenizer", c.Tokenizer, "tokenizer list"); err != nil {
			return err
		}
		say("%s  %s@%d, registered %s", one.Hash, one.Name, one.Version, cellText(one.CreatedAt))
		return printTable(one.Files, []string{"FILE", "BYTES", "SHA-256"}, func(f relabel.TokenizerFile) []any {
			return []any{f.Name, f.Bytes, f.SHA256}
		})
	})
}

// tokenizerDelete is `relabel tokenizer delete NAME`.
type tokenizerDelete struct {
	ClientFlags
	Name string `arg:"" help:"Name of the tokenizer, without a version: all versions are deleted."`
}

// Run deletes the name.
func (c *tokenizerDelete) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		if _, err := named(0, cl.DeleteTokenizer(ctx, c.Name), "tokenizer", c.Name, "tokenizer list"); err != nil {
			return err
		}
		fmt.Println("deleted: " + c.Name)
		return nil
	})
}
