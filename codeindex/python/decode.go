package python

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/unicode/norm"
)

var (
	byteOrderMark = []byte("\ufeff")
	cookie        = regexp.MustCompile(`coding[:=][ \t]*([-\w.]+)`)
)

// decode returns the source as UTF-8 without byte order mark. It is no text if it does not have the
// encoding that it declares, or has NUL bytes.
func decode(source []byte) (text []byte, isText bool) {
	text, marked := bytes.CutPrefix(source, byteOrderMark)
	isText = bytes.IndexByte(text, 0) < 0
	name := encodingName(text)
	switch {
	case name == "utf-8" || strings.HasPrefix(name, "utf-8-"):
	case marked:
		isText = false
	case name == "utf8" || name == "u8" || name == "utf" || name == "cp65001":
	case name == "ascii":
		isText = isText && isASCII(text)
	default:
		decoded, known := transcode(text, name)
		isText = isText && known
		text = decoded
	}
	if !utf8.Valid(text) {
		return bytes.ToValidUTF8(text, []byte("\ufffd")), false
	}
	return text, isText
}

// encodingName returns the encoding that the first two lines declare, as Python spells it.
func encodingName(text []byte) string {
	for range 2 {
		end := bytes.IndexAny(text, "\r\n")
		if end < 0 {
			end = len(text)
		}
		line := bytes.TrimLeft(text[:end], " \t\f")
		if len(line) > 0 && line[0] != '#' {
			break
		}
		if bytes.Contains(line, []byte("coding")) {
			if found := cookie.FindSubmatch(line); found != nil {
				return normalName(string(found[1]))
			}
		}
		text = text[end:]
		if rest, windows := bytes.CutPrefix(text, []byte("\r\n")); windows {
			text = rest
		} else if len(text) > 0 {
			text = text[1:]
		}
	}
	return "utf-8"
}

func normalName(name string) string {
	name = strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(name))
	switch name {
	case "us-ascii", "646":
		return "ascii"
	case "latin-1", "iso-8859-1", "iso8859-1", "latin1", "l1", "8859":
		return "latin-1"
	case "euckr", "uhc":
		return "euc-kr"
	case "eucjp", "ujis":
		return "euc-jp"
	case "cp932", "ms932", "sjis", "shiftjis":
		return "shift-jis"
	case "gb2312", "cp936", "euccn", "euc-cn":
		return "gbk"
	case "cp950":
		return "big5"
	case "cp949", "949", "ms949":
		return "euc-kr"
	case "mac-roman", "macroman":
		return "macintosh"
	}
	for _, prefix := range []string{"latin-1-", "iso-8859-1-", "iso-latin-1-"} {
		if strings.HasPrefix(name, prefix) {
			return "latin-1"
		}
	}
	return name
}

// transcode returns the text in UTF-8, or as it is if the encoding is unknown.
func transcode(text []byte, name string) (decoded []byte, known bool) {
	from := encodingOf(name)
	if from == nil {
		return text, false
	}
	decoded, err := from.NewDecoder().Bytes(text)
	if err != nil {
		return text, false
	}
	return decoded, true
}

// encodingOf returns the encoding with the name, or nil.
func encodingOf(name string) encoding.Encoding {
	if name == "latin-1" || name == "iso-latin-1" {
		return charmap.ISO8859_1
	}
	if strings.HasPrefix(name, "utf-16") || name == "replacement" {
		return nil
	}
	if found, err := htmlindex.Get(name); err == nil {
		return found
	}
	found, err := ianaindex.IANA.Encoding(name)
	if err != nil {
		return nil
	}
	return found
}

func isASCII(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isIdentifier reports whether the word, which is not all ASCII, is an identifier.
func isIdentifier(word []byte) bool {
	for i, r := range string(norm.NFKC.Bytes(word)) {
		start := r == '_' || unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Other_ID_Start)
		if !start && (i == 0 || !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)) {
			return false
		}
	}
	return true
}
