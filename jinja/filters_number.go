package jinja

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// parseInt is Python's int(text, base); ok is false where it is a ValueError.
func parseInt(s string, base int) (*big.Int, bool) {
	s = asciiDigits(trimLeftFunc(trimRightFunc(s, isSpace), isSpace))
	body := strings.TrimLeft(s, "+-")
	if len(s)-len(body) > 1 || body == "" || strings.HasPrefix(body, "_") || strings.HasSuffix(body, "_") || strings.Contains(body, "__") {
		return nil, false
	}
	lowered := strings.ToLower(body)
	prefixes := map[string]int{"0b": 2, "0o": 8, "0x": 16}
	if len(lowered) > 2 {
		if b, ok := prefixes[lowered[:2]]; ok && (base == b || base == 0) {
			lowered, base = strings.TrimPrefix(lowered[2:], "_"), b
		}
	}
	digits := strings.ReplaceAll(lowered, "_", "")
	if base == 0 {
		if len(digits) > 1 && digits[0] == '0' && strings.Trim(digits, "0") != "" {
			return nil, false
		}
		base = 10
	}
	if base&(base-1) != 0 && len(digits) > maxDigits || len(digits) > maxBits {
		return nil, false
	}
	if digits == "" || strings.ContainsAny(digits, "+-") {
		return nil, false
	}
	n, ok := new(big.Int).SetString(digits, base)
	if ok && strings.HasPrefix(s, "-") {
		n.Neg(n)
	}
	return n, ok
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
	base, err := intArg(a[1])
	if err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case *undefined:
		return nil, faultf("%s", x.why)
	case string, markup:
		s, _ := plainText(x)
		if base != 0 && (base < 2 || base > 36) {
			base = 10
			if _, ok := parseFloat(s); !ok {
				return a[0], nil
			}
		} else if n, ok := parseInt(s, base); ok {
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
