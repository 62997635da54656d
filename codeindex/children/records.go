package children

import (
	"encoding/binary"
	"fmt"
	"slices"

	"relabel/codeindex"
)

// outcomes are the problems that a child answers with, by their number.
var outcomes = []codeindex.Problem{"", codeindex.Syntax, codeindex.TooLarge}

const (
	maxRecords = 16 << 20 // bytes of an answer
	headSize   = 1 + 3*4  // kind, first line, last line, length of the name
)

var kinds = map[byte]codeindex.Kind{'c': codeindex.Class, 'f': codeindex.Function, 'm': codeindex.Method}

// decode reads a child's answer.
func decode(outcome byte, b []byte) (r codeindex.Records, err error) {
	if int(outcome) >= len(outcomes) {
		return r, fmt.Errorf("outcome %d", outcome)
	}
	r.Problem = outcomes[outcome]
	for len(b) > 0 {
		if len(b) < headSize {
			return r, fmt.Errorf("a record of %d bytes", len(b))
		}
		number := func(i int) int { return int(binary.LittleEndian.Uint32(b[1+4*i:])) }
		kind, span, end := b[0], codeindex.Span{Start: number(0), End: number(1)}, headSize+number(2)
		if end > len(b) {
			return r, fmt.Errorf("a name of %d bytes", number(2))
		}
		name := string(b[headSize:end])
		b = b[end:]
		if kind == 'i' {
			r.Imports = append(r.Imports, codeindex.Import{Span: span})
			continue
		}
		if kinds[kind] == "" || name == "" {
			return r, fmt.Errorf("a record of kind %q with name %q", kind, name)
		}
		r.Definitions = append(r.Definitions, codeindex.Definition{Kind: kinds[kind], Name: name, Span: span})
	}
	return r, nil
}

// encode writes a child's answer.
func encode(r codeindex.Records) (outcome byte, b []byte) {
	add := func(kind byte, span codeindex.Span, name string) {
		b = append(b, kind)
		for _, n := range []int{span.Start, span.End, len(name)} {
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
		b = append(b, name...)
	}
	for _, d := range r.Definitions {
		add(d.Kind[0], d.Span, d.Name)
	}
	for _, i := range r.Imports {
		add('i', i.Span, "")
	}
	if len(b) > maxRecords {
		return encode(codeindex.Records{Problem: codeindex.TooLarge})
	}
	return byte(slices.Index(outcomes, r.Problem)), b
}
