// Package jinja renders chat templates. It interprets the part of Jinja2 that published chat
// templates use, with the settings of transformers (trim_blocks, lstrip_blocks, loop
// controls, generation blocks, its own tojson, an immutable sandbox). The output is, character
// for character, that of Python. Everything else is refused by name with line and column: at
// parse time if it can be seen there, otherwise at render time.
package jinja

import (
	"crypto/sha256"
	"encoding/hex"
	"sync/atomic"
	"time"

	"relabel"
)

// The limits of one rendering. A template that goes beyond them is refused.
const (
	maxSteps  = 20_000_000 // statements, expressions and loop turns, and a share of the bytes looked at
	maxBytes  = 1 << 30    // bytes of all texts built on the way
	maxText   = 128 << 20  // bytes of one text, and of the output
	maxDepth  = 200        // macros and recursive loops within each other
	maxParse  = 200        // expressions and statements nested in the source
	maxChain  = 1000       // operations one after the other in an expression
	maxNested = 900        // lists and maps nested in a value
)

// Template is a chat template that has been read. It is safe for concurrent use.
type Template struct {
	name   string
	sum    [sha256.Size]byte // of the source as it was given
	source string            // with newlines as Jinja2 has them
	body   *function
	nodes  []stmt
	clock  bool
	size   atomic.Int64 // bytes of the last rendering, which the next one will need, 1 MiB at most
}

// Parse reads a template. The name stands in errors: a file's name, or whatever tells
// it from others. Syntax errors and what is not known (statements, filters, tests,
// functions, methods) are CodeInvalid errors whose field is name:line:column, both
// counted from 1, the column in characters.
func Parse(name, source string) (*Template, error) {
	t := &Template{name: name, sum: sha256.Sum256([]byte(source)), source: normalize(source)}
	source = t.source
	tokens, err := tokenize(source)
	if err != nil {
		return nil, t.explain(err)
	}
	p := &parser{tokens: tokens}
	if t.nodes, err = p.template(); err != nil {
		return nil, t.explain(err)
	}
	if t.clock, err = checkNames(t.nodes); err != nil {
		return nil, t.explain(err)
	}
	if err := fold(t.nodes); err != nil {
		return nil, t.explain(err)
	}
	if t.body, err = resolveTemplate(t.nodes); err != nil {
		return nil, t.explain(err)
	}
	return t, nil
}

// SHA256 is the hash of the template's text, in hex.
func (t *Template) SHA256() string { return hex.EncodeToString(t.sum[:]) }

// UsesClock reports whether the template calls strftime_now, so that what it renders
// depends on the moment given to Render.
func (t *Template) UsesClock() bool { return t.clock }

// Render renders the template with the variables (messages, tools, add_generation_prompt,
// bos_token and whatever else the template reads). now is what strftime_now sees, in its
// own time zone; if it is zero, a template that asks for the time is refused. Errors
// are CodeInvalid with the position in their field; that of raise_exception has the
// template's own words as its message.
func (t *Template) Render(variables *Map, now time.Time) (string, error) {
	size := t.size.Load()
	r := &run{variables: variables, now: now, out: make([]byte, 0, size+size/8)}
	f := r.enter(t.body, nil)
	if _, err := execAll(r, f, t.nodes); err != nil {
		return "", t.explain(err)
	}
	t.size.Store(int64(min(len(r.out), 1<<20)))
	return string(r.out), nil
}

// explain turns what went wrong inside into an error with the template's name and place.
func (t *Template) explain(err error) error {
	f, ok := err.(*fault)
	if !ok {
		return relabel.Errorf(relabel.CodeInternal, "the template %s could not be rendered", t.name).Because(err)
	}
	line, column := position(t.source, f.pos)
	return relabel.Errorf(relabel.CodeInvalid, "%s", f.text).On(place(t.name, line, column))
}
