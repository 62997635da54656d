package golang

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"

	"relabel/codeindex"
)

// Parts returns the parts of a file's functions. A file with an error has none.
func (Parser) Parts(path string, source []byte) codeindex.Parts {
	if bytes.IndexByte(source, 0) >= 0 {
		return codeindex.Parts{Problem: codeindex.NotText}
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		return codeindex.Parts{Problem: codeindex.Syntax}
	}
	p := dissection{files: files, at: files.File(file.Pos())}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			p.list(f.Body.List)
		}
	}
	tree, err := treeOf(file)
	if err != nil {
		return codeindex.Parts{Problem: codeindex.ParseFail}
	}
	p.parts.Tree = tree
	return p.parts
}

// treeOf returns a digest of a file as gofmt writes its tree without comments, on a single line.
func treeOf(file *ast.File) (string, error) {
	file.Comments = nil
	var text bytes.Buffer
	if err := printer.Fprint(&text, token.NewFileSet(), file); err != nil {
		return "", err
	}
	sum := sha256.Sum256(bytes.Join(bytes.Fields(text.Bytes()), []byte(" ")))
	return hex.EncodeToString(sum[:16]), nil
}

// dissection collects the parts of a file.
type dissection struct {
	files *token.FileSet
	at    *token.File
	parts codeindex.Parts
	step  int // the innermost one around what is visited
}

// list takes the statements of a block.
func (p *dissection) list(statements []ast.Stmt) {
	around := p.step
	defer func() { p.step = around }()
	for _, s := range statements {
		switch s.(type) {
		case *ast.CaseClause, *ast.CommClause:
			p.step = around
			ast.Inspect(s, p.visit)
			continue
		}
		span := p.bytes(s.Pos(), s.End())
		p.parts.Steps = append(p.parts.Steps, codeindex.Step{Bytes: span, Line: p.files.PositionFor(s.Pos(), false).Line})
		p.step = len(p.parts.Steps) - 1
		if removable(s) {
			p.add(codeindex.Part{Kind: codeindex.Statement, Bytes: span})
		}
		ast.Inspect(s, p.visit)
	}
}

// removable reports whether a function without a statement still compiles, as far as can be said.
func removable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.BranchStmt, *ast.SendStmt, *ast.DeferStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	case *ast.ReturnStmt:
		return len(s.Results) == 0
	case *ast.IfStmt:
		return s.Else == nil
	}
	return false
}

// visit takes the parts that a node is. Blocks have steps of their own, and types have no parts.
func (p *dissection) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BlockStmt:
		p.list(n.List)
		return false
	case *ast.CaseClause:
		for _, e := range n.List {
			ast.Inspect(e, p.visit)
		}
		p.list(n.Body)
		return false
	case *ast.CommClause:
		ast.Inspect(n.Comm, p.visit)
		p.list(n.Body)
		return false
	case *ast.ArrayType, *ast.FuncType, *ast.StructType, *ast.InterfaceType, *ast.MapType:
		return false
	}
	p.take(n)
	return true
}

func (p *dissection) take(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op != token.ADD || !isText(n.X) && !isText(n.Y) {
			p.operator(n.OpPos, n.Op)
		}
	case *ast.AssignStmt:
		p.operator(n.TokPos, n.Tok)
	case *ast.IncDecStmt:
		p.operator(n.TokPos, n.Tok)
	case *ast.IfStmt:
		p.add(codeindex.Part{Kind: codeindex.Condition, Bytes: p.bytes(n.Cond.Pos(), n.Cond.End())})
	case *ast.ForStmt:
		if n.Cond != nil {
			p.add(codeindex.Part{Kind: codeindex.Condition, Bytes: p.bytes(n.Cond.Pos(), n.Cond.End())})
		}
	case *ast.BasicLit:
		if n.Kind == token.INT {
			p.add(codeindex.Part{Kind: codeindex.Number, Bytes: p.bytes(n.Pos(), n.End())})
		}
	case *ast.Ident:
		if n.Name == "true" || n.Name == "false" {
			p.add(codeindex.Part{Kind: codeindex.Boolean, Bytes: p.bytes(n.Pos(), n.End())})
		}
	case *ast.CallExpr:
		for i := range max(0, len(n.Args)-1) {
			next := p.bytes(n.Args[i+1].Pos(), n.Args[i+1].End())
			p.add(codeindex.Part{Kind: codeindex.Arguments, Bytes: p.bytes(n.Args[i].Pos(), n.Args[i].End()), Next: &next})
		}
	}
}

func (p *dissection) operator(at token.Pos, operator token.Token) {
	p.add(codeindex.Part{Kind: codeindex.Operator, Bytes: p.bytes(at, at+token.Pos(len(operator.String())))})
}

// add adds a part of the innermost step.
func (p *dissection) add(part codeindex.Part) {
	part.Step = p.step
	p.parts.Parts = append(p.parts.Parts, part)
}

// isText reports whether + with this operand joins texts, as far as can be seen.
func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (isText(e.X) || isText(e.Y))
	}
	return false
}

func (p *dissection) bytes(from, to token.Pos) codeindex.Bytes {
	return codeindex.Bytes{Start: p.at.Offset(from), End: p.at.Offset(to)}
}
