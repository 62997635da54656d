package jinja

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

var pythonInt = regexp.MustCompile(`^[+-]?[0-9](?:_?[0-9])*$`)

// parseInt is Python's int(text); ok is false if it is a ValueError.
func parseInt(s string) (*big.Int, bool) {
	s = asciiDigits(trimLeftFunc(trimRightFunc(s, isSpace), isSpace))
	digits := strings.ReplaceAll(s, "_", "")
	if !pythonInt.MatchString(s) || len(strings.TrimLeft(digits, "+-")) > maxDigits {
		return nil, false
	}
	return new(big.Int).SetString(digits, 10)
}

// asciiDigits replaces decimal digits of other scripts by ASCII ones.
func asciiDigits(s string) string {
	if isASCII(s) {
		return s
	}
	rs := runes(s)
	for i, c := range rs {
		if c < 0x80 || !isDecimal(c) {
			continue
		}
		start := c // of the run of decimal digits; each script has ten
		for isDecimal(start - 1) {
			start--
		}
		rs[i] = '0' + (c-start)%10
	}
	return fromRunes(rs)
}

var pythonFloat = regexp.MustCompile(`(?i)^[+-]?(?:inf|infinity|nan|(?:[0-9](?:_?[0-9])*\.?(?:[0-9](?:_?[0-9])*)?|\.[0-9](?:_?[0-9])*)(?:e[+-]?[0-9](?:_?[0-9])*)?)$`)

// parseFloat is Python's float(text).
func parseFloat(s string) (float64, bool) {
	s = asciiDigits(trimLeftFunc(trimRightFunc(s, isSpace), isSpace))
	if !pythonFloat.MatchString(s) {
		return 0, false
	}
	f, _ := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, true
}

func intFilter(_ *run, v Value, a []Value) (Value, error) {
	switch x := v.(type) {
	case *undefined:
		return nil, faultf("%s", x.why)
	case string, markup:
		s, _ := plainText(x)
		if n, ok := parseInt(s); ok {
			return fromBig(n), nil
		}
		f, ok := parseFloat(s)
		if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
			return a[0], nil
		}
		return truncated(f), nil
	case float64:
		if math.IsInf(x, 0) {
			return nil, faultf("cannot convert float infinity to integer")
		}
		if math.IsNaN(x) {
			return a[0], nil
		}
		return truncated(x), nil
	}
	if n, ok := toBig(v); ok {
		return fromBig(n), nil
	}
	return a[0], nil
}

func truncated(f float64) Value {
	n, _ := new(big.Float).SetFloat64(f).Int(nil)
	return fromBig(n)
}
