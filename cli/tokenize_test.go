package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel/tokenizer"
)

// smallTokenizer is byte-level and has a token for each byte, and one for "ab".
func smallTokenizer(t *testing.T) *tokenizer.Tokenizer {
	t.Helper()
	tokenizer, err := openTokenizer(filepath.Join("..", "tokenizer", "testdata", "small"))
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

func TestLinesOfTextBecomeLinesOfIDs(t *testing.T) {
	var out bytes.Buffer
	in := `{"text": "ab"}` + "\n\n" + `{"text": "\ud83d\ude00", "id": 7}` + "\n" + `{"text": ""}`
	if err := encodeLines(smallTokenizer(t), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	if want := "{\"ids\": [256]}\n{\"ids\": [240, 159, 152, 128]}\n{\"ids\": []}\n"; out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}

func TestErrorsNameInvalidLines(t *testing.T) {
	for line, want := range map[string]string{
		`{"text": 1}`:                      `line 2: has no "text" that is a string`,
		`{"text": null}`:                   `line 2: has no "text" that is a string`,
		`{"texts": "a"}`:                   `line 2: has no "text" that is a string`,
		`{"text": "a"`:                     `line 2: is not a JSON object`,
		`["a"]`:                            `line 2: is not a JSON object`,
		"{\"text\": \"\xff\"}":             `line 2: holds invalid UTF-8`,
		`{"text": "a\ud83d"}`:              `line 2: holds the lone surrogate \ud83d`,
		`{"text": "\ude00\ud83d"}`:         `line 2: holds the lone surrogate \ude00`,
		`{"text": "\ud83d\ud83d\ude00"}`:   `line 2: holds the lone surrogate \ud83d`,
		`{"text": "\ud83d\\ude00"}`:        `line 2: holds the lone surrogate \ud83d`,
		`{"text": "\\\ud83d\ude00\uD83D"}`: `line 2: holds the lone surrogate \ud83d`,
	} {
		var out bytes.Buffer
		err := encodeLines(smallTokenizer(t), strings.NewReader("{\"text\": \"a\"}\n"+line+"\n"), &out)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
		if out.String() != "{\"ids\": [97]}\n" {
			t.Errorf("%s: the line before it was answered with %q", line, out.String())
		}
	}
	// Escaped backslashes before a "u" are no escapes of code units.
	if text, err := textOfLine([]byte(`{"text": "\\ud83d"}`)); err != nil || text != `\ud83d` {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAnUnknownTokenizerModelIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(file, []byte(`{"version": "1.0", "model": {"type": "Unigram"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	err := (&TokensCommand{Tokenizer: file}).Run()
	if err == nil || !strings.Contains(err.Error(), `model.type: the model "Unigram" is unknown`) {
		t.Errorf("%v", err)
	}
}
