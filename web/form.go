package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"relabel"
	"relabel/api"
	"relabel/safetext"
)

// form builds a request of the REST interface from the fields of a page. Fields are named as
// in JSON, those of nested objects outer.inner. Absent and empty fields stay absent from the
// request, so that the server applies its defaults.
type form struct {
	chosen url.Values
	// hidden names the fields that the page does not offer, which are not read either.
	hidden []string
}

// operationField is an input of an operation's form.
type operationField struct {
	Name, Label string
	Kind        string // of input: text, number, date, textarea; checks: any of Choices; otherwise, with Choices, one of them
	Value, Help string
	Values      []string // of checks
	Choices     []choice
	Offers      []string // suggestions for a text
	Min, Max    string   // of a number
	Required    bool
	Problem     string // why the value is refused
}

type choice struct{ Value, Text string }

func choicesOf(values ...string) []choice {
	all := make([]choice, len(values))
	for i, value := range values {
		all[i] = choice{value, value}
	}
	return all
}

// Has reports whether a choice is made.
func (f operationField) Has(value string) bool { return slices.Contains(f.Values, value) }

// refusal is the reason for which a field was refused, or the whole operation without a field.
type refusal struct{ Field, Message string }

type refusals []refusal

// Error implements error.
func (r refusals) Error() string { return r[0].Field + ": " + r[0].Message }

// read sets the fields of the request that body points to. The error is refusals of fields that
// cannot be read or are out of their bounds.
func (f form) read(body any) error {
	var refused refusals
	f.readStruct(reflect.ValueOf(body).Elem(), "", &refused)
	if refused != nil {
		return refused
	}
	return nil
}

func (f form) readStruct(s reflect.Value, path string, refused *refusals) (found bool) {
	for _, field := range api.Fields(s.Type()) {
		name, at := path+field.Name, s.FieldByIndex(field.Index)
		if of := nested(field.Type); of != nil {
			inner := reflect.New(of)
			if f.readStruct(inner.Elem(), name+".", refused) {
				at.Set(inner)
				found = true
			}
			continue
		}
		is, err := f.readField(at, field, name)
		if err != nil {
			wrong, _ := errors.AsType[*relabel.Error](err)
			*refused = append(*refused, refusal{name, wrong.Message})
			at.SetZero()
		}
		found = found || is
	}
	return found
}

// nested is the struct that a field of type t points to, nil if it holds a plain value.
func nested(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct {
		return t.Elem()
	}
	return nil
}

func (f form) readField(at reflect.Value, field api.Field, name string) (found bool, err error) {
	text := strings.ReplaceAll(strings.Join(f.chosen[name], "\n"), "\r\n", "\n") // browsers send CRLF
	if kindOfInput(field) != "textarea" {
		text = strings.TrimSpace(text)
	}
	if strings.TrimSpace(text) == "" || text == field.Default || slices.Contains(f.hidden, name) {
		return false, nil
	}
	if err := parseInto(at, text); err != nil {
		return false, err
	}
	if at.Kind() != reflect.Pointer {
		at = at.Addr() // a zero was chosen too
	}
	return true, field.Check(at, "")
}

func parseInto(at reflect.Value, text string) (err error) {
	switch at.Kind() {
	case reflect.Pointer:
		at.Set(reflect.New(at.Type().Elem()))
		return parseInto(at.Elem(), text)
	case reflect.Array:
		id, err := uuid.Parse(text)
		if err != nil {
			return notValid(text, "an id")
		}
		at.Set(reflect.ValueOf(id).Convert(at.Type()))
		return nil
	case reflect.String:
		at.SetString(text)
	case reflect.Bool:
		if text != "true" && text != "false" {
			return notValid(text, "true or false")
		}
		at.SetBool(text == "true")
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return notValid(text, "a whole number")
		}
		at.SetInt(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return notValid(text, "a number")
		}
		at.SetFloat(x)
	default:
		return parseMany(at, text)
	}
	return nil
}

func notValid(text, wanted string) error {
	return relabel.Errorf(relabel.CodeInvalid, "is %.40q: give %s", safetext.Plain(text), wanted)
}

// parseMany sets a list from values between blanks or from a JSON list, and other types from JSON.
func parseMany(at reflect.Value, text string) error {
	elem := at.Type()
	listed := elem.Kind() == reflect.Slice && strings.HasPrefix(text, "[")
	if listed || elem.Kind() != reflect.Slice || elem.Elem().Kind() == reflect.Struct || elem.Elem().Kind() == reflect.Uint8 {
		from := json.NewDecoder(strings.NewReader(text))
		from.DisallowUnknownFields()
		if err := from.Decode(at.Addr().Interface()); err != nil {
			return relabel.Errorf(relabel.CodeInvalid, "is not valid JSON of this form: %.100s", safetext.Plain(err.Error()))
		}
		if _, err := from.Token(); err != io.EOF {
			return relabel.Errorf(relabel.CodeInvalid, "is more than one JSON value")
		}
		return nil
	}
	words := strings.Fields(text)
	list := reflect.MakeSlice(at.Type(), len(words), len(words))
	for i, word := range words {
		if err := parseInto(list.Index(i), strings.TrimSuffix(word, ",")); err != nil {
			return err
		}
	}
	at.Set(list)
	return nil
}

// fields are the inputs for a request with the chosen values. adapt changes inputs by name.
func (f form) fields(body any, adapt map[string]func(*operationField)) []operationField {
	return f.fieldsOf(reflect.TypeOf(body), "", "", adapt)
}

func (f form) fieldsOf(t reflect.Type, path, group string, adapt map[string]func(*operationField)) (all []operationField) {
	for _, field := range api.Fields(t) {
		name, label := path+field.Name, group+labelOf(field.Name)
		if slices.Contains(f.hidden, name) {
			continue
		}
		if of := nested(field.Type); of != nil {
			inner := f.fieldsOf(of, name+".", label+": ", adapt)
			inner[0].Help = strings.TrimSpace(field.Doc + " " + inner[0].Help)
			for i := range inner {
				if inner[i].Required && inner[i].Choices != nil {
					inner[i].Choices = append([]choice{{"", "default"}}, inner[i].Choices...)
				}
				inner[i].Required = false // only with others of the object
			}
			all = append(all, inner...)
			continue
		}
		input := f.input(field, name, label)
		if change := adapt[name]; change != nil {
			change(&input)
		}
		if input.Kind == "number" {
			field.Doc, field.Min, field.Max = input.Help, input.Min, input.Max
			input.Help = field.Help()
		}
		all = append(all, input)
	}
	return all
}

func (f form) input(field api.Field, name, label string) operationField {
	input := operationField{Name: name, Label: label, Kind: kindOfInput(field), Help: field.Doc, Value: cmp.Or(f.chosen.Get(name), field.Default),
		Values: f.chosen[name], Min: field.Min, Max: field.Max, Required: field.Required}
	switch {
	case field.Type.Kind() == reflect.Pointer && field.Type.Elem().Kind() == reflect.Bool:
		input.Choices = []choice{{"", "default"}, {"true", "yes"}, {"false", "no"}}
	case field.Type.Kind() == reflect.Bool:
		input.Choices = []choice{{"true", "yes"}}
	case field.Enum != nil:
		input.Choices = choicesOf(field.Enum...)
		if !field.List() && !field.Required && field.Default == "" {
			input.Choices = append([]choice{{"", "default"}}, input.Choices...)
		}
	}
	return input
}

// longText is the maximum length, in characters, from which an input has several lines.
const longText = 10_000

func kindOfInput(field api.Field) string {
	t := field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		if field.Type.Kind() == reflect.Bool {
			return "checks"
		}
	case reflect.Int, reflect.Int64, reflect.Float64:
		return "number"
	case reflect.Slice:
		if field.Enum != nil {
			return "checks"
		}
		return "textarea"
	case reflect.Map:
		return "textarea"
	case reflect.String:
		if field.Enum == nil && field.MaxLength >= longText {
			return "textarea"
		}
	}
	if field.Format == "date" {
		return "date"
	}
	return "text"
}

// labels are labels that differ from the name in JSON.
var labels = map[string]string{"beta": "β", "rho": "ρ", "base_url": "Base URL", "url": "URL", "t": "Turn", "again": "Tasks of iteration", "generations": "Rollouts per task",
	"exclude_flags": "Exclude flags", "system": "System message", "first": "First message", "author": "By", "divide": "Divisor of files", "all": "All verdicts"}

// labelOf is a field's label: its name in JSON as words.
func labelOf(name string) string {
	if label := labels[name]; label != "" {
		return label
	}
	words := strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// with sets the suggestions for a text, and its default value.
func with(offers []string, value string) func(*operationField) {
	return func(f *operationField) { f.Offers, f.Value = offers, cmp.Or(f.Value, value) }
}
