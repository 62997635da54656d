package server

import (
	"math"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"relabel"
)

// optionalID is an id in a query that need not be there.
type optionalID struct{ id *relabel.ID }

// Schema describes it as the UUID that it reads.
func (optionalID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "uuid"}
}

// UnmarshalText reads an id.
func (o *optionalID) UnmarshalText(text []byte) error {
	var id relabel.ID
	if err := id.UnmarshalText(text); err != nil {
		return err
	}
	o.id = &id
	return nil
}

var _ huma.SchemaProvider = optionalID{}

// iterationRef names an iteration by its id or its number; empty, none.
type iterationRef struct {
	id     *relabel.ID
	number int
}

// Schema describes it as the text that it reads.
func (iterationRef) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Description: "An id, or a number from 1."}
}

// UnmarshalText reads an id or a number.
func (r *iterationRef) UnmarshalText(text []byte) error {
	if n, err := strconv.ParseInt(string(text), 10, 32); err == nil && n > 0 {
		r.number = int(n)
		return nil
	}
	var id relabel.ID
	if err := id.UnmarshalText(text); err != nil {
		return relabel.Errorf(relabel.CodeInvalid, "an iteration is named by its id, or by its number from 1")
	}
	r.id = &id
	return nil
}

// iterationOf reads the iteration that a body names; "" names none.
func iterationOf(word string) (ref iterationRef, err error) {
	if word == "" {
		return ref, nil
	}
	if err := ref.UnmarshalText([]byte(word)); err != nil {
		return ref, relabel.Errorf(relabel.CodeInvalid, "an iteration is named by its id, or by its number from 1").On("iteration")
	}
	return ref, nil
}

// optionalNumber is a number in a query that need not be there. Its bounds are tags of
// its field, which huma checks.
type optionalNumber struct {
	Number float64
	value  *float64 // nil where it is not in the query
}

// Schema describes it as the number that it reads.
func (optionalNumber) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber}
}

// Receiver is where huma puts the number.
func (o *optionalNumber) Receiver() reflect.Value {
	return reflect.ValueOf(&o.Number).Elem()
}

// OnParamSet notes whether the query has the number.
func (o *optionalNumber) OnParamSet(isSet bool, _ any) {
	if isSet {
		o.value = &o.Number
	}
}

// Resolve refuses NaN, which is within any bounds.
func (o *optionalNumber) Resolve(_ huma.Context, field *huma.PathBuffer) []error {
	if !math.IsNaN(o.Number) {
		return nil
	}
	return []error{&huma.ErrorDetail{Location: field.String(), Message: "expected number", Value: "NaN"}}
}

// whole is the number without its fraction, nil where there is none.
func (o optionalNumber) whole() *int {
	if o.value == nil {
		return nil
	}
	n := int(*o.value)
	return &n
}

var (
	_ huma.SchemaProvider = iterationRef{}
	_ huma.SchemaProvider = optionalNumber{}
	_ huma.ParamWrapper   = (*optionalNumber)(nil)
	_ huma.ParamReactor   = (*optionalNumber)(nil)

	_ huma.ResolverWithPath = (*optionalNumber)(nil)
)
