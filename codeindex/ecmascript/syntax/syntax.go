// Package syntax extracts what JavaScript and TypeScript files define and import, with the parser of
// TypeScript's compiler. It runs in a child, because deep nesting overflows that parser's stack.
package syntax

import (
	"slices"
	"strings"

	"github.com/microsoft/typescript-go/shim"

	"relabel/codeindex"
)

// maxName is the length of the longest qualified name that is recorded.
const maxName = 500

// kinds are the languages of the protocol: JavaScript with JSX, TypeScript, TSX.
var kinds = []shim.ScriptKind{shim.JavaScript, shim.TypeScript, shim.TSX}

// Parse returns the records of a source.
func Parse(language byte, source []byte) codeindex.Records {
	if int(language) >= len(kinds) {
		return codeindex.Records{Problem: codeindex.NoParser}
	}
	file := shim.Parse(string(source), kinds[language])
	w := walk{text: file.Text(), lines: shim.LineStarts(file), imports: map[*shim.Node]*shim.Node{}}
	w.children(file.AsNode(), scope{})
	for _, d := range file.Diagnostics() {
		if !inDocumentation(w.text, d.Pos()) {
			w.records.Problem = codeindex.Syntax
			break
		}
	}
	return w.records
}

// inDocumentation reports whether a position is in a comment of types, whose errors do not count.
func inDocumentation(text string, position int) bool {
	before := text[:position]
	return strings.LastIndex(before, "/**") > strings.LastIndex(before, "*/")
}

// scope is the innermost definition around a node.
type scope struct {
	name  string
	class bool
}

// inner returns the qualified name of name in the scope.
func (s scope) inner(name string) string {
	if s.name == "" || name == "" {
		return s.name + name
	}
	return s.name + "." + name
}

// function is the kind of a function in the scope.
func (s scope) function(name string) codeindex.Kind {
	if s.class || strings.Contains(name, ".") {
		return codeindex.Method
	}
	return codeindex.Function
}

type walk struct {
	text    string
	lines   []int // where they start
	records codeindex.Records
	imports map[*shim.Node]*shim.Node // the statements of calls that import
}

func (w *walk) children(n *shim.Node, s scope) {
	n.ForEachChild(func(child *shim.Node) bool {
		w.visit(child, s)
		return false
	})
}

func (w *walk) visit(n *shim.Node, s scope) {
	if n.Flags&shim.Reparsed != 0 {
		return
	}
	switch n.Kind {
	case shim.Decorator:
		w.children(n, scope{})
	case shim.ClassDeclaration, shim.InterfaceDeclaration, shim.EnumDeclaration:
		w.define(codeindex.Class, defaultName(n), n, n, s)
	case shim.ModuleDeclaration:
		w.module(n, s)
	case shim.FunctionDeclaration:
		w.define(s.function(""), defaultName(n), n, n, s)
	case shim.FunctionExpression, shim.ArrowFunction, shim.ClassExpression:
		w.expression(n, s)
	case shim.MethodDeclaration, shim.GetAccessor, shim.SetAccessor, shim.MethodSignature, shim.Constructor:
		w.method(n, s)
	case shim.PropertyDeclaration, shim.PropertyAssignment:
		w.around(n, s)
		w.bind(w.memberName(n), n, n.Initializer(), s)
	case shim.VariableStatement:
		w.variables(n, s)
	case shim.ExpressionStatement:
		w.assign(n.Expression(), n, s)
	case shim.BinaryExpression:
		w.assign(n, n, s)
	case shim.ExportAssignment:
		w.export("default", n, n.AsExportAssignment().Expression, s)
	case shim.ImportDeclaration, shim.ImportEqualsDeclaration, shim.ExportDeclaration, shim.CallExpression, shim.ImportType:
		w.imported(n)
		w.children(n, s)
	default:
		w.children(n, s)
	}
}

// define records what is called name in the scope, and visits inside, the node with its own scope.
func (w *walk) define(kind codeindex.Kind, name string, whole, inside *shim.Node, s scope) {
	own := scope{s.inner(name), kind == codeindex.Class}
	if name == "" || len(own.name) > maxName {
		w.children(inside, s)
		return
	}
	w.records.Definitions = append(w.records.Definitions, codeindex.Definition{Kind: kind, Name: own.name, Span: w.span(whole)})
	w.children(inside, own)
}

// module is a namespace; declare module "x" and declare global name nothing.
func (w *walk) module(n *shim.Node, s scope) {
	if name := n.Name(); name.Kind == shim.Identifier && name.Text() != "global" {
		w.define(codeindex.Class, name.Text(), n, n, s)
		return
	}
	w.children(n, s)
}

func (w *walk) method(n *shim.Node, s scope) {
	if n.Parent.Kind == shim.TypeLiteral {
		w.children(n, s)
		return
	}
	w.define(codeindex.Method, w.memberName(n), n, n, s)
}

// expression is a function or a class that is not assigned to a name.
func (w *walk) expression(n *shim.Node, s scope) {
	switch name := ownName(n); {
	case name == "":
		w.children(n, scope{name: s.name})
	case n.Kind == shim.ClassExpression:
		w.define(codeindex.Class, name, n, n, s)
	default:
		w.define(codeindex.Function, name, n, n, s)
	}
}

// bind is a value that is called name in the scope; whole is the statement or member with both.
func (w *walk) bind(name string, whole, value *shim.Node, s scope) {
	if value == nil {
		return
	}
	switch value = unwrap(value); {
	case name == "" && value.Kind != shim.ObjectLiteralExpression:
		w.visit(value, s)
	case value.Kind == shim.FunctionExpression || value.Kind == shim.ArrowFunction:
		w.define(s.function(name), name, whole, value, s)
	case value.Kind == shim.ClassExpression:
		w.define(codeindex.Class, name, whole, value, s)
	case value.Kind == shim.ObjectLiteralExpression && len(s.inner(name)) <= maxName:
		w.children(value, scope{s.inner(name), true})
	default:
		w.visit(value, s)
	}
}

// around visits the decorators and the type of a variable or a property, which may import.
func (w *walk) around(n *shim.Node, s scope) {
	if modifiers := n.Modifiers(); modifiers != nil {
		for _, m := range modifiers.Nodes {
			w.visit(m, s)
		}
	}
	if t := n.Type(); t != nil {
		w.visit(t, s)
	}
}

// variables is const a = …, b = …; a single one is as long as the statement.
func (w *walk) variables(n *shim.Node, s scope) {
	all := n.AsVariableStatement().DeclarationList.AsVariableDeclarationList().Declarations.Nodes
	for _, d := range all {
		whole := d
		if len(all) == 1 {
			whole = n
		}
		if call := importCall(d.Initializer()); call != nil {
			w.imports[call] = whole
		}
		w.around(d, s)
		name := ""
		if d.Name().Kind == shim.Identifier {
			name = d.Name().Text()
		} else {
			w.visit(d.Name(), s)
		}
		w.bind(name, whole, d.Initializer(), s)
	}
}

// assign is an expression that may be a.b = value.
func (w *walk) assign(n, whole *shim.Node, s scope) {
	if n.Kind != shim.BinaryExpression || n.AsBinaryExpression().OperatorToken.Kind != shim.EqualsToken {
		if n == whole {
			w.children(n, s)
		} else {
			w.visit(n, s)
		}
		return
	}
	left, right := n.AsBinaryExpression().Left, n.AsBinaryExpression().Right
	name := assignedName(left)
	switch {
	case name == "module.exports" || name == "exports":
		w.export("module.exports", whole, right, s)
		return
	case name == "":
		w.visit(left, s)
	case strings.HasPrefix(name, "this."):
		s.class = true
	}
	w.bind(exportedName(name), whole, right, s)
}

// export is a value that a module exports as a whole.
func (w *walk) export(name string, whole, value *shim.Node, s scope) {
	value = unwrap(value)
	switch value.Kind {
	case shim.ObjectLiteralExpression:
		name = ""
	case shim.FunctionExpression, shim.ClassExpression:
		if own := ownName(value); own != "" {
			name = own
		}
	}
	if value.Kind == shim.FunctionExpression || value.Kind == shim.ArrowFunction {
		w.define(codeindex.Function, name, whole, value, s)
		return
	}
	w.bind(name, whole, value, s)
}

func (w *walk) span(n *shim.Node) codeindex.Span {
	return codeindex.Span{Start: w.line(shim.Start(w.text, n)), End: w.line(max(n.End()-1, n.Pos()))}
}

func (w *walk) line(position int) int {
	i, found := slices.BinarySearch(w.lines, position)
	if found {
		i++
	}
	return max(i, 1)
}
