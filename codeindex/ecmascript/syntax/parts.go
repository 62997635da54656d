package syntax

import (
	"slices"

	"github.com/microsoft/typescript-go/shim"

	"relabel/codeindex"
)

// Parts returns the parts of a source's functions. Types, decorators and what stands outside of functions
// have none.
func Parts(language byte, source []byte) codeindex.Parts {
	if int(language) >= len(kinds) {
		return codeindex.Parts{Problem: codeindex.NoParser}
	}
	file := shim.Parse(string(source), kinds[language])
	for _, d := range file.Diagnostics() {
		if !inDocumentation(file.Text(), d.Pos()) {
			return codeindex.Parts{Problem: codeindex.Syntax}
		}
	}
	p := dissection{walk: walk{text: file.Text(), lines: shim.LineStarts(file)}}
	p.children(file.AsNode(), outside)
	p.parts.Tree = p.tree(file.AsNode())
	return p.parts
}

// outside is the step of what stands outside of functions.
const outside = -1

// dissection collects the parts of a file.
type dissection struct {
	walk
	parts codeindex.Parts
}

func (p *dissection) children(n *shim.Node, step int) {
	n.ForEachChild(func(child *shim.Node) bool {
		p.visit(child, step)
		return false
	})
}

// visit takes the parts in a node, whose innermost step is step.
func (p *dissection) visit(n *shim.Node, step int) {
	if n.Flags&shim.Reparsed != 0 || n.Kind == shim.Decorator || shim.IsType(n) {
		return
	}
	switch n.Kind {
	case shim.FunctionDeclaration, shim.FunctionExpression, shim.ArrowFunction, shim.MethodDeclaration,
		shim.GetAccessor, shim.SetAccessor, shim.Constructor:
		p.function(n)
		return
	case shim.ClassDeclaration, shim.ClassExpression:
		p.children(n, outside) // its fields are no statements
		return
	case shim.Block, shim.CaseClause, shim.DefaultClause:
		if step != outside {
			p.list(n, step)
			return
		}
	}
	if step != outside {
		p.take(n, step)
	}
	p.children(n, step)
}

// function takes the parts in a function's body. Those of its parameters are left out.
func (p *dissection) function(n *shim.Node) {
	switch body := n.Body(); {
	case body == nil:
	case body.Kind == shim.Block:
		p.list(body, outside)
	default:
		p.visit(body, p.step(body, true))
	}
}

func (p *dissection) step(n *shim.Node, value bool) int {
	at := p.bytes(n)
	p.parts.Steps = append(p.parts.Steps, codeindex.Step{Bytes: at, Line: p.line(at.Start), Value: value})
	return len(p.parts.Steps) - 1
}

// list takes the statements of a block or of a clause of a switch; the clause's own expression belongs
// to the step around it.
func (p *dissection) list(n *shim.Node, around int) {
	statements := n.Statements()
	n.ForEachChild(func(child *shim.Node) bool {
		switch {
		case !slices.Contains(statements, child):
			p.visit(child, around)
		case directive(child) || callsSuper(child):
			// Nothing may stand before it, so a coverage run cannot say whether it was executed.
		default:
			step := p.step(child, false)
			if removable(child) {
				p.add(codeindex.Part{Kind: codeindex.Statement, Bytes: p.bytes(child), Step: step})
			}
			p.visit(child, step)
		}
		return false
	})
}

// directive reports whether a statement is one like "use strict".
func directive(n *shim.Node) bool {
	return n.Kind == shim.ExpressionStatement && n.Expression().Kind == shim.StringLiteral
}

// callsSuper reports whether a statement is super(…).
func callsSuper(n *shim.Node) bool {
	return n.Kind == shim.ExpressionStatement && n.Expression().Kind == shim.CallExpression &&
		n.Expression().Expression().Kind == shim.SuperKeyword
}

func removable(n *shim.Node) bool {
	switch n.Kind {
	case shim.ExpressionStatement, shim.BreakStatement, shim.ContinueStatement, shim.ReturnStatement, shim.ThrowStatement:
		return true
	case shim.IfStatement:
		return n.AsIfStatement().ElseStatement == nil
	}
	return false
}

// take adds the parts that a node is.
func (p *dissection) take(n *shim.Node, step int) {
	add := func(kind codeindex.PartKind, at codeindex.Bytes) {
		p.add(codeindex.Part{Kind: kind, Bytes: at, Step: step})
	}
	switch n.Kind {
	case shim.BinaryExpression:
		if b := n.AsBinaryExpression(); b.OperatorToken.Kind != shim.PlusToken || !isText(b.Left) && !isText(b.Right) {
			add(codeindex.Operator, p.bytes(b.OperatorToken))
		}
	case shim.PostfixUnaryExpression:
		add(codeindex.Operator, codeindex.Bytes{Start: n.End() - len("++"), End: n.End()})
	case shim.IfStatement:
		add(codeindex.Condition, p.bytes(n.AsIfStatement().Expression))
	case shim.WhileStatement:
		add(codeindex.Condition, p.bytes(n.AsWhileStatement().Expression))
	case shim.DoStatement:
		add(codeindex.Condition, p.bytes(n.AsDoStatement().Expression))
	case shim.ForStatement:
		if c := n.AsForStatement().Condition; c != nil {
			add(codeindex.Condition, p.bytes(c))
		}
	case shim.ConditionalExpression:
		add(codeindex.Condition, p.bytes(n.AsConditionalExpression().Condition))
	case shim.NumericLiteral:
		add(codeindex.Number, p.bytes(n))
	case shim.TrueKeyword, shim.FalseKeyword:
		add(codeindex.Boolean, p.bytes(n))
	case shim.CallExpression:
		p.arguments(n.Arguments(), step)
	}
}

// arguments adds the neighbours among the arguments of a call.
func (p *dissection) arguments(all []*shim.Node, step int) {
	for i := range len(all) - 1 {
		first, second := all[i], all[i+1]
		if first.Kind == shim.SpreadElement || second.Kind == shim.SpreadElement {
			continue
		}
		next := p.bytes(second)
		p.add(codeindex.Part{Kind: codeindex.Arguments, Bytes: p.bytes(first), Next: &next, Step: step})
	}
}

func (p *dissection) add(part codeindex.Part) { p.parts.Parts = append(p.parts.Parts, part) }

// isText reports whether + with this operand joins texts.
func isText(n *shim.Node) bool {
	for n.Kind == shim.BinaryExpression && n.AsBinaryExpression().OperatorToken.Kind == shim.PlusToken {
		if isText(n.AsBinaryExpression().Right) {
			return true
		}
		n = n.AsBinaryExpression().Left
	}
	return n.Kind == shim.StringLiteral || n.Kind == shim.NoSubstitutionTemplate || n.Kind == shim.TemplateExpression
}

func (p *dissection) bytes(n *shim.Node) codeindex.Bytes {
	return codeindex.Bytes{Start: shim.Start(p.text, n), End: n.End()}
}
