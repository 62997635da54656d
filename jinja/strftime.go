package jinja

import (
	"strings"
	"time"
)

// strftime formats a time like C in the C locale. Directives that no published chat template uses are
// refused.
func strftime(t time.Time, format string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			out.WriteByte(format[i])
			continue
		}
		i++
		layout, ok := layouts[format[i]]
		if !ok {
			return "", faultf("the directive %%%c of strftime is not supported", format[i])
		}
		out.WriteString(t.Format(layout))
	}
	return out.String(), nil
}

// layouts are the directives in the notation of package time.
var layouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'd': "02", 'm': "01", 'y': "06", 'Y': "2006",
	'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'j': "002", 'e': "_2", 'D': "01/02/06", 'F': "2006-01-02",
	'T': "15:04:05", 'R': "15:04", 'r': "03:04:05 PM", 'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05", '%': "%",
}
