package cli

import (
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

// OpenVocabulary opens the tokenizer of an export: from the given folder, from the server that
// has it registered, or from the path in the manifest.
func OpenVocabulary(of relabel.ManifestTokenizer, folder string, fetch func(hash string) (relabel.TokenizerFiles, error)) vocabulary {
	tokens, err := openTokens(of, folder, fetch)
	switch {
	case err != nil:
		return vocabulary{why: Message(err)}
	case tokens == nil:
		return vocabulary{why: "the tokenizer " + of.Path + " is a registered one, and no server runs here"}
	case tokens.SHA256() != of.SHA256:
		return vocabulary{why: "the tokenizer is not the one that the manifest names"}
	}
	return vocabulary{tokens: tokens}
}

// openTokens is OpenVocabulary without the comparison; nil if no server runs that could have
// the tokenizer.
func openTokens(of relabel.ManifestTokenizer, folder string, fetch func(hash string) (relabel.TokenizerFiles, error)) (*tokenizer.Tokenizer, error) {
	switch {
	case folder != "":
		return openTokenizer(folder)
	case of.Hash == "":
		return openTokenizer(of.Path)
	}
	files, err := fetch(of.Hash)
	if files == nil || err != nil {
		return nil, err
	}
	return tokenizer.Parse(files[relabel.TokenizerJSON])
}
