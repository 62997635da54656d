package node

// In the claims below VALUE is a variable that holds a large number, WRONG another number,
// RIGHT the same number, MOCK the function of the runner that makes mocks, and CALLED and
// TWICE are mocks that were called with WRONG once and twice.

// nodeMatcher is a matcher of Jest and Vitest, by the call expect(bad).name(args), which fails.
type nodeMatcher struct {
	name, bad, args string
	// good is a value for which the matcher holds; "" where it is bad with RIGHT for WRONG in
	// the call.
	good string
	// rejected is what a promise is rejected with in the place of bad; "" where it is bad.
	rejected string
	// plain says that it stands behind no ".not", and sync behind no ".resolves" and ".rejects".
	plain, sync bool
	// stored is what the snapshot file has for the test; "" where the matcher reads none.
	stored string
	// shown says that the failure shows VALUE.
	shown bool
}

// nodeMatchers are those that Jest and Vitest have. Code under test may replace any of them.
var nodeMatchers = []nodeMatcher{
	{name: "toBe", bad: "VALUE", args: "WRONG", shown: true},
	{name: "toEqual", bad: "{ value: [VALUE] }", args: "{ value: [WRONG] }", shown: true},
	{name: "toStrictEqual", bad: "[VALUE]", args: "[WRONG]", shown: true},
	{name: "toMatchObject", bad: "{ value: VALUE }", args: "{ value: WRONG }", shown: true},
	{name: "toHaveProperty", bad: "{ value: VALUE }", args: "'value', WRONG", shown: true},
	{name: "toContain", bad: "[VALUE]", args: "WRONG"},
	{name: "toContainEqual", bad: "[VALUE]", args: "WRONG"},
	{name: "toBeCloseTo", bad: "VALUE", args: "WRONG", shown: true},
	{name: "toMatch", bad: "'' + VALUE", args: "/^WRONG$/", shown: true},
	{name: "toHaveLength", bad: "[VALUE]", args: "2", good: "[VALUE, VALUE]"},
	{name: "toBeTruthy", bad: "VALUE < 0", good: "VALUE > 0"},
	{name: "toBeFalsy", bad: "VALUE > 0", good: "VALUE < 0"},
	{name: "toBeDefined", bad: "[VALUE][1]", good: "VALUE"},
	{name: "toBeUndefined", bad: "VALUE", good: "[VALUE][1]"},
	{name: "toBeNull", bad: "VALUE", good: "VALUE > 0 ? null : VALUE"},
	{name: "toBeNullable", bad: "VALUE", good: "[VALUE][1]"},
	{name: "toBeNaN", bad: "VALUE", good: "VALUE * NaN"},
	{name: "toBeGreaterThan", bad: "-VALUE", args: "0", good: "VALUE"},
	{name: "toBeGreaterThanOrEqual", bad: "-VALUE", args: "0", good: "VALUE"},
	{name: "toBeLessThan", bad: "VALUE", args: "0", good: "-VALUE"},
	{name: "toBeLessThanOrEqual", bad: "VALUE", args: "0", good: "-VALUE"},
	{name: "toBeInstanceOf", bad: "new Number(VALUE)", args: "Error", good: "new Error('' + VALUE)"},
	{name: "toBeTypeOf", bad: "VALUE", args: "'string'", good: "'' + VALUE"},
	{name: "toBeOneOf", bad: "VALUE", args: "[WRONG]"},
	{name: "toSatisfy", bad: "VALUE", args: "(value) => value < 0", good: "-VALUE"},
	{name: "toThrow", bad: nodeThrower, args: "'WRONG'", rejected: "new Error('' + VALUE)", shown: true},
	{name: "toThrow", bad: "() => VALUE", good: nodeThrower, sync: true},
	{name: "toThrowError", bad: nodeThrower, args: "'WRONG'", rejected: "new Error('' + VALUE)", shown: true},
	{name: "toThrowError", bad: "() => VALUE", good: nodeThrower, sync: true},

	{name: "toHaveBeenCalled", bad: "MOCK()", good: "CALLED"},
	{name: "toBeCalled", bad: "MOCK()", good: "CALLED"},
	{name: "toHaveBeenCalledTimes", bad: "CALLED", args: "2", good: "TWICE"},
	{name: "toBeCalledTimes", bad: "CALLED", args: "2", good: "TWICE"},
	{name: "toHaveBeenCalledOnce", bad: "TWICE", good: "CALLED"},
	{name: "toHaveBeenCalledWith", bad: "CALLED", args: "VALUE"},
	{name: "toBeCalledWith", bad: "CALLED", args: "VALUE"},
	{name: "toHaveBeenCalledExactlyOnceWith", bad: "CALLED", args: "VALUE"},
	{name: "toHaveBeenLastCalledWith", bad: "CALLED", args: "VALUE"},
	{name: "lastCalledWith", bad: "CALLED", args: "VALUE"},
	{name: "toHaveBeenNthCalledWith", bad: "CALLED", args: "1, VALUE"},
	{name: "nthCalledWith", bad: "CALLED", args: "1, VALUE"},
	{name: "toHaveReturned", bad: "MOCK()", good: "CALLED"},
	{name: "toReturn", bad: "MOCK()", good: "CALLED"},
	{name: "toHaveReturnedTimes", bad: "CALLED", args: "2", good: "TWICE"},
	{name: "toReturnTimes", bad: "CALLED", args: "2", good: "TWICE"},
	{name: "toHaveReturnedWith", bad: "CALLED", args: "VALUE"},
	{name: "toReturnWith", bad: "CALLED", args: "VALUE"},
	{name: "toHaveLastReturnedWith", bad: "CALLED", args: "VALUE"},
	{name: "lastReturnedWith", bad: "CALLED", args: "VALUE"},
	{name: "toHaveNthReturnedWith", bad: "CALLED", args: "1, VALUE"},
	{name: "nthReturnedWith", bad: "CALLED", args: "1, VALUE"},

	{name: "toMatchInlineSnapshot", bad: "VALUE", args: "`WRONG`", plain: true, rejected: "VALUE"},
	{name: "toThrowErrorMatchingInlineSnapshot", bad: nodeThrower, args: "`\"WRONG\"`", plain: true, rejected: "new Error('' + VALUE)"},
	{name: "toMatchSnapshot", bad: "VALUE", plain: true, rejected: "VALUE", stored: "WRONG"},
	{name: "toThrowErrorMatchingSnapshot", bad: nodeThrower, plain: true, rejected: "new Error('' + VALUE)", stored: "\"WRONG\""},
}

// nodeThrower is a function that throws.
const nodeThrower = "() => { throw new Error('' + VALUE); }"

// nodeCalled are the replacements of CALLED and TWICE.
const (
	nodeCalled = "(() => { const called = MOCK().mockReturnValue(WRONG); called(WRONG); return called; })()"
	nodeTwice  = "(() => { const called = MOCK().mockReturnValue(WRONG); called(WRONG); called(WRONG); return called; })()"
)

// nodeUses are claims with what else expect has, by a text of a file that uses it.
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
