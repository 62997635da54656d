package tracing

import (
	"errors"
	"fmt"
	"mime"

	"google.golang.org/protobuf/encoding/protowire"
)

const mediaProtobuf = "application/x-protobuf"

// partial is what a collector says of a batch that it took in part.
type partial struct {
	rejected int64
	message  string
}

// rejected returns how many spans of a batch the collector did not take by its successful answer, and why. If it took
// all and there is an error, that is a warning. An answer that cannot be read is no success.
func rejected(answer []byte, contentType string, all int64) (int64, error) {
	p, err := decodeAnswer(answer, contentType)
	if err != nil {
		return all, fmt.Errorf("the collector's answer cannot be read: %w", err)
	}
	n := min(max(p.rejected, 0), all)
	if n == 0 && p.message == "" {
		return 0, nil
	}
	return n, fmt.Errorf("the collector rejected %d of %d spans: %s", n, all, reason(p.message))
}

// decodeAnswer reads the message ExportTraceServiceResponse. An answer of another media type than the request's says
// nothing.
func decodeAnswer(answer []byte, contentType string) (p partial, err error) {
	if kind, _, _ := mime.ParseMediaType(contentType); kind != mediaProtobuf {
		return p, nil
	}
	var inner error
	err = eachField(answer, func(field protowire.Number, _ uint64, message []byte) {
		if field == 1 { // partial_success
			inner = errors.Join(inner, eachField(message, p.set))
		}
	})
	return p, errors.Join(err, inner)
}

// set sets a field of the message ExportTracePartialSuccess.
func (p *partial) set(field protowire.Number, number uint64, text []byte) {
	switch field {
	case 1: // rejected_spans
		p.rejected = int64(number)
	case 2: // error_message
		p.message = string(text)
	}
}

// eachField calls take for each field of a message, with its number or its bytes.
func eachField(message []byte, take func(field protowire.Number, number uint64, bytes []byte)) error {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var number uint64
		var bytes []byte
		switch kind {
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			bytes, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(field, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		take(field, number, bytes)
		message = message[n:]
	}
	return nil
}
