package verify

import (
	"bytes"
	"fmt"
	"strings"
)

// unittestClaim is a statement of a test case that does not hold: VALUE is a large number,
// WRONG a near one. shown says that its failure shows VALUE.
type unittestClaim struct {
	use, statement string
	shown          bool
}

// unittestClaims are claims with the assertions of unittest, the first for each file. Code
// under test may replace any of them, so a file gets a canary for each that it uses.
var unittestClaims = []unittestClaim{
	{"assertEqual", "assertEqual(VALUE, WRONG)", true},
	{"assertNotEqual", "assertNotEqual(VALUE, VALUE)", true},
	{"assertTrue", "assertTrue(VALUE < 0)", false},
	{"assertFalse", "assertFalse(VALUE > 0)", false},
	{"assertIn", "assertIn(VALUE, [WRONG])", true},
	{"assertNotIn", "assertNotIn(VALUE, [VALUE])", true},
	{"assertIs", "assertIs(VALUE, None)", true},
	{"assertIsNot", "assertIsNot(None, None, VALUE)", true},
	{"assertIsNone", "assertIsNone(VALUE)", true},
	{"assertIsNotNone", "assertIsNotNone(None, VALUE)", true},
	{"assertIsInstance", "assertIsInstance(VALUE, str)", true},
	{"assertNotIsInstance", "assertNotIsInstance(VALUE, int)", true},
	{"assertGreater", "assertGreater(-VALUE, 0)", true},
	{"assertGreaterEqual", "assertGreaterEqual(-VALUE, 0)", true},
	{"assertLess", "assertLess(VALUE, 0)", true},
	{"assertLessEqual", "assertLessEqual(VALUE, 0)", true},
	{"assertAlmostEqual", "assertAlmostEqual(VALUE, WRONG)", true},
	{"assertRegex", "assertRegex(str(VALUE), '^WRONG$')", true},
	{"assertCountEqual", "assertCountEqual([VALUE], [WRONG])", true},
	{"assertSequenceEqual", "assertSequenceEqual([VALUE], [WRONG])", true},
	{"assertListEqual", "assertListEqual([VALUE], [WRONG])", true},
	{"assertTupleEqual", "assertTupleEqual((VALUE,), (WRONG,))", true},
	{"assertSetEqual", "assertSetEqual({VALUE}, {WRONG})", true},
	{"assertDictEqual", "assertDictEqual({1: VALUE}, {1: WRONG})", true},
	{"assertRaises", "assertRaises(ValueError, int, VALUE)", false},
	{"fail", "fail(VALUE)", true},
}

// claims is a class of unittest with a method for each assertion that content uses, in a drawn
// order.
func (p *pythonCanaries) claims(name func(class, method string) string, content []byte) string {
	class := p.camel() + "Test"
	var methods []string
	for i, claim := range unittestClaims {
		if i > 0 && !bytes.Contains(content, []byte("self."+claim.use+"(")) {
			continue
		}
		method, s := "test_"+p.snake(), drawSum(p.namer)
		p.must(name(class, method), true, s.result)
		if !claim.shown {
			p.canaries[len(p.canaries)-1].proof = ""
		}
		statement := strings.NewReplacer("VALUE", "("+s.code+")", "WRONG", fmt.Sprint(p.claimed(s, true))).Replace(claim.statement)
		methods = append(methods, fmt.Sprintf("    def %s(self):\n        self.%s\n", method, statement))
	}
	p.random.Shuffle(len(methods), func(i, j int) { methods[i], methods[j] = methods[j], methods[i] })
	return fmt.Sprintf("class %s(unittest.TestCase):\n", class) + strings.Join(methods, "\n")
}
