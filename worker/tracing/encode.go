package tracing

import (
	"crypto/rand"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Flags of spans and links: the trace is sampled, and it is known whether the parent is of another process.
const (
	flagsRoot   = 0x101
	flagsRemote = 0x301 // it is, or may be: each span is sent for itself
)

// statusError is the code of a status.
const statusError = 2

// encode returns a span as a field of the message ScopeSpans of OTLP.
func (s span) encode(l limits) []byte {
	if s.id == (spanID{}) {
		_, _ = rand.Read(s.id[:]) // it never fails
	}
	if s.failed != "" {
		s.attributes = append(s.attributes, attribute{errorType, s.failed})
	}
	attributes, links := l.attributes.of(len(s.attributes)), l.links.of(len(s.links))
	trace, flags := s.place.trace(), uint32(flagsRoot)
	b := appendBytes(nil, 1, trace[:]) // trace_id
	b = appendBytes(b, 2, s.id[:])     // span_id
	if s.parent != (spanID{}) {
		b = appendBytes(b, 4, s.parent[:]) // parent_span_id
		flags = flagsRemote
	}
	b = appendBytes(b, 5, plain(s.name))
	b = appendNumber(b, 6, uint64(s.kind))
	b = appendFixed(b, 7, uint64(max(s.begun.UnixNano(), 0))) // start_time_unix_nano
	b = appendFixed(b, 8, uint64(max(s.ended.UnixNano(), 0))) // end_time_unix_nano
	b = appendAttributes(b, 9, s.attributes[:attributes], l.value)
	b = appendNumber(b, 10, uint64(len(s.attributes)-attributes)) // dropped_attributes_count
	b = appendLinks(b, 13, s.links[:links])
	b = appendNumber(b, 14, uint64(len(s.links)-links)) // dropped_links_count
	b = appendBytes(b, 15, s.status())
	b = appendFlags(b, 16, flags)
	return appendBytes(nil, 2, b) // spans
}

// status is the message Status: without a code nothing is said of the outcome.
func (s span) status() []byte {
	if s.failed == "" {
		return nil
	}
	return appendNumber(nil, 3, statusError) // code
}

func appendLinks(b []byte, field protowire.Number, links []link) []byte {
	for _, l := range links {
		trace := l.place.trace()
		m := appendBytes(nil, 1, trace[:]) // trace_id
		m = appendBytes(m, 2, l.id[:])     // span_id
		b = appendBytes(b, field, appendFlags(m, 6, flagsRemote))
	}
	return b
}

// appendAttributes appends messages KeyValue.
func appendAttributes(b []byte, field protowire.Number, attributes []attribute, length limit) []byte {
	for _, a := range attributes {
		m := appendBytes(nil, 1, plain(a.key))
		b = appendBytes(b, field, appendBytes(m, 2, encodeValue(a.value, length)))
	}
	return b
}

// encodeValue returns the message AnyValue.
func encodeValue(value any, length limit) []byte {
	switch v := value.(type) {
	case string:
		return appendBytes(nil, 1, length.cut(plain(v))) // string_value
	case int:
		return appendNumber(nil, 3, uint64(v)) // int_value
	case int64:
		return appendNumber(nil, 3, uint64(v))
	case float64:
		return appendFixed(nil, 4, math.Float64bits(v)) // double_value
	case []string:
		var list []byte
		for _, text := range v {
			list = appendBytes(list, 1, encodeValue(text, length)) // values
		}
		return appendBytes(nil, 5, list) // array_value
	}
	return encodeValue(fmt.Sprint(value), length)
}

// envelope has the fields of a request beside its spans.
type envelope struct {
	resource []byte // of ResourceSpans
	scope    []byte // of ScopeSpans
}

// newEnvelope describes the sender of spans: a process by its attributes, and the version of relabel.
func newEnvelope(process []attribute, version string) envelope {
	scope := appendBytes(appendBytes(nil, 1, "relabel"), 2, version) // name, version
	return envelope{
		resource: appendBytes(appendBytes(nil, 1, appendAttributes(nil, 1, process, -1)), 3, schema), // resource, schema_url
		scope:    appendBytes(appendBytes(nil, 1, scope), 3, schema),                                 // scope, schema_url
	}
}

// request is the message ExportTraceServiceRequest with encoded spans.
func (e envelope) request(spans [][]byte) []byte {
	scoped := slices.Concat(spans...)
	size := len(e.scope) + len(scoped)
	b := appendHead(nil, 1, len(e.resource)+protowire.SizeTag(2)+protowire.SizeBytes(size)) // resource_spans
	b = append(b, e.resource...)
	b = appendHead(b, 2, size) // scope_spans
	b = append(b, e.scope...)
	return append(b, scoped...)
}

// appendHead appends what stands before a text or message: its field and its size in bytes.
func appendHead(b []byte, field protowire.Number, size int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.BytesType), uint64(size))
}

// appendBytes appends a text or a message.
func appendBytes[T string | []byte](b []byte, field protowire.Number, v T) []byte {
	return append(appendHead(b, field, len(v)), v...)
}

func appendNumber(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendFixed(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), v)
}

func appendFlags(b []byte, field protowire.Number, v uint32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(b, field, protowire.Fixed32Type), v)
}
