package tokenizer

import (
	"errors"
	"unicode/utf8"
)

// opcode is what an instruction does.
type opcode int

const (
	opMatch  opcode = iota
	opSet           // takes one character of the set
	opRun           // takes low to high characters of the set, as many as it can
	opSplit         // goes on here, and at the target where that fails
	opOther         // goes on at the target, and here where that fails
	opJump          // goes on at the target
	opLook          // goes on where the inner program matches, or does not
	opAtomic        // takes the inner program's first match
	opAssert        // goes on at certain places
)

// instruction is a step of a compiled pattern.
type instruction struct {
	op        opcode
	target    int
	set       charSet
	ascii     [2]uint64 // the set's part below 128
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
	program []instruction
}

// maxProgram bounds a program, which intervals multiply.
const maxProgram = 20_000

func (c *patternCompiler) emit(i instruction) int {
	for r := rune(0); r < utf8.RuneSelf; r++ {
		if inRanges(i.set, r) {
			i.ascii[r>>6] |= 1 << (r & 63)
		}
	}
	c.program = append(c.program, i)
	return len(c.program) - 1
}

func (c *patternCompiler) compile(t *tree) error {
	if len(c.program) > maxProgram {
		return errors.New("it is too large")
	}
	switch t.kind {
	case treeSet:
		c.emit(instruction{op: opSet, set: t.set})
	case treeSequence:
		for _, part := range t.parts {
			if err := c.compile(part); err != nil {
				return err
			}
		}
	case treeAlternative:
		return c.alternatives(t.parts)
	case treeRepeat:
		return c.repeat(t)
	case treeLook:
		if t.behind && !isOneCharacter(t.parts[0]) {
			return errors.New("a look behind at more than one character is not known")
		}
		return c.inner(instruction{op: opLook, negative: t.negative, behind: t.behind}, t.parts[0])
	case treeAtomic:
		return c.inner(instruction{op: opAtomic}, t.parts[0])
	case treeAssert:
		c.emit(instruction{op: opAssert, assertion: t.assertion})
	}
	return nil
}

func (c *patternCompiler) inner(i instruction, t *tree) error {
	var sub patternCompiler
	if err := sub.compile(t); err != nil {
		return err
	}
	sub.emit(instruction{op: opMatch})
	i.inner = sub.program
	c.emit(i)
	return nil
}

func (c *patternCompiler) alternatives(parts []*tree) error {
	var ends []int
	for i, part := range parts {
		split := -1
		if i < len(parts)-1 {
			split = c.emit(instruction{op: opSplit})
		}
		if err := c.compile(part); err != nil {
			return err
		}
		if split >= 0 {
			ends = append(ends, c.emit(instruction{op: opJump}))
			c.program[split].target = len(c.program)
		}
	}
	for _, end := range ends {
		c.program[end].target = len(c.program)
	}
	return nil
}

func (c *patternCompiler) repeat(t *tree) error {
	part := t.parts[0]
	if part.kind == treeSet && !t.lazy {
		c.emit(instruction{op: opRun, set: part.set, low: t.low, high: t.high})
		return nil
	}
	if mayBeEmpty(part) {
		return errors.New("a repetition of what may be empty is not known")
	}
	for range t.low {
		if err := c.compile(part); err != nil {
			return err
		}
	}
	split := opSplit
	if t.lazy {
		split = opOther
	}
	if t.high < 0 {
		at := c.emit(instruction{op: split})
		if err := c.compile(part); err != nil {
			return err
		}
		c.emit(instruction{op: opJump, target: at})
		c.program[at].target = len(c.program)
		return nil
	}
	var splits []int
	for range t.high - t.low {
		splits = append(splits, c.emit(instruction{op: split}))
		if err := c.compile(part); err != nil {
			return err
		}
	}
	for _, at := range splits {
		c.program[at].target = len(c.program)
	}
	return nil
}

// mayBeEmpty reports whether a part can match without taking a character.
func mayBeEmpty(t *tree) bool {
	switch t.kind {
	case treeSet:
		return false
	case treeSequence:
		for _, part := range t.parts {
			if !mayBeEmpty(part) {
				return false
			}
		}
		return true
	case treeAlternative:
		for _, part := range t.parts {
			if mayBeEmpty(part) {
				return true
			}
		}
		return false
	case treeRepeat:
		return t.low == 0 || mayBeEmpty(t.parts[0])
	case treeAtomic:
		return mayBeEmpty(t.parts[0])
	}
	return true
}

// isOneCharacter reports whether a part always takes exactly one character.
func isOneCharacter(t *tree) bool {
	switch t.kind {
	case treeSet:
		return true
	case treeSequence:
		return len(t.parts) == 1 && isOneCharacter(t.parts[0])
	case treeAlternative:
		for _, part := range t.parts {
			if !isOneCharacter(part) {
				return false
			}
		}
		return true
	}
	return false
}
