package server

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"net/http"
	"path"

	"github.com/danielgtaylor/huma/v2"

	"relabel"
	"relabel/api"
	"relabel/modelfiles"
)

func (s *site) addTokenizers() {
	upload := operation(http.MethodPost, "/v1/tokenizers", "tokenizers", "add-tokenizer", "Register a tokenizer",
		"Stores the files of a model's folder, sent as a tar file, as the next version of the name. If the files equal the newest version, that version is returned. "+
			"It accepts tokenizer.json, tokenizer_config.json, chat_template.jinja, chat_template.json, config.json, special_tokens_map.json, generation_config.json and additional_chat_templates/*.jinja; any other file is refused. "+
			"Unsupported parts of the tokenizer or its templates are refused by name.")
	upload.RequestBody = &huma.RequestBody{Required: true, Description: "A tar file with the files of the model's folder, by their names in it; at most 64 MiB in all.",
		Content: map[string]*huma.MediaType{"application/x-tar": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}
	add(s, upload, s.addTokenizer)
	add(s, operation(http.MethodGet, "/v1/tokenizers", "tokenizers", "list-tokenizers", "List tokenizers", "All versions of all registered tokenizers, newest first."), s.listTokenizers)
	add(s, operation(http.MethodGet, "/v1/tokenizers/{tokenizer}", "tokenizers", "show-tokenizer", "Show a tokenizer", "One version of a registered tokenizer, with its files."), s.showTokenizer)
	files := operation(http.MethodGet, "/v1/tokenizers/{tokenizer}/files", "tokenizers", "fetch-tokenizer", "Fetch a tokenizer's files",
		"The files of a registered tokenizer as a tar file, as they were registered.")
	files.Responses = map[string]*huma.Response{"200": {Description: "The tar file.",
		Content: map[string]*huma.MediaType{"application/x-tar": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}}
	add(s, files, s.fetchTokenizer)
	add(s, operation(http.MethodDelete, "/v1/tokenizers/{tokenizer}", "tokenizers", "delete-tokenizer", "Delete a tokenizer",
		"Deletes a name with all its versions, and the files that no other name has. Refused while a policy or an export that has not ended uses such files."), s.deleteTokenizer)
}

// maxTokenizerUpload is how long the body of an upload may be: the files and tar's own
// headers.
const maxTokenizerUpload = relabel.MaxTokenizerBytes + 1<<20

type addTokenizer struct {
	Name string `query:"name" required:"true" minLength:"1" maxLength:"100" doc:"The name to register: letters, digits, dots, hyphens and underscores."`
}

func (s *site) addTokenizer(ctx context.Context, in *addTokenizer) (*of[relabel.Tokenizer], error) {
	if err := relabel.CheckTokenizerName(in.Name); err != nil {
		return nil, err
	}
	upload, _ := uploadOf(ctx)
	if upload.Size() == 0 {
		return nil, relabel.Errorf(api.CodeMalformed, "the request has no body; send the tar file as it is")
	}
	// One file at a time is held in memory.
	leave, err := s.bodies.beginParse(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	files, err := readTokenizerTar(upload)
	if err != nil {
		return nil, err
	}
	if err := s.Tokenizers.Check(ctx, files); err != nil {
		return nil, err
	}
	return one(s.Store.CreateTokenizer(ctx, in.Name, files))
}

// readTokenizerTar reads the regular files of a tar file. Folders are passed over; links
// and devices are refused.
func readTokenizerTar(from io.Reader) (relabel.TokenizerFiles, error) {
	files, left := relabel.TokenizerFiles{}, int64(relabel.MaxTokenizerBytes)
	for archive := tar.NewReader(from); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "is not a tar file: make it with tar -C DIR -cf - tokenizer.json tokenizer_config.json …").On("body").Because(err)
		}
		name := path.Clean(header.Name)
		if header.Typeflag == tar.TypeDir {
			continue
		}
		if header.Typeflag != tar.TypeReg {
			return nil, relabel.Errorf(relabel.CodeInvalid, "%.100q is not a regular file: follow links when you make the tar file (tar -h)", name).On("body")
		}
		if err := modelfiles.CheckFile(name, header.Size); err != nil {
			return nil, err
		}
		if _, twice := files[name]; twice || header.Size > left {
			return nil, relabel.Errorf(relabel.CodeInvalid, "it contains %s twice, or the files have over %d bytes together", name, relabel.MaxTokenizerBytes).On("body")
		}
		content, err := io.ReadAll(io.LimitReader(archive, left))
		if err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "the tar file ends in the middle of %s", name).On("body").Because(err)
		}
		left -= int64(len(content))
		files[name] = content
	}
}

func (s *site) listTokenizers(ctx context.Context, in *api.PageQuery) (*of[api.Page[relabel.Tokenizer]], error) {
	return pageOf(s.Store.ListTokenizers(ctx, page(*in)))
}

// TokenizerPath names a registered tokenizer.
type TokenizerPath struct {
	Tokenizer string `path:"tokenizer" maxLength:"200" doc:"Its name (then the newest version), name@version, or its hash."`
}

func (s *site) showTokenizer(ctx context.Context, in *TokenizerPath) (*of[relabel.Tokenizer], error) {
	return one(s.Store.FindTokenizer(ctx, in.Tokenizer))
}

func (s *site) deleteTokenizer(ctx context.Context, in *struct {
	Tokenizer string `path:"tokenizer" maxLength:"200" doc:"Its name."`
}) (*of[api.TokenizerDeleted], error) {
	return one(api.TokenizerDeleted{Name: in.Tokenizer}, s.Store.DeleteTokenizer(ctx, in.Tokenizer))
}

// findTokenizer resolves how a tokenizer is named: a name or a hash of a registered one,
// else a path, which has no hash.
func (s *site) findTokenizer(ctx context.Context, word string) (relabel.TokenizerRef, error) {
	if !relabel.IsTokenizerHash(word) && !relabel.IsTokenizerWord(word) {
		return relabel.TokenizerRef{Name: word}, nil
	}
	t, err := s.Store.FindTokenizer(ctx, word)
	switch {
	case relabel.CodeOf(err) != relabel.CodeNotFound:
		return relabel.TokenizerRef{Name: word, Hash: t.Hash}, err
	case relabel.IsTokenizerHash(word):
		return relabel.TokenizerRef{}, relabel.Errorf(relabel.CodeInvalid, "no tokenizer with this hash is registered").On("tokenizer")
	}
	return relabel.TokenizerRef{Name: word}, nil // a folder below --tokenizers, perhaps
}

// resolveTokenizer puts the hash of the tokenizer that p names into it, and refuses a path
// that cannot be used here.
func (s *site) resolveTokenizer(ctx context.Context, p *relabel.Policy) error {
	if p.Tokenizer == "" && p.ChatTemplate == "" {
		return nil
	}
	ref, err := s.findTokenizer(ctx, p.Tokenizer)
	if err != nil {
		return err
	}
	p.TokenizerHash = ref.Hash
	err = s.Tokenizers.Accepts(ctx, ref, p.ChatTemplate)
	var known *relabel.Error
	if errors.As(err, &known) && known.Field == "template" {
		return known.On("chat_template")
	}
	return err
}
