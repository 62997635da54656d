// Package golang finds the definitions and imports of Go files with Go's own parser.
package golang

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"unicode/utf8"

	"relabel/codeindex"
)

// A Parser finds the definitions and imports of Go files. Types are classes, and functions with a
// receiver are methods named Receiver.method, without pointers and type parameters. A type inside of a
// function is named function.Type. Documentation before a definition is not part of it. An import
// declaration is one Import, in brackets or not. Lines are those of the file; its //line directives
// are ignored. A file with an error has the definitions that Go's parser read all the same; one of
// more than 8 MiB with ten errors or more has none. The zero Parser is ready for use.
type Parser struct{}

// maxErrors is how long a source may be of which all errors are kept, as each takes memory.
const maxErrors = 8 << 20

// Parse implements codeindex.Parser.
func (Parser) Parse(path string, source []byte) codeindex.Records {
	mode := parser.SkipObjectResolution
	if len(source) <= maxErrors {
		mode |= parser.AllErrors
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, mode)
	w := walker{files: files, names: 1<<16 + 16*len(source)}
	if err != nil {
		w.out.Problem = codeindex.Syntax
	}
	if !utf8.Valid(source) || bytes.IndexByte(source, 0) >= 0 {
		w.out.Problem = codeindex.NotText
	}
	if file != nil {
		w.file(file)
	}
	return w.out
}

// A walker collects the records of a file.
type walker struct {
	files *token.FileSet
	out   codeindex.Records
	names int // bytes that the names of definitions may have
}

func (w *walker) file(file *ast.File) {
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.GenDecl:
			w.declaration(d)
		case *ast.FuncDecl:
			w.function(d)
		}
	}
}

// declaration takes an import or the types of a declaration outside of functions, and those of
// functions in its values.
func (w *walker) declaration(d *ast.GenDecl) {
	if d.Tok == token.IMPORT {
		w.out.Imports = append(w.out.Imports, codeindex.Import{Span: w.span(d)})
		return
	}
	w.types(d, "")
}

func (w *walker) function(d *ast.FuncDecl) {
	kind, name := codeindex.Function, d.Name.Name
	if receiver := receiverName(d); receiver != "" {
		kind, name = codeindex.Method, receiver+"."+name
	}
	w.define(kind, name, d)
	w.types(d, name+".")
}

// types takes the types that are declared anywhere in a node.
func (w *walker) types(node ast.Node, prefix string) {
	ast.Inspect(node, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			w.define(codeindex.Class, prefix+spec.Name.Name, spec)
		}
		return true
	})
}

func (w *walker) define(kind codeindex.Kind, name string, node ast.Node) {
	w.names -= len(name)
	if w.names < 0 {
		w.out.Problem = codeindex.TooLarge
		return
	}
	w.out.Definitions = append(w.out.Definitions, codeindex.Definition{Kind: kind, Name: name, Span: w.span(node)})
}

// span returns the lines of a node.
func (w *walker) span(node ast.Node) codeindex.Span {
	start := w.files.PositionFor(node.Pos(), false).Line
	end := w.files.PositionFor(node.End(), false).Line
	return codeindex.Span{Start: start, End: max(start, end)}
}

// receiverName returns the name of the receiver's type, or "".
func receiverName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	for of := d.Recv.List[0].Type; ; {
		switch t := of.(type) {
		case *ast.ParenExpr:
			of = t.X
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}
