package python

// A kind is what a token is. Operators of one character are that character.
type kind uint8

const (
	kName kind = iota + 128
	kNumber
	kString
	kBytes
	kTextStart  // of an f-string or a template string
	kTextEnd    // and its end
	kFieldStart // of a replacement field
	kFieldEnd
	kPower   // **
	kShift   // << >>
	kCompare // < > <= >= == != <>
	kArrow
	kWalrus
	kAugmented // += and the like
	kEllipsis
	kEnd // of the logical line

	kFalse
	kNone
	kTrue
	kAnd
	kAs
	kAssert
	kAsync
	kAwait
	kBreak
	kClass
	kContinue
	kDef
	kDel
	kElif
	kElse
	kExcept
	kFinally
	kFor
	kFrom
	kGlobal
	kIf
	kImport
	kIn
	kIs
	kLambda
	kNonlocal
	kNot
	kOr
	kPass
	kRaise
	kReturn
	kTry
	kWhile
	kWith
	kYield
)

// A token has its first and last line and its place in the source.
type token struct {
	kind      kind
	line, end int32
	from, to  int32
}

// wordKind returns the kind of a word.
func wordKind(word []byte) kind {
	switch string(word) {
	case "False":
		return kFalse
	case "None":
		return kNone
	case "True":
		return kTrue
	case "and":
		return kAnd
	case "as":
		return kAs
	case "assert":
		return kAssert
	case "async":
		return kAsync
	case "await":
		return kAwait
	case "break":
		return kBreak
	case "class":
		return kClass
	case "continue":
		return kContinue
	case "def":
		return kDef
	case "del":
		return kDel
	case "elif":
		return kElif
	case "else":
		return kElse
	case "except":
		return kExcept
	case "finally":
		return kFinally
	case "for":
		return kFor
	case "from":
		return kFrom
	case "global":
		return kGlobal
	case "if":
		return kIf
	case "import":
		return kImport
	case "in":
		return kIn
	case "is":
		return kIs
	case "lambda":
		return kLambda
	case "nonlocal":
		return kNonlocal
	case "not":
		return kNot
	case "or":
		return kOr
	case "pass":
		return kPass
	case "raise":
		return kRaise
	case "return":
		return kReturn
	case "try":
		return kTry
	case "while":
		return kWhile
	case "with":
		return kWith
	case "yield":
		return kYield
	}
	return kName
}

// Classes of bytes.
const (
	isWord  = 1 << iota // in a name
	isDigit             // a decimal digit
	isHex               // a hexadecimal digit
	isPlain             // of a string: neither quote, backslash, line end nor brace
)

var classes = func() (table [256]uint8) {
	for i := range table {
		c := byte(i)
		lower := c | 0x20
		if c >= '0' && c <= '9' {
			table[i] |= isDigit | isHex | isWord
		}
		if lower >= 'a' && lower <= 'z' || c == '_' || c >= 0x80 {
			table[i] |= isWord
		}
		if lower >= 'a' && lower <= 'f' {
			table[i] |= isHex
		}
		switch c {
		case '"', '\'', '\\', '\n', '\r', '{', '}':
		default:
			table[i] |= isPlain
		}
	}
	return table
}()
