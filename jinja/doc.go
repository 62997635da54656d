// Package jinja renders chat templates. It interprets the part of Jinja2 that published chat
// templates use, with the settings of transformers (trim_blocks, lstrip_blocks, loop
// controls, generation blocks, its own tojson, an immutable sandbox). The output equals Python's,
// character for character. Everything else is refused by name with line and column: by Parse if
// possible, otherwise by Render.
package jinja

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync/atomic"
	"time"

	"relabel"
)

// The limits of one rendering. A template that exceeds them is refused.
const (
	maxSteps  = 20_000_000 // statements, expressions, loop iterations, and a share of the bytes read
	maxBytes  = 1 << 30    // bytes of all intermediate texts
	maxText   = 128 << 20  // bytes of one text, and of the output
	maxDepth  = 200        // nested macro calls
	maxParse  = 200        // expressions and statements nested in the source
	maxChain  = 1000       // consecutive operations in an expression
	maxNested = 900        // lists and maps nested in a value
)

// Template is a parsed chat template. It is safe for concurrent use.
type Template struct {
	name   string
	sum    [sha256.Size]byte // of the original source
	source string            // with Jinja2's newlines
	body   *function
	nodes  []stmt
	clock  bool
	size   atomic.Int64 // bytes of the last rendering, at most 1 MiB, allocated for the next one
}

// Parse parses a template. Its name, such as that of its file, appears in errors. Syntax errors and
// unknown statements, filters, tests, functions and methods are CodeInvalid errors whose field is
// name:line:column, both counted from 1, the column in characters.
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
	if t.body, err = resolveTemplate(t.nodes); err != nil {
		return nil, t.explain(err)
	}
	return t, nil
}

// SHA256 is the hash of the template's text, in hex.
func (t *Template) SHA256() string { return hex.EncodeToString(t.sum[:]) }

// UsesClock reports whether the template calls strftime_now: its output then depends on the time given
// to Render.
func (t *Template) UsesClock() bool { return t.clock }

// Render renders the template with the variables that it reads (messages, tools,
// add_generation_prompt, bos_token etc.). strftime_now formats now, in its time zone, and fails if it is
// zero. Errors are CodeInvalid with the position in their field; the message of raise_exception is the
// template's text.
func (t *Template) Render(variables *Map, now time.Time) (string, error) {
	size := t.size.Load()
	r := &run{variables: variables, now: now, out: new(strings.Builder)}
	r.out.Grow(int(size + size/8))
	f := r.enter(t.body, nil)
	if _, err := execAll(r, f, t.nodes); err != nil {
		return "", t.explain(err)
	}
	t.size.Store(int64(min(r.out.Len(), 1<<20)))
	return r.out.String(), nil
}

// explain converts an internal error into one with the template's name and the position.
func (t *Template) explain(err error) error {
	f, ok := err.(*fault)
	if !ok {
		return relabel.Errorf(relabel.CodeInternal, "the template %s could not be rendered", t.name).Because(err)
	}
	line, column := position(t.source, f.pos)
	return relabel.Errorf(relabel.CodeInvalid, "%s", f.text).On(place(t.name, line, column))
}
