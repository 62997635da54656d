package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTablesAndErrorsShowControlCharactersAsMarks(t *testing.T) {
	said := "m\x1b[31m\x1b]0;title\x07\u202e\r\n\x9b"
	table := newTable("MODEL")
	table.row(said)
	var out bytes.Buffer
	noError(t, table.write(&out))
	for _, text := range []string{out.String(), Message(plainError(said))} {
		if strings.ContainsAny(text, "\x1b\x07\r\u202e") || !utf8.ValidString(text) {
			t.Errorf("%q", text)
		}
	}
}

type plainError string

func (e plainError) Error() string { return string(e) }
