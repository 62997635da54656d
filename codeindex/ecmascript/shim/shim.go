// Package shim gives relabel the parser of TypeScript's compiler, whose packages are internal.
package shim

import (
	"github.com/microsoft/typescript-go/internal/ast"
	"github.com/microsoft/typescript-go/internal/core"
	"github.com/microsoft/typescript-go/internal/parser"
	"github.com/microsoft/typescript-go/internal/scanner"
	"github.com/microsoft/typescript-go/internal/tspath"
)

// The nodes of a file.
type (
	// Node is a node of the tree.
	Node = ast.Node
	// SourceFile is the root of the tree.
	SourceFile = ast.SourceFile
	// ScriptKind is what a file is written in.
	ScriptKind = core.ScriptKind
)

// What files are written in. JavaScript may have JSX.
const (
	JavaScript = core.ScriptKindJS
	TypeScript = core.ScriptKindTS
	TSX        = core.ScriptKindTSX
)

// Reparsed marks nodes that stand in comments.
const Reparsed = ast.NodeFlagsReparsed

// The kinds of nodes.
const (
	ArrowFunction            = ast.KindArrowFunction
	AsExpression             = ast.KindAsExpression
	AwaitExpression          = ast.KindAwaitExpression
	BinaryExpression         = ast.KindBinaryExpression
	CallExpression           = ast.KindCallExpression
	ClassDeclaration         = ast.KindClassDeclaration
	ClassExpression          = ast.KindClassExpression
	ComputedPropertyName     = ast.KindComputedPropertyName
	Constructor              = ast.KindConstructor
	EnumDeclaration          = ast.KindEnumDeclaration
	EqualsToken              = ast.KindEqualsToken
	ExportAssignment         = ast.KindExportAssignment
	ExportDeclaration        = ast.KindExportDeclaration
	ExpressionStatement      = ast.KindExpressionStatement
	ExternalModuleReference  = ast.KindExternalModuleReference
	FunctionDeclaration      = ast.KindFunctionDeclaration
	FunctionExpression       = ast.KindFunctionExpression
	GetAccessor              = ast.KindGetAccessor
	GlobalKeyword            = ast.KindGlobalKeyword
	Identifier               = ast.KindIdentifier
	ImportDeclaration        = ast.KindImportDeclaration
	ImportEqualsDeclaration  = ast.KindImportEqualsDeclaration
	ImportType               = ast.KindImportType
	ImportKeyword            = ast.KindImportKeyword
	InterfaceDeclaration     = ast.KindInterfaceDeclaration
	MethodDeclaration        = ast.KindMethodDeclaration
	MethodSignature          = ast.KindMethodSignature
	ModuleDeclaration        = ast.KindModuleDeclaration
	NonNullExpression        = ast.KindNonNullExpression
	ObjectLiteralExpression  = ast.KindObjectLiteralExpression
	ParenthesizedExpression  = ast.KindParenthesizedExpression
	PropertyAccessExpression = ast.KindPropertyAccessExpression
	PropertyAssignment       = ast.KindPropertyAssignment
	PropertyDeclaration      = ast.KindPropertyDeclaration
	SatisfiesExpression      = ast.KindSatisfiesExpression
	SetAccessor              = ast.KindSetAccessor
	StringLiteral            = ast.KindStringLiteral
	TypeLiteral              = ast.KindTypeLiteral
	ThisKeyword              = ast.KindThisKeyword
	TypeAssertionExpression  = ast.KindTypeAssertionExpression
	VariableStatement        = ast.KindVariableStatement
	NoSubstitutionTemplate   = ast.KindNoSubstitutionTemplateLiteral
	Decorator                = ast.KindDecorator
	ElementAccessExpression  = ast.KindElementAccessExpression
	Block                    = ast.KindBlock
	BreakStatement           = ast.KindBreakStatement
	CaseClause               = ast.KindCaseClause
	ConditionalExpression    = ast.KindConditionalExpression
	ContinueStatement        = ast.KindContinueStatement
	DefaultClause            = ast.KindDefaultClause
	DoStatement              = ast.KindDoStatement
	FalseKeyword             = ast.KindFalseKeyword
	ForStatement             = ast.KindForStatement
	IfStatement              = ast.KindIfStatement
	NumericLiteral           = ast.KindNumericLiteral
	PlusToken                = ast.KindPlusToken
	PostfixUnaryExpression   = ast.KindPostfixUnaryExpression
	PrefixUnaryExpression    = ast.KindPrefixUnaryExpression
	ReturnStatement          = ast.KindReturnStatement
	SpreadElement            = ast.KindSpreadElement
	SuperKeyword             = ast.KindSuperKeyword
	TemplateExpression       = ast.KindTemplateExpression
	ThrowStatement           = ast.KindThrowStatement
	TrueKeyword              = ast.KindTrueKeyword
	WhileStatement           = ast.KindWhileStatement
)

// IsType reports whether a node is a type.
func IsType(n *Node) bool { return ast.IsTypeNode(n) }

// Parse parses a file.
func Parse(text string, kind ScriptKind) *SourceFile {
	name := "/file.ts"
	if kind == JavaScript {
		name = "/file.js"
	}
	return parser.ParseSourceFile(ast.SourceFileParseOptions{FileName: name, Path: tspath.Path(name)}, text, kind)
}

// Start returns where the first token of a node starts, after comments.
func Start(text string, n *Node) int { return scanner.SkipTrivia(text, n.Pos()) }

// LineStarts returns where the lines of a file start.
func LineStarts(f *SourceFile) []int {
	starts := f.ECMALineMap()
	all := make([]int, len(starts))
	for i, s := range starts {
		all[i] = int(s)
	}
	return all
}
