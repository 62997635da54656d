package tokenizer

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// opcode is the operation of an instruction.
type opcode int

const (
	opMatch  opcode = iota
	opSet           // consumes one character of the set
	opRun           // consumes low to high characters of the set, as many as possible
	opSplit         // continues at the next instruction; if that fails, at the target
	opOther         // continues at the target; if that fails, at the next instruction
	opJump          // continues at the target
	opLook          // continues if the inner program matches, or if negative does not
	opAtomic        // consumes the inner program's first match
	opAssert        // continues if the assertion holds
)

// instruction is a step of a compiled pattern.
type instruction struct {
	op        opcode
	target    int
	set       charSet
	ascii     [2]uint64 // the set's members below 128
	low, high int
	inner     []instruction
	negative  bool
	behind    bool
	assertion byte
}

func (c *instruction) has(r rune) bool {
	if r < utf8.RuneSelf {
		return c.ascii[r>>6]>>(r&63)&1 == 1
	}
	return inRanges(c.set, r)
}

// patternCompiler turns a tree into a program.
type patternCompiler struct {
	source  string
	program []instruction
}

// maxProgram bounds a program, because intervals multiply instructions.
const maxProgram = 20_000

// compileProgram compiles a tree of the pattern source. It panics with a refusal.
func compileProgram(source string, t *tree) []instruction {
	c := patternCompiler{source: source}
	c.compile(t)
	c.emit(instruction{op: opMatch})
	return c.program
}

func (c *patternCompiler) refuse(why string) refusal {
	return refusal{fmt.Errorf("pattern %q: %s", c.source, why)}
}

func (c *patternCompiler) emit(i instruction) int {
	for r := rune(0); r < utf8.RuneSelf; r++ {
		if inRanges(i.set, r) {
			i.ascii[r>>6] |= 1 << (r & 63)
		}
	}
	c.program = append(c.program, i)
	return len(c.program) - 1
}

func (c *patternCompiler) compile(t *tree) {
	if len(c.program) > maxProgram {
		panic(c.refuse("it is too large"))
	}
	switch t.kind {
	case treeSet:
		c.emit(instruction{op: opSet, set: t.set})
	case treeSequence:
		for _, part := range t.parts {
			c.compile(part)
		}
	case treeAlternative:
		c.alternatives(t.parts)
	case treeRepeat:
		c.repeat(t)
	case treeLook:
		if t.behind && !isOneCharacter(t.parts[0]) {
			panic(c.refuse("a look-behind at more than one character is not supported"))
		}
		c.emit(instruction{op: opLook, negative: t.negative, behind: t.behind, inner: compileProgram(c.source, t.parts[0])})
	case treeAtomic:
		c.emit(instruction{op: opAtomic, inner: compileProgram(c.source, t.parts[0])})
	case treeAssert:
		c.emit(instruction{op: opAssert, assertion: t.assertion})
	}
}

// land makes instructions continue at the end of the program.
func (c *patternCompiler) land(instructions ...int) {
	for _, i := range instructions {
		c.program[i].target = len(c.program)
	}
}

func (c *patternCompiler) alternatives(parts []*tree) {
	var ends []int
	last := len(parts) - 1
	for _, part := range parts[:last] {
		split := c.emit(instruction{op: opSplit})
		c.compile(part)
		ends = append(ends, c.emit(instruction{op: opJump}))
		c.land(split)
	}
	c.compile(parts[last])
	c.land(ends...)
}

func (c *patternCompiler) repeat(t *tree) {
	part := t.parts[0]
	if part.kind == treeSet && !t.lazy {
		c.emit(instruction{op: opRun, set: part.set, low: t.low, high: t.high})
		return
	}
	if mayBeEmpty(part) {
		panic(c.refuse("a repetition of a part that may be empty is not supported"))
	}
	for range t.low {
		c.compile(part)
	}
	split := opSplit
	if t.lazy {
		split = opOther
	}
	if t.high < 0 {
		at := c.emit(instruction{op: split})
		c.compile(part)
		c.emit(instruction{op: opJump, target: at})
		c.land(at)
		return
	}
	var splits []int
	for range t.high - t.low {
		splits = append(splits, c.emit(instruction{op: split}))
		c.compile(part)
	}
	c.land(splits...)
}

// mayBeEmpty reports whether a part can match the empty string.
func mayBeEmpty(t *tree) bool {
	switch t.kind {
	case treeSet:
		return false
	case treeSequence:
		return !slices.ContainsFunc(t.parts, func(part *tree) bool { return !mayBeEmpty(part) })
	case treeAlternative:
		return slices.ContainsFunc(t.parts, mayBeEmpty)
	case treeRepeat:
		return t.low == 0 || mayBeEmpty(t.parts[0])
	case treeAtomic:
		return mayBeEmpty(t.parts[0])
	}
	return true
}

// isOneCharacter reports whether a part always matches exactly one character.
func isOneCharacter(t *tree) bool {
	switch t.kind {
	case treeSet:
		return true
	case treeSequence:
		return len(t.parts) == 1 && isOneCharacter(t.parts[0])
	case treeAlternative:
		return !slices.ContainsFunc(t.parts, func(part *tree) bool { return !isOneCharacter(part) })
	}
	return false
}
