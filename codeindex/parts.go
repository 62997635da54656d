package codeindex

// Parts are the parts of a file's functions that a change of behaviour can be put in.
type Parts struct {
	Steps []Step `json:"steps"`
	Parts []Part `json:"parts"`
	// Tree is a digest of the syntax tree without positions, comments and white space. Two sources with
	// the same Tree do the same.
	Tree    string  `json:"tree"`
	Problem Problem `json:"problem"` // a file with a problem has no Parts
}

// Bytes is a range of bytes, from 0, without its end.
type Bytes struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Step is a statement of a function that stands in a list of statements, or the expression that is the
// whole body of a function. A coverage run says whether it was executed.
type Step struct {
	Bytes
	Line  int  `json:"line"`  // its first, from 1
	Value bool `json:"value"` // it is an expression
}

// PartKind is the kind of a Part.
type PartKind string

// The kinds of parts.
const (
	Operator  PartKind = "operator"  // the token or tokens of a binary operator or an assignment
	Condition PartKind = "condition" // the expression that decides a branch or a loop
	Number    PartKind = "number"    // a decimal integer
	Boolean   PartKind = "boolean"   // true or false
	Statement PartKind = "statement" // a statement that can be removed
	Arguments PartKind = "arguments" // two arguments of a call, one after the other
)

// Part is something in a function that can be changed so that the file still parses.
type Part struct {
	Kind PartKind `json:"kind"`
	Bytes
	Step int `json:"step"` // the innermost step around it, an index of Steps
	// Next is the second of two Arguments.
	Next *Bytes `json:"next,omitempty"`
	// Alone: a Statement without which its block is empty.
	Alone bool `json:"alone,omitempty"`
}
