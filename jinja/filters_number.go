package jinja

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

func absFilter(_ *run, v Value, _ []Value) (Value, error) {
	if f, ok := v.(float64); ok {
		return math.Abs(f), nil
	}
	n, ok := toBig(v)
	if !ok {
		return nil, faultf("bad operand type for abs(): '%s'", typeName(v))
	}
	return fromBig(new(big.Int).Abs(n)), nil
}

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
		zero := c
		for isDecimal(zero-1) && c-zero < 9 {
			zero--
		}
		rs[i] = '0' + (c - zero)
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

func floatFilter(_ *run, v Value, a []Value) (Value, error) {
	if u, ok := v.(*undefined); ok {
		return nil, faultf("%s", u.why)
	}
	if s, ok := plainText(v); ok {
		if f, ok := parseFloat(s); ok {
			return f, nil
		}
		return a[0], nil
	}
	if isNumber(v) {
		return toFloatValue(v)
	}
	return a[0], nil
}

func toFloatValue(v Value) (Value, error) {
	f, err := toFloat(v)
	return f, err
}

func roundFilter(r *run, v Value, a []Value) (Value, error) {
	method, ok := plainText(a[1])
	if !ok || method != "common" && method != "ceil" && method != "floor" {
		return nil, faultf("method must be common, ceil or floor")
	}
	if u, ok := v.(*undefined); ok {
		return nil, faultf("%s", u.why)
	}
	if method != "common" {
		return roundTo(r, v, a[0], method)
	}
	if !isNumber(v) {
		return nil, faultf("type %s doesn't define __round__ method", typeName(v))
	}
	f, isFloat := v.(float64)
	if a[0] == nil {
		if !isFloat {
			return unary("+", v)
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, faultf("cannot convert float to integer")
		}
		return truncated(math.RoundToEven(f)), nil
	}
	digits, err := intArg(a[0])
	if err != nil {
		return nil, err
	}
	if isFloat {
		return roundFloat(f, digits)
	}
	n, _ := toBig(v)
	return roundInt(n, digits)
}

// roundFloat rounds the exact value half to even, as Python does.
func roundFloat(f float64, digits int) (Value, error) {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0) || f == 0 || digits > 323:
		return f, nil
	case digits < -308:
		return math.Copysign(0, f), nil
	case digits >= 0:
		out, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
		if err != nil {
			return nil, faultf("rounded value too large to represent")
		}
		return out, nil
	}
	exact, _ := new(big.Float).SetFloat64(math.Abs(f)).Rat(nil)
	unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-digits)), nil))
	n := halfEven(exact.Quo(exact, unit))
	out, _ := new(big.Rat).Mul(new(big.Rat).SetInt(n), unit).Float64()
	if math.IsInf(out, 0) {
		return nil, faultf("rounded value too large to represent")
	}
	return math.Copysign(out, f), nil
}

// halfEven rounds a number that is not negative.
func halfEven(x *big.Rat) *big.Int {
	q, m := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	switch c := m.Lsh(m, 1).Cmp(x.Denom()); {
	case c > 0, c == 0 && q.Bit(0) == 1:
		q.Add(q, big.NewInt(1))
	}
	return q
}

func roundInt(n *big.Int, digits int) (Value, error) {
	if digits >= 0 {
		return fromBig(n), nil
	}
	if digits < -maxDigits {
		return int64(0), nil
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-digits)), nil)
	q := halfEven(new(big.Rat).SetFrac(new(big.Int).Abs(n), unit))
	q.Mul(q, unit)
	if n.Sign() < 0 {
		q.Neg(q)
	}
	return fromBig(q), nil
}

// roundTo is func(value * 10**precision) / 10**precision.
func roundTo(r *run, v, precision Value, method string) (Value, error) {
	unit, err := binary(r, "**", int64(10), precision)
	if err != nil {
		return nil, err
	}
	scaled, err := binary(r, "*", v, unit)
	if err != nil {
		return nil, err
	}
	if f, ok := scaled.(float64); ok {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, faultf("cannot convert float to integer")
		}
		if method == "ceil" {
			scaled = truncated(math.Ceil(f))
		} else {
			scaled = truncated(math.Floor(f))
		}
	}
	if !isNumber(scaled) {
		return nil, faultf("must be real number, not %s", typeName(scaled))
	}
	return binary(r, "/", scaled, unit)
}

func fileSizeFilter(_ *run, v Value, a []Value) (Value, error) {
	var size float64
	var err error
	if s, ok := plainText(v); ok {
		if size, ok = parseFloat(s); !ok {
			return nil, faultf("could not convert string to float")
		}
	} else if size, err = toFloat(v); err != nil {
		return nil, err
	}
	base, suffix := 1000.0, "B"
	units := "kMGTPEZY"
	if truth(a[0]) {
		base, suffix, units = 1024, "iB", "KMGTPEZY"
	}
	switch {
	case math.IsNaN(size) || math.IsInf(size, 0):
		return nil, faultf("cannot convert float to integer")
	case size == 1:
		return "1 Byte", nil
	case size < base:
		s, err := toText(truncated(size))
		return s + " Bytes", err
	}
	unit := base
	for i := range len(units) {
		unit = math.Pow(base, float64(i+2))
		if size < unit || i == len(units)-1 {
			return strconv.FormatFloat(base*size/unit, 'f', 1, 64) + " " + units[i:i+1] + suffix, nil
		}
	}
	return nil, nil
}
