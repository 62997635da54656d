package tokenizer

import "unicode/utf8"

// choice is a point to backtrack to: the next step and its position in the text. For a run it
// stands for all positions down to low.
type choice struct {
	step, at, low int
}

// matcher runs programs on a text.
type matcher struct {
	text  string
	stack []choice
}

// search returns the leftmost match at or after from, −1 if there is none.
func (m *matcher) search(program []instruction, from int) (start, end int) {
	for start = from; start <= len(m.text); {
		if end = m.match(program, start); end >= 0 {
			return start, end
		}
		if start == len(m.text) {
			break
		}
		_, n := utf8.DecodeRuneInString(m.text[start:])
		start += n
	}
	return -1, -1
}

// match returns the end of the first match that starts at a position, −1 if there is none.
func (m *matcher) match(program []instruction, at int) int {
	bottom := len(m.stack)
	defer func() { m.stack = m.stack[:bottom] }()
	step := 0
	for {
		if program[step].op == opMatch {
			return at
		}
		if next, end := m.step(program, step, at); next >= 0 {
			step, at = next, end
			continue
		}
		if len(m.stack) == bottom {
			return -1
		}
		step, at = m.back()
	}
}

// back returns the most recent open choice and removes it.
func (m *matcher) back() (step, at int) {
	top := &m.stack[len(m.stack)-1]
	step, at = top.step, top.at
	if at > top.low {
		_, n := utf8.DecodeLastRuneInString(m.text[:at])
		top.at -= n
	} else {
		m.stack = m.stack[:len(m.stack)-1]
	}
	return step, at
}

// step executes one instruction; it returns −1 if the instruction fails.
func (m *matcher) step(program []instruction, step, at int) (next, end int) {
	switch c := &program[step]; c.op {
	case opSet:
		if at < len(m.text) {
			if r, n := utf8.DecodeRuneInString(m.text[at:]); c.has(r) {
				return step + 1, at + n
			}
		}
		return -1, 0
	case opRun:
		return m.run(c, step, at)
	case opSplit:
		m.stack = append(m.stack, choice{c.target, at, at})
		return step + 1, at
	case opOther:
		m.stack = append(m.stack, choice{step + 1, at, at})
		return c.target, at
	case opJump:
		return c.target, at
	case opLook:
		if m.look(c, at) == c.negative {
			return -1, 0
		}
		return step + 1, at
	case opAtomic:
		if end := m.match(c.inner, at); end >= 0 {
			return step + 1, end
		}
		return -1, 0
	case opAssert:
		if m.holds(c.assertion, at) {
			return step + 1, at
		}
	}
	return -1, 0
}

// run consumes as many characters of a set as possible and keeps shorter runs as choices.
func (m *matcher) run(c *instruction, step, at int) (next, end int) {
	least := at
	n := 0
	for ; at < len(m.text) && n != c.high; n++ {
		r, size := utf8.DecodeRuneInString(m.text[at:])
		if !c.has(r) {
			break
		}
		at += size
		if n < c.low {
			least = at
		}
	}
	if n < c.low {
		return -1, 0
	}
	if at > least {
		_, size := utf8.DecodeLastRuneInString(m.text[:at])
		m.stack = append(m.stack, choice{step + 1, at - size, least})
	}
	return step + 1, at
}

func (m *matcher) look(c *instruction, at int) bool {
	if c.behind {
		if at == 0 {
			return false
		}
		_, n := utf8.DecodeLastRuneInString(m.text[:at])
		at -= n
	}
	return m.match(c.inner, at) >= 0
}

// holds reports whether an assertion holds at a position.
func (m *matcher) holds(assertion byte, at int) bool {
	switch assertion {
	case '^':
		return at == 0 || at < len(m.text) && m.text[at-1] == '\n'
	case '$':
		return at == len(m.text) || m.text[at] == '\n'
	case 'A':
		return at == 0
	case 'z':
		return at == len(m.text)
	case 'Z':
		return at == len(m.text) || at == len(m.text)-1 && m.text[at] == '\n'
	}
	before, after := neighboursIn(m.text, at, at, "patternword")
	return (before != after) == (assertion == 'b')
}
