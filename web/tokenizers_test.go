package web_test

import (
	"context"
	"html"
	"testing"

	"relabel"
)

func TestRegisteredTokenizersAreListedAndOffered(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.trained()
	made, err := s.store.CreateTokenizer(context.Background(), "qwen-student", relabel.TokenizerFiles{"tokenizer.json": []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, s.get(200, "/policies"), "qwen-student@1", made.Hash)
	form := html.UnescapeString(s.get(200, "/runs/"+s.run.ID.String()+"/export?views=linear&template_text=own+words"))
	contains(t, form, `<option value="qwen-student@1">`, `"template_text":"own words"`)
}
