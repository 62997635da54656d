package tracing

import (
	"encoding/json"
	"fmt"
	"mime"

	"google.golang.org/protobuf/encoding/protowire"
)

const mediaProtobuf = "application/x-protobuf"

// partial is what a collector says of a batch that it took in part.
type partial struct {
	Rejected json.Number `json:"rejectedSpans"`
	Message  string      `json:"errorMessage"`
}

// rejected returns how many spans of a batch the collector did not take by its successful answer, and why. If it took
// all and there is an error, that is a warning. An answer that cannot be read is no success.
func rejected(answer []byte, contentType string, all int64) (int64, error) {
	p, err := decodeAnswer(answer, contentType)
	if err != nil {
		return all, fmt.Errorf("the collector's answer cannot be read: %w", err)
	}
	n, _ := p.Rejected.Int64() // empty: 0
	n = min(max(n, 0), all)
	if n == 0 && p.Message == "" {
		return 0, nil
	}
	return n, fmt.Errorf("the collector rejected %d of %d spans: %s", n, all, reason(p.Message))
}

// decodeAnswer reads the message ExportTraceServiceResponse. An answer of another media type says nothing.
func decodeAnswer(answer []byte, contentType string) (partial, error) {
	kind, _, _ := mime.ParseMediaType(contentType)
	switch {
	case len(answer) == 0:
	case kind == mediaProtobuf:
		return decodeProtobuf(answer)
	case kind == "application/json":
		var of struct {
			Partial partial `json:"partialSuccess"`
		}
		err := json.Unmarshal(answer, &of)
		return of.Partial, err
	}
	return partial{}, nil
}

func decodeProtobuf(answer []byte) (p partial, err error) {
	var inner error
	err = eachField(answer, func(field protowire.Number, _ uint64, message []byte) {
		if field == 1 { // partial_success
			inner = eachField(message, p.set)
		}
	})
	if err == nil {
		err = inner
	}
	return p, err
}

// set sets a field of the message ExportTracePartialSuccess.
func (p *partial) set(field protowire.Number, number uint64, text []byte) {
	switch field {
	case 1: // rejected_spans
		p.Rejected = json.Number(fmt.Sprint(int64(number)))
	case 2: // error_message
		p.Message = string(text)
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
