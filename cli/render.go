package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"relabel"
	"relabel/chat"
	"relabel/jinja"
	"relabel/modelfiles"
)

// RenderCommand renders conversations with a chat template, to show a model's input.
type RenderCommand struct {
	Template string `required:"" placeholder:"FILE" help:"A chat template (.jinja), a tokenizer_config.json with its template and special tokens, or a folder that has one."`
	Date     string `placeholder:"YYYY-MM-DD" help:"Current date for the template. Default: today."`
	Thinking bool   `name:"thinking-alias" default:"true" negatable:"" help:"Pass a message's reasoning to the template as both reasoning_content and thinking. Default: on."`
}

// Run reads conversations from standard input, one JSON object per line, and writes an object
// with the text or the error of each.
func (c *RenderCommand) Run() error {
	now := time.Now()
	if c.Date != "" {
		var err error
		if now, err = time.Parse(time.DateOnly, c.Date); err != nil {
			return relabel.Errorf(relabel.CodeInvalid, "is not a date like 2025-01-31").On("--date")
		}
	}
	model, err := OpenModel(c.Template)
	if err != nil {
		return err
	}
	if !c.Thinking {
		model.NoThinking()
	}
	return RenderLines(model, now, os.Stdin, os.Stdout)
}

// OpenModel reads a template (*.jinja), a tokenizer_config.json with the templates beside it, or a
// model's folder.
func OpenModel(path string) (*jinja.Model, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return openFolder(path, nil)
	}
	config, limit := filepath.Ext(path) == ".json", int64(relabel.MaxChatTemplate)
	if config {
		limit = relabel.MaxTokenizerFile
	}
	text, err := modelfiles.ReadFile(path, limit)
	switch {
	case err != nil:
		return nil, relabel.Errorf(relabel.CodeInvalid, "the template cannot be read").On("--template").Because(err)
	case config:
		return openFolder(filepath.Dir(path), text)
	}
	return jinja.FromTemplate(filepath.Base(path), string(text))
}

// openFolder reads a model's folder. config replaces its tokenizer_config.json unless it is nil.
func openFolder(dir string, config []byte) (*jinja.Model, error) {
	files, err := modelfiles.ReadFolder(dir)
	if err != nil {
		return nil, err
	}
	if config != nil {
		files[relabel.TokenizerConfig] = config
	}
	return jinja.FromFiles(files, "")
}

// RenderLines renders each line of in. It also answers lines that are not JSON objects, and
// fails at the end if there were any.
func RenderLines(model *jinja.Model, now time.Time, in io.Reader, out io.Writer) error {
	bad := false
	err := answerLines(in, out, func(line []byte, number int) ([]byte, error) {
		reply, ok := renderLine(model, now, line, number)
		bad = bad || !ok
		return reply, nil
	})
	if err == nil && bad {
		err = ErrSomeFailed
	}
	return err
}

// renderLine answers one line; ok is false if it is not a JSON object.
func renderLine(model *jinja.Model, now time.Time, line []byte, number int) (reply []byte, ok bool) {
	v, err := jinja.DecodeJSON(line)
	variables, isMap := v.(*jinja.Map)
	if err == nil && !isMap {
		err = errors.New("not a JSON object")
	}
	if err != nil {
		return reason(fmt.Errorf("line %d: %w", number, err)), false
	}
	text, err := model.RenderChat(variables, now)
	if err != nil {
		return reason(err), true
	}
	return append(chat.AppendString([]byte(`{"text":`), text), '}'), true
}

func reason(err error) []byte {
	return append(chat.AppendString([]byte(`{"error":`), err.Error()), '}')
}
