package store_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestATokenizerIsKeptOnceAndItsNameMoves(t *testing.T) {
	ctx, s := context.Background(), storetest.New(t)
	one := relabel.TokenizerFiles{"tokenizer.json": []byte("\x00 not text \xff"), "config.json": bytes.Repeat([]byte("{}"), 100_000)}
	two := relabel.TokenizerFiles{"tokenizer.json": []byte("{}")}
	first, err := s.CreateTokenizer(ctx, "student", one)
	must(t, err)
	again, err := s.CreateTokenizer(ctx, "student", one)
	must(t, err)
	if first.Version != 1 || again.ID != first.ID || first.Hash != one.Hash() || len(first.Files) != 2 || first.Bytes != one.Bytes() {
		t.Errorf("%+v, then %+v", first, again)
	}
	other, err := s.CreateTokenizer(ctx, "teacher", one)
	must(t, err)
	moved, err := s.CreateTokenizer(ctx, "student", two)
	must(t, err)
	if moved.Version != 2 || value[int64](t, s, "SELECT count(*) FROM tokenizer_sets") != 2 {
		t.Errorf("%+v", moved)
	}
	for word, want := range map[string]relabel.ID{"student": moved.ID, "student@1": first.ID, two.Hash(): moved.ID, one.Hash(): other.ID} {
		if found, err := s.FindTokenizer(ctx, word); err != nil || found.ID != want {
			t.Errorf("%s: %+v, %v", word, found, err)
		}
	}
	for _, word := range []string{"student@3", "nobody", "/models", "a b", "student@", "'; DROP TABLE runs"} {
		_, err := s.FindTokenizer(ctx, word)
		wantCode(t, err, relabel.CodeNotFound)
	}
	files, err := s.FindTokenizerFiles(ctx, one.Hash())
	must(t, err)
	if files.Hash() != one.Hash() {
		t.Error("the files are not as they were given")
	}
	all, _, err := s.ListTokenizers(ctx, relabel.Page{})
	must(t, err)
	if len(all) != 3 || all[0].ID != moved.ID {
		t.Errorf("%+v", all)
	}
}

func TestAUsedTokenizerIsNotDeleted(t *testing.T) {
	ctx, s := context.Background(), storetest.New(t)
	used, free := relabel.TokenizerFiles{"tokenizer.json": []byte("1")}, relabel.TokenizerFiles{"tokenizer.json": []byte("2")}
	for name, files := range map[string]relabel.TokenizerFiles{"used": used, "second-name": used, "free": free} {
		_, err := s.CreateTokenizer(ctx, name, files)
		must(t, err)
	}
	p := storetest.Policy(t, s, "student")
	p.ID = relabel.ID{}
	p.Tokenizer, p.TokenizerHash, p.TemplateText = "used", used.Hash(), "{{ messages }}"
	made, err := s.CreatePolicy(ctx, p)
	must(t, err)
	if found, err := s.FindPolicy(ctx, made.ID); err != nil || found.TokenizerRef() != (relabel.TokenizerRef{Name: "used", Hash: used.Hash()}) || found.TemplateText != p.TemplateText || made.Version != 2 {
		t.Errorf("%+v, %v", found, err)
	}
	if same, err := s.CreatePolicy(ctx, p); err != nil || same.Version != 2 {
		t.Errorf("the same definition: version %d, %v", same.Version, err)
	}
	must(t, s.DeleteTokenizer(ctx, "free"))
	must(t, s.DeleteTokenizer(ctx, "second-name")) // the files have another name
	wantCode(t, s.DeleteTokenizer(ctx, "used"), relabel.CodeConflict)
	wantCode(t, s.DeleteTokenizer(ctx, "free"), relabel.CodeNotFound)
	for _, word := range []string{"used@1", used.Hash()} {
		err := s.DeleteTokenizer(ctx, word)
		if wantCode(t, err, relabel.CodeInvalid); !strings.Contains(err.Error(), "with all its versions: give its name, used") {
			t.Errorf("%s: %v", word, err)
		}
	}
	wantCode(t, s.DeleteTokenizer(ctx, "used@9"), relabel.CodeNotFound)
	if _, err := s.FindTokenizerFiles(ctx, used.Hash()); err != nil {
		t.Error(err)
	}
	_, err = s.FindTokenizerFiles(ctx, free.Hash())
	wantCode(t, err, relabel.CodeNotFound)
	p.Tokenizer, p.TokenizerHash = "free", free.Hash()
	_, err = s.CreatePolicy(ctx, p)
	wantCode(t, err, relabel.CodeInvalid)
}
