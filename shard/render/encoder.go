package render

import "strings"

// encoder encodes the renderings of one conversation, which mostly begin alike. Special
// tokens written by the template divide a text into segments, each of which is encoded once.
type encoder struct {
	student  *Student
	segments map[string][]int32
}

func newEncoder(s *Student) encoder { return encoder{s, map[string][]int32{}} }

// encode returns the ids of a rendered text.
func (e encoder) encode(r rendered) []int32 {
	if !e.student.specials.alone { // the context of special tokens matters
		return e.student.Tokens.Encode(nil, r.text, r.plain...)
	}
	ids := make([]int32, 0, len(r.text)/3)
	from := 0
	for {
		at, found := e.student.specials.nextToken(r, from)
		if at < 0 {
			return append(ids, e.segment(r.between(from, len(r.text)))...)
		}
		ids = append(append(ids, e.segment(r.between(from, at))...), found.id)
		from = at + len(found.text)
	}
}

// segment returns the ids of a text in which the template wrote no special token.
func (e encoder) segment(r rendered) []int32 {
	if r.text == "" {
		return nil
	}
	if ids, ok := e.segments[r.text]; ok && len(r.plain) == 0 {
		return ids
	}
	ids := e.student.Tokens.Encode(nil, r.text, r.plain...)
	if len(r.plain) == 0 {
		e.segments[strings.Clone(r.text)] = ids // copied, so that it does not retain the whole rendering
	}
	return ids
}
