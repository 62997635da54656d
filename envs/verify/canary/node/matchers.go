package node

// In the claims below VALUE is a variable with a large number, WRONG another number, RIGHT the
// same number, and MOCK the runner's function that makes mocks. CALLED and TWICE are mocks that
// were called with WRONG once and twice.

// nodeMatcher is a group of matchers of Jest and Vitest: expect(bad).NAME(args) must fail.
type nodeMatcher struct {
	names     string // separated by spaces
	bad, args string
	good      string // with it expect(good).NAME(args) holds; "": bad, with RIGHT instead of WRONG
	rejected  string // a promise is rejected with it instead of bad; "": with bad
	plain     bool   // never after ".not"
	sync      bool   // never after ".resolves" and ".rejects"
	stored    string // in the snapshot file for the test; "" if the matcher reads none
	shown     bool   // the failure shows VALUE
}

// nodeMatchers are the matchers of Jest and Vitest. Code under test may replace any of them.
var nodeMatchers = []nodeMatcher{
	{names: "toBe toBeCloseTo", bad: "VALUE", args: "WRONG", shown: true},
	{names: "toEqual", bad: "{ value: [VALUE] }", args: "{ value: [WRONG] }", shown: true},
	{names: "toStrictEqual", bad: "[VALUE]", args: "[WRONG]", shown: true},
	{names: "toMatchObject", bad: "{ value: VALUE }", args: "{ value: WRONG }", shown: true},
	{names: "toHaveProperty", bad: "{ value: VALUE }", args: "'value', WRONG", shown: true},
	{names: "toContain toContainEqual", bad: "[VALUE]", args: "WRONG"},
	{names: "toMatch", bad: "'' + VALUE", args: "/^WRONG$/", shown: true},
	{names: "toHaveLength", bad: "[VALUE]", args: "2", good: "[VALUE, VALUE]"},
	{names: "toBeTruthy", bad: "VALUE < 0", good: "VALUE > 0"},
	{names: "toBeFalsy", bad: "VALUE > 0", good: "VALUE < 0"},
	{names: "toBeDefined", bad: "[VALUE][1]", good: "VALUE"},
	{names: "toBeUndefined toBeNullable", bad: "VALUE", good: "[VALUE][1]"},
	{names: "toBeNull", bad: "VALUE", good: "VALUE > 0 ? null : VALUE"},
	{names: "toBeNaN", bad: "VALUE", good: "VALUE * NaN"},
	{names: "toBeGreaterThan toBeGreaterThanOrEqual", bad: "-VALUE", args: "0", good: "VALUE"},
	{names: "toBeLessThan toBeLessThanOrEqual", bad: "VALUE", args: "0", good: "-VALUE"},
	{names: "toBeInstanceOf", bad: "new Number(VALUE)", args: "Error", good: "new Error('' + VALUE)"},
	{names: "toBeTypeOf", bad: "VALUE", args: "'string'", good: "'' + VALUE"},
	{names: "toBeOneOf", bad: "VALUE", args: "[WRONG]"},
	{names: "toSatisfy", bad: "VALUE", args: "(value) => value < 0", good: "-VALUE"},
	{names: "toThrow toThrowError", bad: nodeThrower, args: "'WRONG'", rejected: "new Error('' + VALUE)", shown: true},
	{names: "toThrow toThrowError", bad: "() => VALUE", good: nodeThrower, sync: true},

	{names: "toHaveBeenCalled toBeCalled toHaveReturned toReturn", bad: "MOCK()", good: "CALLED"},
	{names: "toHaveBeenCalledTimes toBeCalledTimes toHaveReturnedTimes toReturnTimes", bad: "CALLED", args: "2", good: "TWICE"},
	{names: "toHaveBeenCalledOnce", bad: "TWICE", good: "CALLED"},
	{
		names: "toHaveBeenCalledWith toBeCalledWith toHaveBeenCalledExactlyOnceWith toHaveBeenLastCalledWith lastCalledWith " +
			"toHaveReturnedWith toReturnWith toHaveLastReturnedWith lastReturnedWith",
		bad: "CALLED", args: "VALUE",
	},
	{names: "toHaveBeenNthCalledWith nthCalledWith toHaveNthReturnedWith nthReturnedWith", bad: "CALLED", args: "1, VALUE"},

	{names: "toMatchInlineSnapshot", bad: "VALUE", args: "`WRONG`", plain: true, rejected: "VALUE"},
	{names: "toThrowErrorMatchingInlineSnapshot", bad: nodeThrower, args: "`\"WRONG\"`", plain: true, rejected: "new Error('' + VALUE)"},
	{names: "toMatchSnapshot", bad: "VALUE", plain: true, rejected: "VALUE", stored: "WRONG"},
	{names: "toThrowErrorMatchingSnapshot", bad: nodeThrower, plain: true, rejected: "new Error('' + VALUE)", stored: "\"WRONG\""},
}

// nodeThrower is a function that throws.
const nodeThrower = "() => { throw new Error('' + VALUE); }"

// nodeCalled are the replacements of CALLED and TWICE.
const (
	nodeCalled = "(() => { const called = MOCK().mockReturnValue(WRONG); called(WRONG); return called; })()"
	nodeTwice  = "(() => { const called = MOCK().mockReturnValue(WRONG); called(WRONG); called(WRONG); return called; })()"
)

// nodeUses are claims with other parts of expect, by a text of files that use them.
var nodeUses = []struct {
	use string
	nodeClaim
}{
	{"expect.any(", nodeClaim{statement: "expect(VALUE).toEqual(expect.any(String))"}},
	{"expect.anything(", nodeClaim{statement: "expect([VALUE, undefined]).toEqual([VALUE, expect.anything()])"}},
	{"expect.objectContaining(", nodeClaim{statement: "expect({ value: VALUE }).toEqual(expect.objectContaining({ value: WRONG }))"}},
	{"expect.arrayContaining(", nodeClaim{statement: "expect([VALUE]).toEqual(expect.arrayContaining([WRONG]))"}},
	{"expect.stringContaining(", nodeClaim{statement: "expect('' + VALUE).toEqual(expect.stringContaining('WRONG'))"}},
	{"expect.stringMatching(", nodeClaim{statement: "expect('' + VALUE).toEqual(expect.stringMatching(/^WRONG$/))"}},
	{"expect.closeTo(", nodeClaim{statement: "expect({ value: VALUE }).toEqual({ value: expect.closeTo(WRONG, 2) })"}},
	{"expect.not.objectContaining(", nodeClaim{statement: "expect({ value: VALUE }).toEqual(expect.not.objectContaining({ value: RIGHT }))"}},
	{"expect.not.arrayContaining(", nodeClaim{statement: "expect([VALUE]).toEqual(expect.not.arrayContaining([RIGHT]))"}},
	{"expect.not.stringContaining(", nodeClaim{statement: "expect('' + VALUE).toEqual(expect.not.stringContaining('RIGHT'))"}},
	{"expect.not.stringMatching(", nodeClaim{statement: "expect('' + VALUE).toEqual(expect.not.stringMatching(/^RIGHT$/))"}},
	{"expect.assertions(", nodeClaim{statement: "expect.assertions(2);\n  expect(VALUE).toBe(RIGHT)"}},
	{"expect.hasAssertions(", nodeClaim{statement: "expect.hasAssertions();\n  String(VALUE)"}},
	{"expect.soft(", nodeClaim{statement: "expect.soft(VALUE).toBe(WRONG)", shown: true}},
	{"expect.poll(", nodeClaim{statement: "await expect.poll(() => VALUE, { interval: 10, timeout: 50 }).toBe(WRONG)"}},
	{"expect.unreachable(", nodeClaim{statement: "expect.unreachable('' + VALUE)"}},
	{"expect.fail(", nodeClaim{statement: "expect.fail('' + VALUE)"}},
	{".resolves", nodeClaim{statement: "await expect(Promise.reject(new Error('' + VALUE))).resolves.toBeDefined()"}},
	{".rejects", nodeClaim{statement: "await expect(Promise.resolve(VALUE)).rejects.toBe(RIGHT)"}},
}
