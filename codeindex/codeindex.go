// Package codeindex describes what a source file defines and imports: classes, functions and methods
// with their lines. Packages below it parse languages.
package codeindex

// Language is a programming language of the index.
type Language string

// The languages.
const (
	Python     Language = "python"
	Go         Language = "go"
	JavaScript Language = "javascript" // with JSX
	TypeScript Language = "typescript" // with TSX
	Java       Language = "java"
	Rust       Language = "rust"
	C          Language = "c"
	CPP        Language = "cpp"
	Ruby       Language = "ruby"
	PHP        Language = "php"
)

// Languages lists every Language.
var Languages = []Language{Python, Go, JavaScript, TypeScript, Java, Rust, C, CPP, Ruby, PHP}

// Kind is the kind of a definition.
type Kind string

// The kinds. Interfaces, structs, traits, enums, modules and the like are classes; a function that
// belongs to one is a method.
const (
	Class    Kind = "class"
	Function Kind = "function"
	Method   Kind = "method"
)

// Span is a range of lines, from 1, both ends included.
type Span struct {
	Start, End int
}

// Contains reports whether the line is in the span.
func (s Span) Contains(line int) bool { return s.Start <= line && line <= s.End }

// Definition is a class, a function or a method. Its span contains its decorators, attributes,
// annotations and documentation inside of it.
type Definition struct {
	Kind Kind
	// Name is the qualified name in the file, such as f, Class.method or outer.inner.
	Name string
	Span
}

// Import is a statement that imports something.
type Import struct {
	Span
}

// Problem says why nothing, or not everything, of a file is indexed; "" if everything is.
type Problem string

// The problems. The text of a file with a problem can be read all the same.
const (
	Python2   Problem = "python2"    // it parses as Python 2 and not as Python 3
	Syntax    Problem = "syntax"     // it does not parse
	TooLarge  Problem = "too_large"  // it has more bytes than a parser reads
	TooSlow   Problem = "too_slow"   // its parser reached the time limit
	NotText   Problem = "not_text"   // it is not UTF-8 and declares no encoding that is known, or it is binary
	NoParser  Problem = "no_parser"  // the parser of its language is not installed
	ParseFail Problem = "parse_fail" // its parser failed
)

// Records is what one file defines and imports, both in the order of the file.
type Records struct {
	Definitions []Definition
	Imports     []Import
	Problem     Problem
}

// Parser extracts the records of a file. It is safe for concurrent use.
type Parser interface {
	// Parse never fails: a file that cannot be parsed has a Problem, with the records up to there if
	// they are reliable.
	Parse(path string, source []byte) Records
}
