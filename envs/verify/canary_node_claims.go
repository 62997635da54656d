package verify

import "bytes"

// nodeClaim is a statement of a test that does not hold: VALUE is a large number, WRONG a
// near one.
type nodeClaim struct{ use, statement string }

// nodeMatchers are claims with the matchers that Jest and Vitest share. Code under test may
// replace any of them, so a file gets a canary for each that it uses.
var nodeMatchers = []nodeClaim{
	{".toBe(", "expect(VALUE).toBe(WRONG)"},
	{".toEqual(", "expect({ value: [VALUE] }).toEqual({ value: [WRONG] })"},
	{".toStrictEqual(", "expect([VALUE]).toStrictEqual([WRONG])"},
	{".toMatchObject(", "expect({ value: VALUE }).toMatchObject({ value: WRONG })"},
	{".toHaveProperty(", "expect({ value: VALUE }).toHaveProperty('value', WRONG)"},
	{".toContain(", "expect([VALUE]).toContain(WRONG)"},
	{".toContainEqual(", "expect([VALUE]).toContainEqual(WRONG)"},
	{".toBeCloseTo(", "expect(VALUE).toBeCloseTo(WRONG)"},
	{".toMatch(", "expect('' + VALUE).toMatch(/^WRONG$/)"},
	{".toHaveLength(", "expect([VALUE]).toHaveLength(2)"},
	{".toBeTruthy(", "expect(VALUE < 0).toBeTruthy()"},
	{".toBeFalsy(", "expect(VALUE > 0).toBeFalsy()"},
	{".toBeDefined(", "expect([VALUE][1]).toBeDefined()"},
	{".toBeUndefined(", "expect(VALUE).toBeUndefined()"},
	{".toBeNull(", "expect(VALUE).toBeNull()"},
	{".toBeNaN(", "expect(VALUE).toBeNaN()"},
	{".toBeGreaterThan(", "expect(-VALUE).toBeGreaterThan(0)"},
	{".toBeGreaterThanOrEqual(", "expect(-VALUE).toBeGreaterThanOrEqual(0)"},
	{".toBeLessThan(", "expect(VALUE).toBeLessThan(0)"},
	{".toBeLessThanOrEqual(", "expect(VALUE).toBeLessThanOrEqual(0)"},
	{".toBeInstanceOf(", "expect(new Number(VALUE)).toBeInstanceOf(Error)"},
	{".toThrow(", "expect(() => VALUE).toThrow()"},
	{".toThrowError(", "expect(() => VALUE).toThrowError()"},
	{".not.", "expect(VALUE).not.toBe(VALUE)"},
}

// nodeAsserts are claims with the functions of assert.
var nodeAsserts = []nodeClaim{
	{"assert.equal(", "assert.equal(VALUE, WRONG)"},
	{"assert.strictEqual(", "assert.strictEqual(VALUE, WRONG)"},
	{"assert.deepEqual(", "assert.deepEqual([VALUE], [WRONG])"},
	{"assert.deepStrictEqual(", "assert.deepStrictEqual([VALUE], [WRONG])"},
}

// nodeClaims returns the claims for a test file: those with toBe and toEqual where it has
// expectations, and those with whatever else it uses.
func nodeClaims(content []byte) []string {
	var claims []string
	for i, m := range nodeMatchers {
		if nodeExpect.Match(content) && (i < 2 || bytes.Contains(content, []byte(m.use))) {
			claims = append(claims, m.statement)
		}
	}
	for _, a := range nodeAsserts {
		if bytes.Contains(content, []byte(a.use)) {
			claims = append(claims, a.statement)
		}
	}
	return claims
}
