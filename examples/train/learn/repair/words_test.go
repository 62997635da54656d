package repair

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

func TestTheStudentsTokenizerHasTheWords(t *testing.T) {
	text, err := os.ReadFile("../words.json")
	if err != nil {
		t.Fatal(err)
	}
	var pieces struct{ Adjectives, Nouns, Files []string }
	if err := json.Unmarshal(text, &pieces); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(pieces.Adjectives, adjectives) || !slices.Equal(pieces.Nouns, nouns) || !slices.Equal(pieces.Files, files) {
		t.Errorf("words.json has other words: %+v", pieces)
	}
}
