package jinja

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxDigits is the length from which Python reads and writes no integers.
const maxDigits = 4300

func isNumber(v Value) bool {
	switch v.(type) {
	case bool, int64, float64, *big.Int:
		return true
	}
	return false
}

// fromBig returns an integer in the smaller of the two forms.
func fromBig(n *big.Int) Value {
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}

// toBig returns an integer or a boolean as a big one.
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

// toInt returns an integer or a boolean that fits.
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
	n, ok := toBig(v)
	if !ok {
		return 0, faultf("must be real number, not %s", typeName(v))
	}
	f, _ := new(big.Float).SetPrec(uint(max(64, n.BitLen()))).SetInt(n).Float64()
	if math.IsInf(f, 0) {
		return 0, faultf("int too large to convert to float")
	}
	return f, nil
}

// appendFloat appends Python's repr of a float: the shortest digits that read back.
func appendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
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

// compareNumbers compares exactly, whatever the types; known is false for NaN.
func compareNumbers(a, b Value) (c int, known bool) {
	if x, ok := toInt(a); ok {
		if y, ok := toInt(b); ok {
			return cmp(x, y), true
		}
	}
	x, okX := a.(float64)
	y, okY := b.(float64)
	switch {
	case okX && okY:
		return cmp(x, y), !math.IsNaN(x) && !math.IsNaN(y)
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

func cmp[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
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

// arithmetic is a binary operation on two numbers.
func arithmetic(r *run, op kind, a, b Value) (Value, error) {
	_, okA := a.(float64)
	_, okB := b.(float64)
	if okA || okB {
		x, err := toFloat(a)
		if err != nil {
			return nil, err
		}
		y, err := toFloat(b)
		if err != nil {
			return nil, err
		}
		return floatArithmetic(op, x, y)
	}
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			if v, ok := smallArithmetic(op, x, y); ok {
				return v, nil
			}
		}
	}
	x, _ := toBig(a)
	y, _ := toBig(b)
	return bigArithmetic(r, op, x, y)
}

// smallArithmetic does what cannot overflow.
func smallArithmetic(op kind, x, y int64) (Value, bool) {
	const half = 1 << 31
	switch {
	case x > half || x < -half || y > half || y < -half:
		return nil, false
	case op == "+":
		return x + y, true
	case op == "-":
		return x - y, true
	case op == "*":
		return x * y, true
	case y == 0:
		return nil, false
	case op == "%":
		m := x % y
		if m != 0 && (m < 0) != (y < 0) {
			m += y
		}
		return m, true
	case op == "/":
		return float64(x) / float64(y), true
	}
	return nil, false
}

func floatArithmetic(op kind, x, y float64) (Value, error) {
	switch op {
	case "+":
		return x + y, nil
	case "-":
		return x - y, nil
	case "*":
		return x * y, nil
	case "**":
		return floatPower(x, y)
	}
	if y == 0 {
		return nil, faultf("division by zero")
	}
	if op == "/" {
		return x / y, nil
	}
	// As CPython's float_divmod.
	mod := math.Mod(x, y)
	div := (x - mod) / y
	if mod != 0 {
		if (y < 0) != (mod < 0) {
			mod += y
			div--
		}
	} else {
		mod = math.Copysign(0, y)
	}
	if op == "%" {
		return mod, nil
	}
	if div == 0 {
		return math.Copysign(0, x/y), nil
	}
	floor := math.Floor(div)
	if div-floor > 0.5 {
		floor++
	}
	return floor, nil
}

// floatPower raises by whole exponents, rounded correctly; other powers are left to
// C libraries in Python, whose last digit is not the same everywhere.
func floatPower(x, y float64) (Value, error) {
	switch {
	case y == 0 || x == 1:
		return 1.0, nil
	case x == 0 && y < 0:
		return nil, faultf("0.0 cannot be raised to a negative power")
	case math.IsNaN(x) || math.IsNaN(y) || math.IsInf(x, 0) || math.IsInf(y, 0) || x == 0:
		return math.Pow(x, y), nil
	case y != math.Trunc(y) || math.Abs(y) > 4096:
		return nil, faultf("a power with the exponent %s is not supported", appendFloat(nil, y))
	}
	const precision = 4096
	result, base := big.NewFloat(1).SetPrec(precision), new(big.Float).SetPrec(precision).SetFloat64(x)
	for n := int(math.Abs(y)); n > 0; n >>= 1 {
		if n&1 == 1 {
			result.Mul(result, base)
		}
		base.Mul(base, base)
	}
	if y < 0 {
		result.Quo(big.NewFloat(1).SetPrec(precision), result)
	}
	f, _ := result.Float64()
	if math.IsInf(f, 0) {
		return nil, faultf("numerical result out of range")
	}
	return f, nil
}

func bigArithmetic(r *run, op kind, x, y *big.Int) (Value, error) {
	if err := r.step((x.BitLen() + y.BitLen()) / 64); err != nil {
		return nil, err
	}
	switch op {
	case "+":
		return fromBig(new(big.Int).Add(x, y)), nil
	case "-":
		return fromBig(new(big.Int).Sub(x, y)), nil
	case "*":
		if x.BitLen()+y.BitLen() > maxBits {
			return nil, faultf("the product is too large")
		}
		return fromBig(new(big.Int).Mul(x, y)), nil
	case "**":
		return bigPower(x, y)
	}
	if y.Sign() == 0 {
		return nil, faultf("division by zero")
	}
	if op == "/" {
		if x.Sign() == 0 && y.Sign() < 0 {
			return math.Copysign(0, -1), nil
		}
		f, _ := new(big.Rat).SetFrac(x, y).Float64()
		if math.IsInf(f, 0) {
			return nil, faultf("integer division result too large for a float")
		}
		return f, nil
	}
	div, mod := new(big.Int).QuoRem(x, y, new(big.Int))
	if mod.Sign() != 0 && mod.Sign() != y.Sign() {
		mod.Add(mod, y)
		div.Sub(div, big.NewInt(1))
	}
	if op == "%" {
		return fromBig(mod), nil
	}
	return fromBig(div), nil
}

// maxBits bounds integers: beyond it Python cannot write them either.
const maxBits = 1 << 17

func bigPower(x, y *big.Int) (Value, error) {
	if y.Sign() < 0 {
		a, err := toFloat(x)
		if err != nil {
			return nil, err
		}
		b, err := toFloat(y)
		if err != nil {
			return nil, err
		}
		return floatPower(a, b)
	}
	if !y.IsInt64() && x.BitLen() > 1 || y.IsInt64() && x.BitLen() > 1 && y.Int64() > int64(maxBits/(x.BitLen()-1)) {
		return nil, faultf("the power is too large")
	}
	return fromBig(new(big.Int).Exp(x, y, nil)), nil
}
