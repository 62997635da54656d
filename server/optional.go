package server

import (
	"cmp"
	"math"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"relabel"
	"relabel/api"
)

// queryReader reads parameters that may be absent. err is the first that is not valid.
type queryReader struct{ err error }

func (q *queryReader) refuse(name, message string) {
	q.err = cmp.Or(q.err, error(problemOf(http.StatusUnprocessableEntity, "the query is not valid", []error{&huma.ErrorDetail{Location: "query." + name, Message: message}})))
}

// id reads an id; nil if it is absent.
func (q *queryReader) id(name, text string) *relabel.ID {
	if text == "" {
		return nil
	}
	id, err := relabel.ParseID(name, text)
	if err != nil {
		q.refuse(name, "expected an id")
	}
	return &id
}

func (q *queryReader) iteration(text string) iterationRef {
	ref, err := iterationOf(text)
	if err != nil {
		q.refuse("iteration", iterationForm)
	}
	return ref
}

// number returns a number; nil if it is absent.
func (q *queryReader) number(name string, n api.Number) *float64 {
	if !n.Given {
		return nil
	}
	if math.IsNaN(n.Value) { // which is within any bounds
		q.refuse(name, "expected number")
	}
	return &n.Value
}

// whole returns a number without its fraction; nil if it is absent.
func (q *queryReader) whole(name string, n api.Number) *int {
	if x := q.number(name, n); x != nil {
		return new(int(*x))
	}
	return nil
}

// optionalBool reads true or false; nil if it is absent.
func optionalBool(word string) *bool {
	if word == "" {
		return nil
	}
	return new(word == "true")
}

// iterationRef names an iteration by its id or its number; the zero value names none.
type iterationRef struct {
	id     *relabel.ID
	number int
}

const iterationForm = "an iteration is named by its id, or by its number from 1"

// iterationOf reads the iteration that a request names; "" names none.
func iterationOf(word string) (ref iterationRef, err error) {
	if word == "" {
		return ref, nil
	}
	if n, err := strconv.ParseInt(word, 10, 32); err == nil && n > 0 {
		return iterationRef{number: int(n)}, nil
	}
	id, err := relabel.ParseID("iteration", word)
	if err != nil {
		return ref, relabel.Errorf(relabel.CodeInvalid, iterationForm).On("iteration")
	}
	return iterationRef{id: &id}, nil
}

// The server reads a Number as a number.
var (
	_ huma.ParamWrapper = (*api.Number)(nil)
	_ huma.ParamReactor = (*api.Number)(nil)
)
