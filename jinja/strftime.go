package jinja

import (
	"fmt"
	"strings"
	"time"
)

// strftime formats a time as C does in the C locale, for a time without a zone, as
// Python's datetime.now() is. Directives that are not C's own are refused.
func strftime(t time.Time, format string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			out.WriteByte(format[i])
			continue
		}
		i++
		pad := byte(0)
		if (format[i] == '-' || format[i] == '_') && i+1 < len(format) {
			pad = format[i]
			i++
		}
		text, ok := directive(t, format[i])
		if !ok {
			return "", faultf("the directive %%%c of strftime is not supported", format[i])
		}
		if pad != 0 {
			if strings.IndexByte("dmyHIMSjeklUWuw", format[i]) < 0 {
				return "", faultf("the directive %%%c%c of strftime is not supported", pad, format[i])
			}
			text = repad(text, pad)
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

// repad drops the zeros and spaces before a number, or makes them spaces.
func repad(s string, pad byte) string {
	bare := strings.TrimLeft(s[:len(s)-1], "0 ") + s[len(s)-1:]
	if pad == '-' {
		return bare
	}
	return strings.Repeat(" ", len(s)-len(bare)) + bare
}

// layouts are the directives that package time writes.
var layouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'd': "02", 'm': "01", 'y': "06", 'Y': "2006",
	'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'j': "002", 'e': "_2", 'D': "01/02/06", 'F': "2006-01-02",
	'T': "15:04:05", 'R': "15:04", 'r': "03:04:05 PM", 'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05",
}

func directive(t time.Time, c byte) (string, bool) {
	if layout, ok := layouts[c]; ok {
		return t.Format(layout), true
	}
	sunday := int(t.Weekday())
	year, week := t.ISOWeek()
	switch c {
	case '%':
		return "%", true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	case 'z', 'Z':
		return "", true
	case 'P':
		return strings.ToLower(t.Format("PM")), true
	case 'k':
		return fmt.Sprintf("%2d", t.Hour()), true
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1), true
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100), true
	case 'w':
		return itoa(sunday), true
	case 'u':
		return itoa((sunday+6)%7 + 1), true
	case 'U':
		return fmt.Sprintf("%02d", (t.YearDay()+6-sunday)/7), true
	case 'W':
		return fmt.Sprintf("%02d", (t.YearDay()+6-(sunday+6)%7)/7), true
	case 'G':
		return itoa(year), true
	case 'V':
		return fmt.Sprintf("%02d", week), true
	}
	return "", false
}
