package codeindex

import (
	"encoding/binary"
	"errors"
	"slices"
	"unsafe"
)

// recordsFormat begins encoded records. Another format needs another number.
const recordsFormat = 1

// maxNames bounds the bytes of all names of one file.
const maxNames = 16 << 20

// kinds gives each Kind its number in encoded records.
var kinds = []Kind{Class, Function, Method}

var errRecords = errors.New("the encoded records are damaged")

// Encode returns the records as compact bytes: each name as what differs from the name before it, and
// lines as differences.
func (r Records) Encode() []byte {
	b := []byte{recordsFormat}
	b = appendText(b, string(r.Problem))
	names := 0
	for _, d := range r.Definitions {
		names += len(d.Name)
	}
	b = binary.AppendUvarint(b, uint64(names))
	b = binary.AppendUvarint(b, uint64(len(r.Definitions)))
	name, line := "", 0
	for _, d := range r.Definitions {
		shared := sharedPrefix(name, d.Name)
		b = append(b, byte(slices.Index(kinds, d.Kind)))
		b = binary.AppendUvarint(b, uint64(shared))
		b = appendText(b, d.Name[shared:])
		b = appendSpan(b, d.Span, line)
		name, line = d.Name, d.Start
	}
	b = binary.AppendUvarint(b, uint64(len(r.Imports)))
	line = 0
	for _, i := range r.Imports {
		b = appendSpan(b, i.Span, line)
		line = i.Start
	}
	return b
}

func appendText(b []byte, text string) []byte {
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

func appendSpan(b []byte, s Span, line int) []byte {
	b = binary.AppendVarint(b, int64(s.Start-line))
	return binary.AppendVarint(b, int64(s.End-s.Start))
}

func sharedPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// DecodeRecords reads what Encode returned. The records hold no more memory than they need.
func DecodeRecords(encoded []byte) (Records, error) {
	d := decoder{rest: encoded}
	if d.byte() != recordsFormat {
		return Records{}, errRecords
	}
	r := Records{Problem: Problem(d.bytes())}
	names := d.number()
	if names > maxNames {
		return Records{}, errRecords
	}
	r.Definitions = d.definitions(names)
	r.Imports = d.imports()
	if d.failed || len(d.rest) > 0 {
		return Records{}, errRecords
	}
	return r, nil
}

// decoder reads values from the front of rest. After a failure it reads zeros.
type decoder struct {
	rest   []byte
	failed bool
}

// fail also ends all loops, because nothing is left.
func (d *decoder) fail() {
	d.failed, d.rest = true, nil
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.fail()
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) number() int {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || v > 1<<31 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return int(v)
}

// count is a number of things that have at least one byte each.
func (d *decoder) count() int {
	n := d.number()
	if n > len(d.rest) {
		d.fail()
		return 0
	}
	return n
}

func (d *decoder) bytes() []byte {
	n := d.count()
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) difference() int {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return int(v)
}

func (d *decoder) span(line int) Span {
	start := line + d.difference()
	return Span{Start: start, End: start + d.difference()}
}

// definitions reads definitions whose names have this many bytes in all. All names are parts of one
// string.
func (d *decoder) definitions(names int) []Definition {
	n := d.count()
	if n == 0 {
		return nil
	}
	all := make([]Definition, n)
	text, ends := make([]byte, 0, names), make([]int, n)
	begin, line := 0, 0
	for i := range all {
		kind := int(d.byte())
		shared, suffix := d.number(), d.bytes()
		if kind >= len(kinds) || shared > len(text)-begin || len(text)+shared+len(suffix) > names {
			d.fail()
			return nil
		}
		end := len(text)
		text = append(text, text[begin:begin+shared]...)
		text = append(text, suffix...)
		begin, ends[i] = end, len(text)
		all[i] = Definition{Kind: kinds[kind], Span: d.span(line)}
		line = all[i].Start
	}
	joined, begin := string(text), 0
	for i, end := range ends {
		all[i].Name = joined[begin:end]
		begin = end
	}
	return all
}

func (d *decoder) imports() []Import {
	n := d.count()
	if n == 0 {
		return nil
	}
	all, line := make([]Import, n), 0
	for i := range all {
		all[i].Span = d.span(line)
		line = all[i].Start
	}
	return all
}

// Compact returns equal records that hold no more memory than they need; in particular not the source
// whose parts names may be. It fails for records that DecodeRecords would refuse.
func (r Records) Compact() (Records, error) { return DecodeRecords(r.Encode()) }

// Bytes is the memory that the records hold.
func (r Records) Bytes() int {
	n := int(unsafe.Sizeof(r)) + len(r.Definitions)*int(unsafe.Sizeof(Definition{})) + len(r.Imports)*int(unsafe.Sizeof(Import{}))
	for _, d := range r.Definitions {
		n += len(d.Name)
	}
	return n
}

// Key is what the records of a file follow from.
type Key struct {
	Blob     string // the id of its content in git
	Language Language
	Version  int // of the parser
}
