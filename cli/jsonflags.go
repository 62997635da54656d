package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"relabel"
	"relabel/api"
)

// jsonFiles reads flags whose values are files with a JSON object, and remembers the files, so that errors of the
// server can name their lines too.
type jsonFiles map[*kong.Value]jsonFile

// jsonFile is a file with a JSON object.
type jsonFile struct {
	path string
	text []byte
}

// Decode implements kong.Mapper.
func (f jsonFiles) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	var path string
	if err := ctx.Scan.PopValueInto("file", &path); err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file := jsonFile{path, text}
	f[ctx.Value] = file
	var wrong *relabel.Error
	if err := decodeObject(text, target); errors.As(err, &wrong) {
		return wrong.On(file.place(wrong.Field))
	}
	return nil
}

// placeInFile names a field below the field of a request that a flag reads from a file; "" if none does.
func placeInFile(command *kong.Node, field, below string) string {
	for _, f := range command.Flags {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		files, _ := f.Mapper.(jsonFiles)
		if file, is := files[f.Value]; is && name == field {
			return "--" + f.Name + ": " + file.place(below)
		}
	}
	return ""
}

// place names a field of the file with its line; "" is the whole file.
func (f jsonFile) place(field string) string {
	if field == "" {
		return f.path
	}
	return fmt.Sprintf("%s: line %d: %s", f.path, api.LineOf(f.text, field), field)
}

func readJSONFlag(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("value", &text); err != nil {
		return err
	}
	return decodeObject([]byte(text), target)
}

// decodeObject reads a JSON object, whose fields must be known. Its error is CodeInvalid and names the field.
func decodeObject(text []byte, target reflect.Value) error {
	var wrong *relabel.Error
	if err := api.CheckJSON(text, ""); errors.As(err, &wrong) {
		return relabel.Errorf(relabel.CodeInvalid, "%s", syntaxWords(text, wrong)).On(wrong.Field)
	}
	if path, known := api.UnknownField(text, target.Type()); path != "" {
		return relabel.Errorf(relabel.CodeInvalid, "is unknown; known are %s", strings.Join(known, ", ")).On(path)
	}
	err := json.NewDecoder(bytes.NewReader(text)).Decode(target.Addr().Interface())
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mistyped) && mistyped.Field == "":
		return relabel.Errorf(relabel.CodeInvalid, "must be a JSON object; it is a JSON %s", mistyped.Value)
	case errors.As(err, &mistyped):
		return relabel.Errorf(relabel.CodeInvalid, "cannot be a %s", mistyped.Value).On(api.PathAt(text, int(mistyped.Offset)))
	case err != nil:
		return relabel.Errorf(relabel.CodeInvalid, "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// syntaxWords is an error of CheckJSON without its field, with the line of text that is not JSON.
func syntaxWords(text []byte, wrong *relabel.Error) string {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(wrong, io.EOF):
		return "is empty: it must be a JSON object"
	case errors.As(wrong, &syntax):
		return fmt.Sprintf("not JSON in line %d: %v", api.LineAt(text, int(syntax.Offset)), syntax)
	}
	return wrong.Message
}
