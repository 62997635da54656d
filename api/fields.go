package api

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"relabel"
)

// Field is a field of a request or an answer, as its tags describe it.
type Field struct {
	Name      string // in JSON, or in the query
	Doc       string // for people: what it means, with its unit
	Default   string // "": none, or one that depends on other fields
	Enum      []string
	Min, Max  string // bounds of a number; "": none
	Above     string // a bound that a number must exceed; "": none
	MaxLength int    // characters of a text, items of a list; 0: no bound
	Pattern   string // that a text must match
	Format    string // such as uuid or date
	Required  bool
	Type      reflect.Type
	Index     []int // of reflect.Value.FieldByIndex
}

// List reports whether the field holds a list.
func (f Field) List() bool {
	return f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() != reflect.Uint8
}

// Help is the documentation with the bounds of a number, for flags and forms.
func (f Field) Help() string {
	text := f.Doc
	switch {
	case f.Above != "":
		text += fmt.Sprintf(" Above %s, at most %s.", f.Above, cmp.Or(f.Max, "∞"))
	case f.Min != "" && f.Max == "":
		text += fmt.Sprintf(" At least %s.", f.Min)
	case f.Max != "":
		text += fmt.Sprintf(" From %s to %s.", cmp.Or(f.Min, "−∞"), f.Max)
	}
	return text
}

// Fields lists the fields of a struct that a caller may set, those of embedded structs among
// them, in the order in which they are declared. v is a struct, a pointer to one, or its reflect.Type.
func Fields(v any) []Field {
	t, is := v.(reflect.Type)
	if !is {
		t = reflect.TypeOf(v)
	}
	t = pointedTo(t)
	var fields []Field
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(cmp.Or(f.Tag.Get("json"), f.Tag.Get("query")), ",")
		if f.Anonymous || !f.IsExported() || name == "" || name == "-" || f.Tag.Get("readOnly") == "true" {
			continue
		}
		fields = append(fields, fieldOf(f, name, options))
	}
	return fields
}

func fieldOf(f reflect.StructField, name, options string) Field {
	field := Field{Name: name, Doc: f.Tag.Get("doc"), Default: f.Tag.Get("default"), Min: f.Tag.Get("minimum"), Max: f.Tag.Get("maximum"), Above: f.Tag.Get("exclusiveMinimum"),
		Pattern: f.Tag.Get("pattern"), Format: f.Tag.Get("format"), Required: cmp.Or(f.Tag.Get("required"), strconv.FormatBool(f.Tag.Get("json") != "" && options != "omitempty")) == "true",
		Type: f.Type, Index: f.Index}
	if words := f.Tag.Get("enum"); words != "" {
		field.Enum = strings.Split(words, ",")
	}
	for _, tag := range []string{"maxLength", "maxItems"} {
		if n, err := strconv.Atoi(f.Tag.Get(tag)); err == nil {
			field.MaxLength = n
		}
	}
	return field
}

// FieldOf returns the field of a struct with a name in JSON or in the query. It panics if there is none.
func FieldOf(v any, name string) Field {
	for _, f := range Fields(v) {
		if f.Name == name {
			return f
		}
	}
	panic(fmt.Sprintf("%T has no field %s", v, name))
}

// Validate checks the struct v, and the structs in it, against the bounds of the request type that
// sets it: those of the fields with the same Go names. The CodeInvalid error names the first wrong
// field, by its JSON name below path. Absent fields are not checked; a zero is a value where the
// request requires the field or has a pointer.
func Validate(v, request any, path string) error {
	return validate(reflect.Indirect(reflect.ValueOf(v)), pointedTo(reflect.TypeOf(request)), path)
}

func validate(v reflect.Value, request reflect.Type, path string) error {
	for _, f := range Fields(request) {
		at := reflect.Indirect(v.FieldByName(request.FieldByIndex(f.Index).Name))
		if !at.IsValid() {
			continue
		}
		name := strings.TrimPrefix(path+"."+f.Name, ".")
		var err error
		switch t := pointedTo(f.Type); {
		case t.Kind() == reflect.Struct:
			err = validate(at, t, name)
		case at.IsZero() && (f.Required || f.Type.Kind() == reflect.Pointer):
			err = f.checkZero(at, name)
		default:
			err = f.Check(at, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func pointedTo(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// checkZero checks a zero that does not mean that the field is absent.
func (f Field) checkZero(at reflect.Value, name string) error {
	switch at.Kind() {
	case reflect.String:
		return relabel.Errorf(relabel.CodeInvalid, "is missing").On(name)
	case reflect.Int, reflect.Int64, reflect.Float64:
		return f.checkNumber(0, name)
	}
	return nil
}

// Check checks a value of the field against its bounds. CodeInvalid is on name.
func (f Field) Check(at reflect.Value, name string) error {
	if at.Kind() == reflect.Pointer {
		if at.IsNil() {
			return nil
		}
		at = at.Elem()
	} else if at.IsZero() {
		return nil
	}
	switch at.Kind() {
	case reflect.Struct:
		if n, is := at.Interface().(Number); is {
			return f.checkNumber(n.Value, name)
		}
		return validate(at, at.Type(), name)
	case reflect.String:
		return f.checkText(at.String(), name)
	case reflect.Int, reflect.Int64:
		return f.checkNumber(float64(at.Int()), name)
	case reflect.Float64:
		return f.checkNumber(at.Float(), name)
	case reflect.Slice:
		return f.checkList(at, name)
	}
	return nil
}

func (f Field) checkText(text, name string) error {
	switch {
	case f.Enum != nil && !slices.Contains(f.Enum, text):
		return relabel.Errorf(relabel.CodeInvalid, "is %.40q: give one of %s", text, strings.Join(f.Enum, ", ")).On(name)
	case f.MaxLength > 0 && utf8.RuneCountInString(text) > f.MaxLength:
		return relabel.Errorf(relabel.CodeInvalid, "has more than %d characters", f.MaxLength).On(name)
	case f.Pattern != "" && !regexp.MustCompile(f.Pattern).MatchString(text):
		return relabel.Errorf(relabel.CodeInvalid, "does not match %s", f.Pattern).On(name)
	}
	return nil
}

func (f Field) checkNumber(n float64, name string) error {
	if low, err := strconv.ParseFloat(f.Above, 64); err == nil && !(n > low) {
		return relabel.Errorf(relabel.CodeInvalid, "is %v: must be above %s", n, f.Above).On(name)
	}
	if low, err := strconv.ParseFloat(f.Min, 64); err == nil && !(n >= low) {
		return relabel.Errorf(relabel.CodeInvalid, "is %v: must be at least %s", n, f.Min).On(name)
	}
	if high, err := strconv.ParseFloat(f.Max, 64); err == nil && !(n <= high) {
		return relabel.Errorf(relabel.CodeInvalid, "is %v: must be at most %s", n, f.Max).On(name)
	}
	return nil
}

func (f Field) checkList(list reflect.Value, name string) error {
	if f.MaxLength > 0 && list.Len() > f.MaxLength {
		return relabel.Errorf(relabel.CodeInvalid, "has more than %d items", f.MaxLength).On(name)
	}
	f.MaxLength = 0 // it is the list's
	for i := range list.Len() {
		if err := f.Check(list.Index(i), fmt.Sprintf("%s[%d]", name, i)); err != nil {
			return err
		}
	}
	return nil
}
