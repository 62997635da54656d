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

var keywords = map[string]kind{
	"False": kFalse, "None": kNone, "True": kTrue, "and": kAnd, "as": kAs, "assert": kAssert, "async": kAsync,
	"await": kAwait, "break": kBreak, "class": kClass, "continue": kContinue, "def": kDef, "del": kDel,
	"elif": kElif, "else": kElse, "except": kExcept, "finally": kFinally, "for": kFor, "from": kFrom,
	"global": kGlobal, "if": kIf, "import": kImport, "in": kIn, "is": kIs, "lambda": kLambda,
	"nonlocal": kNonlocal, "not": kNot, "or": kOr, "pass": kPass, "raise": kRaise, "return": kReturn,
	"try": kTry, "while": kWhile, "with": kWith, "yield": kYield,
}

const longestKeyword = len("continue")

// wordKind returns the kind of a word.
func wordKind(word []byte) kind {
	if len(word) > longestKeyword || len(word) < 2 {
		return kName
	}
	if found, ok := keywords[string(word)]; ok {
		return found
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
