package inject

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"relabel/codeindex"
)

// Kind is a kind of bug.
type Kind string

// The kinds of bugs.
const (
	KindOperator  Kind = "operator"     // another operator
	KindBoundary  Kind = "boundary"     // < for <= and the like, or a number off by one
	KindCondition Kind = "condition"    // a negated condition, or true for false
	KindArguments Kind = "arguments"    // two arguments swapped
	KindRemoved   Kind = "removed line" // a statement removed
)

// Mutation is a bug that can be put into a file.
type Mutation struct {
	Path     string `json:"path"`
	Kind     Kind   `json:"kind"`
	Function string `json:"function"` // qualified name
	Line     int    `json:"line"`     // of the step
	Edits    []Edit `json:"edits"`    // in the order of the file

	start int // where the function starts, since names may be there twice
	step  int
}

// Edit replaces bytes of a file.
type Edit struct {
	codeindex.Bytes
	Was string `json:"was"`
	Now string `json:"now"`
}

// apply returns a source with the bug.
func (m Mutation) apply(source []byte) []byte {
	out := slices.Clone(source)
	for _, e := range slices.Backward(m.Edits) {
		out = slices.Concat(out[:e.Start], []byte(e.Now), out[e.End:])
	}
	return out
}

// String says where the bug is.
func (m Mutation) String() string {
	return fmt.Sprintf("%s in %s at %s:%d", m.Kind, m.Function, m.Path, m.Line)
}

// title says what the bug is, on one line.
func (m Mutation) title() string {
	var parts []string
	for _, e := range m.Edits {
		now := "nothing"
		if strings.TrimSpace(e.Now) != "" {
			now = quoted(e.Now)
		}
		parts = append(parts, quoted(e.Was)+" became "+now)
	}
	return strings.Join(parts, "; ")
}

// quoted shortens code to one line.
func quoted(code string) string {
	runes := []rune(strings.Join(strings.Fields(code), " "))
	if len(runes) > 60 {
		runes = append(runes[:59], '…')
	}
	return "`" + string(runes) + "`"
}

// group identifies the function that the bug is in.
func (m Mutation) group() string { return fmt.Sprintf("%s\x00%s\x00%d", m.Path, m.Function, m.start) }

// keyOf identifies a bug in a commit.
func keyOf(base string, m Mutation) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%v", base, m.Path, m.Edits))
	return hex.EncodeToString(sum[:16])
}

// mutations returns all bugs that can be put into a file.
func (s *Source) mutations(f file) []Mutation {
	var all []Mutation
	for _, part := range f.parts.Parts {
		for _, r := range replacements(f, part) {
			step := f.parts.Steps[part.Step]
			name, start := f.function(step.Line)
			all = append(all, Mutation{Path: f.path, Kind: r.kind, Function: name, Line: step.Line, Edits: r.edits, start: start, step: part.Step})
		}
	}
	return all
}

// function returns the name and the first line of the innermost function around a line.
func (f file) function(line int) (name string, start int) {
	for _, d := range f.definitions {
		if d.Kind != codeindex.Class && d.Contains(line) && d.Start >= start {
			name, start = d.Name, d.Start
		}
	}
	if name == "" {
		return fmt.Sprintf("the function at line %d", line), line
	}
	return name, start
}
