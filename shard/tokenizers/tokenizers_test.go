package tokenizers_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/modelfiles"
	"relabel/shard/shardtest"
	"relabel/shard/tokenizers"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// registered counts how often files are read from it.
type registered struct {
	files map[string]relabel.TokenizerFiles
	reads int
}

func (r *registered) FindTokenizerFiles(_ context.Context, hash string) (relabel.TokenizerFiles, error) {
	r.reads++
	files, ok := r.files[hash]
	if !ok {
		return nil, relabel.Errorf(relabel.CodeNotFound, "there is none")
	}
	return maps.Clone(files), nil
}

// add registers a student whose tokenizer.json has that many more newlines at its end.
func (r *registered) add(t *testing.T, newlines int) relabel.TokenizerRef {
	t.Helper()
	files, err := modelfiles.ReadFolder(shardtest.Student(t))
	must(t, err)
	files[relabel.TokenizerJSON] = append(files[relabel.TokenizerJSON], strings.Repeat("\n", newlines)...)
	r.files[files.Hash()] = files
	return relabel.TokenizerRef{Name: "student", Hash: files.Hash()}
}

func TestARegisteredTokenizerIsParsedOnceAndNotAllAreKept(t *testing.T) {
	store := &registered{files: map[string]relabel.TokenizerFiles{}}
	o, err := tokenizers.NewOpener(store, "")
	must(t, err)
	first := store.add(t, 0)
	opened, err := o.Open(t.Context(), first)
	must(t, err)
	if again, err := o.Open(t.Context(), first); err != nil || again != opened || store.reads != 1 {
		t.Fatalf("it is read %d times, %v", store.reads, err)
	}
	if o.OfSHA256(t.Context(), first, opened.SHA256()) == nil || o.OfSHA256(t.Context(), first, "another") != nil {
		t.Error("the hash of tokenizer.json does not decide")
	}
	for n := range 6 {
		_, err := o.Open(t.Context(), store.add(t, n+1))
		must(t, err)
	}
	if again, err := o.Open(t.Context(), first); err != nil || again == opened {
		t.Errorf("all are kept: %v", err)
	}
	_, err = o.Open(t.Context(), relabel.TokenizerRef{Name: "gone", Hash: strings.Repeat("0", 64)})
	if relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "not registered any more") {
		t.Errorf("a tokenizer that was deleted: %v", err)
	}
}

func TestOnlyPathsBelowTheFolderAreAccepted(t *testing.T) {
	models := t.TempDir()
	must(t, os.CopyFS(filepath.Join(models, "student"), os.DirFS(shardtest.Student(t))))
	must(t, os.WriteFile(filepath.Join(models, "own.jinja"), []byte("{{ messages }}"), 0o644))
	below, err := tokenizers.NewOpener(nil, models)
	must(t, err)
	none, err := tokenizers.NewOpener(nil, "")
	must(t, err)
	for _, path := range []string{"student", filepath.Join(models, "student")} {
		ref := relabel.TokenizerRef{Name: path}
		must(t, below.Accepts(t.Context(), ref, "own.jinja"))
		if err := none.Accepts(t.Context(), ref, ""); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), "relabel tokenizer add") {
			t.Errorf("without a folder: %v", err)
		}
	}
	for _, path := range []string{"/dev/zero", "..", "/", "absent", "own.jinja"} {
		if err := below.Accepts(t.Context(), relabel.TokenizerRef{Name: path}, ""); relabel.CodeOf(err) != relabel.CodeInvalid {
			t.Errorf("tokenizer %s: %v", path, err)
		}
	}
	for _, path := range []string{"/dev/zero", "..", "/", "absent", "student"} {
		if err := below.Accepts(t.Context(), relabel.TokenizerRef{}, path); relabel.CodeOf(err) != relabel.CodeInvalid {
			t.Errorf("template %s: %v", path, err)
		}
	}
	form := relabel.ExportForm{Tokenizer: "student", Template: "own.jinja"}
	if _, _, err := below.Student(t.Context(), form); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("a template that renders no labels: %v", err)
	}
	form.Template = ""
	if _, _, err := below.Student(t.Context(), form); err != nil {
		t.Error(err)
	}
}

func TestFilesAreCheckedByParsingThem(t *testing.T) {
	o, err := tokenizers.NewOpener(nil, "")
	must(t, err)
	files, err := modelfiles.ReadFolder(shardtest.Student(t))
	must(t, err)
	must(t, o.Check(t.Context(), files))
	must(t, o.Check(t.Context(), relabel.TokenizerFiles{relabel.TokenizerJSON: files[relabel.TokenizerJSON]}))
	for says, change := range map[string]relabel.TokenizerFiles{
		`model.type: the model "WordPiece" is unknown`: {relabel.TokenizerJSON: []byte(`{"model":{"type":"WordPiece"}}`)},
		"is missing or empty":                          {relabel.TokenizerJSON: nil},
		"chat_template.jinja:1":                        {relabel.ChatTemplateFile: []byte("{% nonsense %}")},
		"is not used":                                  {"weights.bin": []byte("x")},
		"is not a JSON object":                         {relabel.TokenizerConfig: []byte("[")},
		"at most 262144 are accepted":                  {relabel.ChatTemplateFile: make([]byte, relabel.MaxChatTemplate+1)},
	} {
		changed := maps.Clone(files)
		maps.Copy(changed, change)
		if err := o.Check(t.Context(), changed); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", says, err)
		}
	}
}

// panicking is a store whose files cannot be read at first.
type panicking struct {
	registered
	calm bool
}

func (p *panicking) FindTokenizerFiles(ctx context.Context, hash string) (relabel.TokenizerFiles, error) {
	if !p.calm {
		panic("a file that is not understood")
	}
	return p.registered.FindTokenizerFiles(ctx, hash)
}

func TestAPanicOfOneTokenizerBlocksNoOther(t *testing.T) {
	store := &panicking{registered: registered{files: map[string]relabel.TokenizerFiles{}}}
	o, err := tokenizers.NewOpener(store, "")
	must(t, err)
	ref := store.add(t, 0)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it did not panic")
			}
		}()
		_, _ = o.Open(t.Context(), ref)
	}()
	store.calm = true
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	_, err = o.Open(ctx, ref)
	must(t, err)
}
