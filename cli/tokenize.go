package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"relabel"
	"relabel/modelfiles"
	"relabel/tokenizer"
)

// TokensCommand is `relabel tokens`.
type TokensCommand struct {
	Tokenizer string `required:"" type:"path" placeholder:"PATH" help:"A tokenizer.json, or the folder that holds one."`
}

// Run answers each line {"text": …} of standard input with a line {"ids": […]}.
func (c *TokensCommand) Run() error {
	tokenizer, err := openTokenizer(c.Tokenizer)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	return errors.Join(encodeLines(tokenizer, os.Stdin, out), out.Flush())
}

// openTokenizer reads a tokenizer.json, or the one in a folder.
func openTokenizer(path string) (*tokenizer.Tokenizer, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, relabel.TokenizerJSON)
	}
	data, err := modelfiles.ReadFile(path, relabel.MaxTokenizerBytes)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeNotFound, "the tokenizer cannot be read").On(path).Because(err)
	}
	return tokenizer.Parse(data)
}

// encodeLines encodes JSON lines up to the first invalid one, which the error names.
func encodeLines(tokenizer *tokenizer.Tokenizer, in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 1<<20)
	var ids []int32
	var answer []byte
	for number := 1; ; number++ {
		line, end := lines.ReadBytes('\n')
		if end != nil && !errors.Is(end, io.EOF) {
			return end
		}
		if len(bytes.TrimSpace(line)) > 0 {
			text, err := textOfLine(line)
			if err != nil {
				return relabel.Errorf(relabel.CodeInvalid, "%v", err).On(fmt.Sprintf("line %d", number))
			}
			ids = tokenizer.Encode(ids[:0], text)
			answer = append(answer[:0], `{"ids": [`...)
			for i, id := range ids {
				if i > 0 {
					answer = append(answer, ", "...)
				}
				answer = strconv.AppendInt(answer, int64(id), 10)
			}
			if _, err := out.Write(append(answer, "]}\n"...)); err != nil {
				return err
			}
		}
		if end != nil {
			return nil
		}
	}
}

// textOfLine reads {"text": …}. It refuses a text that is not valid Unicode, which would be
// encoded as a different text.
func textOfLine(line []byte) (string, error) {
	if !utf8.Valid(line) {
		return "", errors.New("holds invalid UTF-8")
	}
	var parsed struct {
		Text json.RawMessage `json:"text"`
	}
	if err := json.Unmarshal(line, &parsed); err != nil {
		return "", fmt.Errorf("is not a JSON object: %w", err)
	}
	var text *string
	if err := json.Unmarshal(parsed.Text, &text); len(parsed.Text) == 0 || err != nil || text == nil {
		return "", errors.New(`has no "text" that is a string`)
	}
	if escape := loneSurrogate(parsed.Text); escape != "" {
		return "", fmt.Errorf("holds the lone surrogate %s", escape)
	}
	return *text, nil
}

// loneSurrogate returns the first escaped surrogate of a JSON string without its other half,
// "" if there is none.
func loneSurrogate(raw []byte) string {
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		first := escapedUnit(raw[i-1:])
		if !utf16.IsSurrogate(first) {
			continue
		}
		if utf16.DecodeRune(first, escapedUnit(raw[i+5:])) == utf8.RuneError {
			return string(raw[i-1 : i+5])
		}
		i += 10
	}
	return ""
}

// escapedUnit reads \uXXXX at the beginning of raw; 0 if there is none.
func escapedUnit(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(unit)
}
