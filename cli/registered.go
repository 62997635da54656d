package cli

import (
	"cmp"
	"context"

	"relabel"
	"relabel/tokenizer"
)

// RegisteredTokenizer fetches a registered tokenizer by its hash from the server of --server,
// or else from the one that uses the data folder; nil if none runs. Errors name the server.
func (f ClientFlags) RegisteredTokenizer(ctx context.Context, hash string) (relabel.TokenizerFiles, error) {
	cl := f.Running(ctx)
	if f.Server != "" {
		var err error
		if cl, err = Open(f.Server, f.Token, "--server"); err != nil {
			return nil, err
		}
	}
	if cl == nil {
		return nil, nil
	}
	cl.Token = f.Token
	return cl.RegisteredTokenizer(ctx, hash)
}

// RegisteredTokenizer fetches a registered tokenizer by its hash. An error names the server.
func (s *Session) RegisteredTokenizer(ctx context.Context, hash string) (relabel.TokenizerFiles, error) {
	files, err := s.TokenizerFiles(ctx, hash)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeOf(err), "the registered tokenizer cannot be fetched from %s: %s", s.Base, Message(needsToken(err)))
	}
	return files, nil
}

// vocabulary decodes the ids of an export. If tokens is nil, why gives the reason.
type vocabulary struct {
	tokens *tokenizer.Tokenizer
	why    string
}

// openVocabulary opens the tokenizer of an export: from the given folder, from the server that
// has it registered, or from the path in the manifest.
func openVocabulary(of relabel.ManifestTokenizer, folder string, fetch FetchTokenizer) (v vocabulary) {
	var err error
	if folder == "" && of.Hash != "" {
		var files relabel.TokenizerFiles
		if files, err = fetch(of.Hash); files == nil && err == nil {
			return vocabulary{why: "the tokenizer " + of.Path + " is a registered one, and no server runs here"}
		}
		if err == nil {
			v.tokens, err = tokenizer.Parse(files[relabel.TokenizerJSON])
		}
	} else {
		v.tokens, err = openTokenizer(cmp.Or(folder, of.Path))
	}
	switch {
	case err != nil:
		return vocabulary{why: Message(err)}
	case v.tokens.SHA256() != of.SHA256:
		return vocabulary{why: "the tokenizer is not the one that the manifest names"}
	}
	return v
}
