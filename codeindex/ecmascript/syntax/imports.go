package syntax

import (
	"github.com/microsoft/typescript-go/shim"

	"relabel/codeindex"
)

// imported records a statement or a call that imports.
func (w *walk) imported(n *shim.Node) {
	switch n.Kind {
	case shim.ExportDeclaration:
		if n.AsExportDeclaration().ModuleSpecifier == nil {
			return
		}
	case shim.ImportEqualsDeclaration:
		if n.AsImportEqualsDeclaration().ModuleReference.Kind != shim.ExternalModuleReference {
			return
		}
	case shim.CallExpression:
		if !imports(n) {
			return
		}
		if statement := w.imports[n]; statement != nil {
			n = statement
		}
	}
	w.records.Imports = append(w.records.Imports, codeindex.Import{Span: w.span(n)})
}

// imports reports whether a call is require("x") or import(x).
func imports(call *shim.Node) bool {
	callee, arguments := call.Expression(), call.Arguments()
	if callee.Kind == shim.ImportKeyword {
		return true
	}
	if callee.Kind != shim.Identifier || callee.Text() != "require" || len(arguments) != 1 {
		return false
	}
	return arguments[0].Kind == shim.StringLiteral || arguments[0].Kind == shim.NoSubstitutionTemplate
}

// importCall returns the call that imports in the value of a variable: await import("x"),
// require("x").y, require("x")(z). It returns nil if there is none.
func importCall(n *shim.Node) *shim.Node {
	for n != nil {
		n = unwrap(n)
		switch n.Kind {
		case shim.CallExpression:
			if imports(n) {
				return n
			}
			n = n.Expression()
		case shim.PropertyAccessExpression, shim.ElementAccessExpression, shim.AwaitExpression:
			n = n.Expression()
		default:
			return nil
		}
	}
	return nil
}
