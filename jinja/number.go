package jinja

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxDigits is the maximum number of digits of an integer that Python reads or writes.
const maxDigits = 4300

func isNumber(v Value) bool {
	switch v.(type) {
	case bool, int64, float64, *big.Int:
		return true
	}
	return false
}

// fromBig returns an int64 if the integer fits.
func fromBig(n *big.Int) Value {
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}

// toBig converts an integer or a boolean.
func toBig(v Value) (*big.Int, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return big.NewInt(1), true
		}
		return new(big.Int), true
	case int64:
		return big.NewInt(v), true
	case *big.Int:
		return v, true
	}
	return nil, false
}

// toInt converts an integer that fits, or a boolean.
func toInt(v Value) (int64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int64:
		return v, true
	}
	return 0, false
}

// toFloat is Python's conversion of a number to a float.
func toFloat(v Value) (float64, error) {
	if f, ok := v.(float64); ok {
		return f, nil
	}
	n, ok := toInt(v)
	if !ok {
		return 0, errLargeNumber
	}
	return float64(n), nil
}

// appendFloat appends Python's repr of a float, the shortest digits that read back, with these names of
// values that are not finite.
func appendFloat(dst []byte, f float64, nan, inf string) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, nan...)
	case math.IsInf(f, 1):
		return append(dst, inf...)
	case math.IsInf(f, -1):
		return append(append(dst, '-'), inf...)
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	x, _ := strconv.Atoi(exponent)
	if x < -4 || x >= 16 {
		return append(append(append(dst, mantissa...), 'e'), exponent...)
	}
	s = strconv.FormatFloat(f, 'f', -1, 64)
	dst = append(dst, s...)
	if strings.IndexByte(s, '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

// compareNumbers compares numbers of any types exactly; known is false for NaN.
func compareNumbers(a, b Value) (c int, known bool) {
	if x, ok := toInt(a); ok {
		if y, ok := toInt(b); ok {
			return cmp.Compare(x, y), true
		}
	}
	x, okX := a.(float64)
	y, okY := b.(float64)
	switch {
	case okX && okY:
		return cmp.Compare(x, y), !math.IsNaN(x) && !math.IsNaN(y)
	case okX:
		c, known = compareNumbers(b, a)
		return -c, known
	case okY:
		n, _ := toBig(a)
		switch {
		case math.IsNaN(y):
			return 0, false
		case math.IsInf(y, 0):
			return -int(math.Copysign(1, y)), true
		}
		return new(big.Float).SetPrec(uint(max(64, n.BitLen()))).SetInt(n).Cmp(big.NewFloat(y)), true
	}
	m, _ := toBig(a)
	n, _ := toBig(b)
	return m.Cmp(n), true
}

// unary is -v or +v.
func unary(op kind, v Value) (Value, error) {
	if f, ok := v.(float64); ok {
		if op == "-" {
			return -f, nil
		}
		return f, nil
	}
	n, ok := toBig(v)
	if !ok {
		return nil, wrongOperand(op, v)
	}
	if op == "-" {
		return fromBig(new(big.Int).Neg(n)), nil
	}
	return fromBig(n), nil
}

func wrongOperand(op kind, v Value) error {
	if u, ok := v.(*undefined); ok {
		return faultf("%s", u.why)
	}
	return faultf("bad operand type for unary %s: '%s'", op, typeName(v))
}

// arithmetic is +, - or * of two numbers, or the remainder of two integers.
func arithmetic(op kind, a, b Value) (Value, error) {
	_, okA := a.(float64)
	_, okB := b.(float64)
	if okA || okB {
		return floatArithmetic(op, a, b)
	}
	x, okX := toInt(a)
	y, okY := toInt(b)
	if !okX || !okY {
		return nil, errLargeNumber
	}
	if small := int64(int32(x)) == x && int64(int32(y)) == y; small && op == "+" { // without an allocation
		return x + y, nil
	} else if small && op == "-" {
		return x - y, nil
	}
	var v *big.Int
	switch m, n := big.NewInt(x), big.NewInt(y); op {
	case "+":
		v = m.Add(m, n)
	case "-":
		v = m.Sub(m, n)
	case "*":
		v = m.Mul(m, n)
	default:
		if y == 0 {
			return nil, faultf("division by zero")
		}
		if v = m.Rem(m, n); v.Sign() != 0 && v.Sign() != n.Sign() {
			v.Add(v, n)
		}
	}
	if !v.IsInt64() {
		return nil, errLargeNumber
	}
	return v.Int64(), nil
}

var errLargeNumber = faultf("arithmetic with integers beyond 64 bits is not supported")

func floatArithmetic(op kind, a, b Value) (Value, error) {
	x, err := toFloat(a)
	if err != nil {
		return nil, err
	}
	y, err := toFloat(b)
	if err != nil {
		return nil, err
	}
	var v float64
	switch op {
	case "+":
		v = x + y
	case "-":
		v = x - y
	case "*":
		v = x * y
	default:
		return nil, faultf("the operator %s on a float is not supported", op)
	}
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil, faultf("a result that is not a finite number is not supported")
	}
	return v, nil
}
