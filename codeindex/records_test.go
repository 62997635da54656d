package codeindex_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"relabel/codeindex"
)

var anySpan = rapid.Custom(func(t *rapid.T) codeindex.Span {
	return codeindex.Span{Start: rapid.IntRange(0, 1<<30).Draw(t, "start"), End: rapid.IntRange(0, 1<<30).Draw(t, "end")}
})

func TestRecordsAreDecodedAsTheyWereEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := codeindex.Records{Problem: rapid.SampledFrom([]codeindex.Problem{"", codeindex.Syntax}).Draw(t, "problem")}
		for range rapid.IntRange(0, 20).Draw(t, "definitions") {
			r.Definitions = append(r.Definitions, codeindex.Definition{
				Kind: rapid.SampledFrom([]codeindex.Kind{codeindex.Class, codeindex.Function, codeindex.Method}).Draw(t, "kind"),
				Name: rapid.StringMatching(`([abé.\x{0}-\x{ff}]{0,6})`).Draw(t, "name"),
				Span: anySpan.Draw(t, "span"),
			})
		}
		for range rapid.IntRange(0, 5).Draw(t, "imports") {
			r.Imports = append(r.Imports, codeindex.Import{Span: anySpan.Draw(t, "span")})
		}
		got, err := codeindex.DecodeRecords(r.Encode())
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Fatalf("%+v, %v", got, err)
		}
	})
}

func TestDamagedRecordsAreRefused(t *testing.T) {
	whole := codeindex.Records{Definitions: []codeindex.Definition{definition(codeindex.Class, "A", 1, 3), definition(codeindex.Method, "A.b", 2, 3)},
		Imports: []codeindex.Import{{Span: codeindex.Span{Start: 1, End: 1}}}}.Encode()
	for n := range whole {
		if _, err := codeindex.DecodeRecords(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes are accepted", n, len(whole))
		}
	}
	if _, err := codeindex.DecodeRecords(append(whole, 0)); err == nil {
		t.Error("one byte more is accepted")
	}
	unknown := codeindex.Records{Definitions: []codeindex.Definition{definition("macro", "A", 1, 3)}}
	if _, err := unknown.Compact(); err == nil {
		t.Error("an unknown kind is accepted")
	}
}

func FuzzDecodeRecords(f *testing.F) {
	f.Add(codeindex.Records{Definitions: []codeindex.Definition{definition(codeindex.Method, "A.b", 2, 3)}}.Encode())
	f.Fuzz(func(t *testing.T, encoded []byte) {
		r, err := codeindex.DecodeRecords(encoded)
		if err != nil {
			return
		}
		if again, err := r.Compact(); err != nil || !reflect.DeepEqual(again, r) {
			t.Errorf("%+v, %v", again, err)
		}
	})
}
