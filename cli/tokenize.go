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
	"unicode/utf8"

	"relabel"
	"relabel/chat"
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
	return encodeLines(tokenizer, os.Stdin, os.Stdout)
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
	var ids []int32
	return answerLines(in, out, func(line []byte, number int) ([]byte, error) {
		if len(bytes.TrimSpace(line)) == 0 {
			return nil, nil
		}
		text, err := textOfLine(line)
		if err != nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "%v", err).On(fmt.Sprintf("line %d", number))
		}
		ids = tokenizer.Encode(ids[:0], text)
		answer := []byte(`{"ids": [`)
		for i, id := range ids {
			if i > 0 {
				answer = append(answer, ", "...)
			}
			answer = strconv.AppendInt(answer, int64(id), 10)
		}
		return append(answer, "]}"...), nil
	})
}

// answerLines writes a line for each line of in that answer returns one for, until it fails.
func answerLines(in io.Reader, out io.Writer, answer func(line []byte, number int) ([]byte, error)) error {
	lines, w := bufio.NewReaderSize(in, 1<<20), bufio.NewWriterSize(out, 1<<20)
	for number := 1; ; number++ {
		line, end := lines.ReadBytes('\n')
		if end != nil && !errors.Is(end, io.EOF) {
			return errors.Join(end, w.Flush())
		}
		if len(line) > 0 {
			reply, err := answer(line, number)
			if err != nil {
				return errors.Join(err, w.Flush())
			}
			if reply != nil {
				_, _ = w.Write(append(reply, '\n')) // Flush returns its error
			}
		}
		if end != nil {
			return w.Flush()
		}
		if lines.Buffered() > 0 {
			continue
		}
		if err := w.Flush(); err != nil { // a program that writes line by line waits for the answer
			return err
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
	exact := chat.DecodeString(parsed.Text)
	for i, r := range exact {
		if r == utf8.RuneError && exact[i] == 0xED { // the three bytes of a surrogate
			return "", fmt.Errorf(`holds the lone surrogate \u%04x`, 0xD000|int(exact[i+1]&0x3F)<<6|int(exact[i+2]&0x3F))
		}
	}
	return exact, nil
}
