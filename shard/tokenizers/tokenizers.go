// Package tokenizers opens the tokenizers of policies and exports: registered ones, by the hash of
// their files, and those below one folder of this machine. It caches the most recently used ones.
package tokenizers

import (
	"context"
	"os"

	"relabel"
	"relabel/jinja"
	"relabel/modelfiles"
	"relabel/shard/render"
	"relabel/tokenizer"
)

// Store provides the files of registered tokenizers.
type Store interface {
	// FindTokenizerFiles returns the files with a hash. CodeNotFound if there are none.
	FindTokenizerFiles(ctx context.Context, hash string) (relabel.TokenizerFiles, error)
}

// mostKept is the maximum number of cached tokenizers: a large one takes several hundred
// megabytes.
const mostKept = 3

// Opener opens tokenizers. It is safe for concurrent use; it parses one at a time.
type Opener struct {
	store Store
	root  *os.Root // --tokenizers; nil: paths are not accepted
	kept  shelf[*Tokenizer]
}

// Tokenizer is an opened tokenizer.
type Tokenizer struct {
	*tokenizer.Tokenizer
	Hash  string                 // of all files: relabel.TokenizerFiles.Hash
	Files relabel.TokenizerFiles // without tokenizer.json, which is parsed
}

// NewOpener returns an Opener for store and for the folder dir, "" for none. CodeInvalid if
// dir is not a folder.
func NewOpener(store Store, dir string) (*Opener, error) {
	o := &Opener{store: store, kept: newShelf[*Tokenizer](mostKept)}
	if dir == "" {
		return o, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "the folder of tokenizers cannot be read").On("--tokenizers").Because(err)
	}
	o.root = root
	return o, nil
}

// Open returns the tokenizer that ref names. CodeInvalid if it does not exist or cannot be
// used; for a path, the error does not reveal what exists on this machine.
func (o *Opener) Open(ctx context.Context, ref relabel.TokenizerRef) (t *Tokenizer, err error) {
	err = o.kept.use(ctx, func(kept *recent[*Tokenizer]) (err error) {
		t, err = o.find(ctx, ref, kept)
		return err
	})
	return t, err
}

// find is Open with the cached tokenizers.
func (o *Opener) find(ctx context.Context, ref relabel.TokenizerRef, kept *recent[*Tokenizer]) (t *Tokenizer, err error) {
	hash, files := ref.Hash, relabel.TokenizerFiles(nil)
	if hash == "" {
		if files, err = o.below(ref.Name); err != nil {
			return nil, err
		}
		hash = files.Hash()
	}
	if t, ok := kept.find(func(t *Tokenizer) bool { return t.Hash == hash }); ok {
		return t, nil
	}
	if t, err = o.load(ctx, ref, hash, files); err == nil {
		kept.add(t)
	}
	return t, err
}

// load parses files; nil files are read from the database.
func (o *Opener) load(ctx context.Context, ref relabel.TokenizerRef, hash string, files relabel.TokenizerFiles) (*Tokenizer, error) {
	if files == nil {
		var err error
		if files, err = o.store.FindTokenizerFiles(ctx, hash); relabel.CodeOf(err) == relabel.CodeNotFound {
			return nil, relabel.Errorf(relabel.CodeInvalid, "the tokenizer %s (%s) is not registered any more: register its folder again with `relabel tokenizer add`", ref.Name, hash)
		} else if err != nil {
			return nil, err
		}
	}
	tokens, err := tokenizer.Parse(files[relabel.TokenizerJSON])
	if err != nil {
		return nil, err
	}
	delete(files, relabel.TokenizerJSON)
	return &Tokenizer{Tokenizer: tokens, Hash: hash, Files: files}, nil
}

// below reads the files at a path.
func (o *Opener) below(path string) (relabel.TokenizerFiles, error) {
	if o.root == nil {
		return nil, notAccepted()
	}
	return modelfiles.ReadBelow(o.root, path)
}

// notAccepted returns the error for paths if --tokenizers is not set.
func notAccepted() error {
	return relabel.Errorf(relabel.CodeInvalid, "is not the name or hash of a registered tokenizer (`relabel tokenizer list`), and paths are not accepted without --tokenizers DIR: register the folder with `relabel tokenizer add NAME DIR`")
}

// Student opens the tokenizer that form names, and returns a student with form's template.
// Errors are CodeInvalid on the field tokenizer, template or template_options.
func (o *Opener) Student(ctx context.Context, form relabel.ExportForm) (*Tokenizer, *render.Student, error) {
	t, err := o.Open(ctx, form.TokenizerRef())
	if err != nil {
		return nil, nil, onField(err, "tokenizer")
	}
	if form.Template != "" {
		if form.TemplateText, err = o.template(form.Template); err != nil {
			return nil, nil, err
		}
	}
	student, err := render.New(t.Tokenizer, t.Files, form)
	return t, student, err
}

// Accepts returns CodeInvalid on the field tokenizer or template if it is a path that cannot be read
// here. templateFile may be "". A ref with a hash was found already.
func (o *Opener) Accepts(ctx context.Context, ref relabel.TokenizerRef, templateFile string) error {
	if ref.Hash == "" && ref.Name != "" {
		if _, err := o.Open(ctx, ref); err != nil {
			return onField(err, "tokenizer")
		}
	}
	if templateFile == "" {
		return nil
	}
	_, err := o.template(templateFile)
	return err
}

// template reads the chat template at a path.
func (o *Opener) template(path string) (string, error) {
	if o.root == nil {
		return "", onField(notAccepted(), "template")
	}
	text, err := modelfiles.ReadTemplateBelow(o.root, path)
	return text, onField(err, "template")
}

// OfPolicy opens the registered tokenizer of a policy's model. CodeInvalid on policy if it has none.
func (o *Opener) OfPolicy(ctx context.Context, p relabel.Policy) (*tokenizer.Tokenizer, error) {
	if p.TokenizerHash == "" {
		return nil, relabel.Errorf(relabel.CodeInvalid, "the policy %s@%d names no registered tokenizer; register its model's with `relabel tokenizer add` "+
			"and add a version of the policy with --tokenizer", p.Name, p.Version).On("policy")
	}
	t, err := o.Open(ctx, p.TokenizerRef())
	if err != nil {
		return nil, onField(err, "policy")
	}
	return t.Tokenizer, nil
}

// Vocabulary is the vocabulary hash of a policy's tokenizer; see tokenizer.Tokenizer.VocabularyHash. Its
// errors are those of OfPolicy.
func (o *Opener) Vocabulary(ctx context.Context, p relabel.Policy) (hash string, err error) {
	t, err := o.OfPolicy(ctx, p)
	if err != nil {
		return "", err
	}
	return t.VocabularyHash(), nil
}

// OfSHA256 returns the tokenizer whose tokenizer.json has the hash, if ref still refers to
// it; otherwise nil. It decodes the IDs of an export.
func (o *Opener) OfSHA256(ctx context.Context, ref relabel.TokenizerRef, sha256 string) *tokenizer.Tokenizer {
	t, err := o.Open(ctx, ref)
	if err != nil || t.SHA256() != sha256 {
		return nil
	}
	return t.Tokenizer
}

// Check parses files as Open does, and their chat templates. CodeInvalid names the unsupported or
// invalid part. Like Open, it parses one tokenizer at a time.
func (o *Opener) Check(ctx context.Context, files relabel.TokenizerFiles) error {
	if err := modelfiles.Check(files); err != nil {
		return err
	}
	return o.kept.use(ctx, func(*recent[*Tokenizer]) error {
		if _, err := tokenizer.Parse(files[relabel.TokenizerJSON]); err != nil {
			return onField(err, relabel.TokenizerJSON)
		}
		return jinja.CheckFiles(files)
	})
}

// onField sets the field or file of an error and moves its previous field to the message.
func onField(err error, field string) error {
	known, ok := err.(*relabel.Error)
	if !ok {
		return err
	}
	e := *known
	if e.Field != "" {
		e.Message = e.Field + ": " + e.Message
	}
	return e.On(field)
}
