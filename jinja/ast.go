package jinja

// node is a node of the syntax tree. children are in the order of the fields of Jinja2's nodes, because
// the names of a scope depend on that order.
type node interface{ children() []node }

// expr is a node with a value.
type expr interface {
	node
	eval(r *run, f *frame) (Value, error)
}

// stmt is a node that writes or changes something.
type stmt interface {
	node
	exec(r *run, f *frame) (flow, error)
}

// use is how a name is used.
type use int

const (
	load use = iota
	store
	param
)

// Expressions.
type (
	constExpr struct{ value Value }

	nameExpr struct {
		name string
		use  use
		at   slot
		pos  int
	}
	// attrTarget is namespace.attribute as the target of an assignment.
	attrTarget struct {
		name, attr string
		at         slot
		pos        int
	}
	tupleExpr struct{ items []expr }
	listExpr  struct{ items []expr }
	dictExpr  struct {
		keys, values []expr
		pos          int
	}
	condExpr struct{ test, then, otherwise expr }
	// logicExpr is left and right, or left or right.
	logicExpr struct {
		or          bool
		left, right expr
	}
	notExpr struct{ of expr }

	unaryExpr struct {
		op  kind
		of  expr
		pos int
	}
	binaryExpr struct {
		op          kind
		left, right expr
		pos         int
	}
	concatExpr struct {
		parts []expr
		pos   int
	}
	compareExpr struct {
		left   expr
		ops    []kind
		rights []expr
		pos    int
	}
	attrExpr struct {
		of   expr
		attr string
		on   owners
		pos  int
	}
	itemExpr struct {
		of, arg expr
		pos     int
	}
	sliceExpr struct {
		of                expr
		start, stop, step expr // nil if absent
		pos               int
	}
	arguments struct {
		args  []expr
		names []string
		named []expr
		star  expr // *args
	}
	callExpr struct {
		of expr
		arguments
		pos int
	}
	filterExpr struct {
		of   expr // nil: the content of the enclosing block
		name string
		arguments
		filter *filter
		pos    int
	}
	testExpr struct {
		of   expr
		name string
		arguments
		test *test
		pos  int
	}
)

// Statements.
type (
	textStmt   struct{ text string }
	outputStmt struct {
		of  expr
		pos int
	}
	ifStmt struct {
		test      expr
		body      []stmt
		elifs     []*ifStmt
		otherwise []stmt
	}
	forStmt struct {
		target          expr
		iter            expr
		body, otherwise []stmt
		test            expr
		pos             int

		extended                    bool // uses the variable loop
		loopAt                      slot
		enter, enterElse, enterTest []load1
		leave, leaveElse            []slot
		testTarget                  expr // the target in the test's own function
		testFunction                *function
	}
	setStmt struct {
		target expr
		value  expr
		pos    int
	}
	setBlockStmt struct {
		target expr
		body   []stmt
		pos    int
		enter  []load1
		leave  []slot
	}
	macroDef struct {
		name     string
		args     []*nameExpr
		defaults []expr
		body     []stmt

		function *function
		enter    []load1
	}
	macroStmt struct {
		def    macroDef
		target *nameExpr
		pos    int
	}
	generationStmt struct {
		def macroDef
		pos int
	}
	breakStmt    struct{ pos int }
	continueStmt struct{ pos int }
)

func nodes[T node](lists ...[]T) []node {
	var out []node
	for _, list := range lists {
		for _, n := range list {
			out = append(out, n)
		}
	}
	return out
}

// present returns the expressions that are not nil.
func present(list ...expr) []node {
	var out []node
	for _, e := range list {
		if e != nil {
			out = append(out, e)
		}
	}
	return out
}

func (e *constExpr) children() []node  { return nil }
func (e *nameExpr) children() []node   { return nil }
func (e *attrTarget) children() []node { return nil }
func (e *tupleExpr) children() []node  { return nodes(e.items) }
func (e *listExpr) children() []node   { return nodes(e.items) }
func (e *dictExpr) children() []node {
	var out []node
	for i := range e.keys {
		out = append(out, e.keys[i], e.values[i])
	}
	return out
}
func (e *condExpr) children() []node    { return present(e.test, e.then, e.otherwise) }
func (e *logicExpr) children() []node   { return present(e.left, e.right) }
func (e *notExpr) children() []node     { return present(e.of) }
func (e *unaryExpr) children() []node   { return present(e.of) }
func (e *binaryExpr) children() []node  { return present(e.left, e.right) }
func (e *concatExpr) children() []node  { return nodes(e.parts) }
func (e *compareExpr) children() []node { return nodes([]expr{e.left}, e.rights) }
func (e *attrExpr) children() []node    { return present(e.of) }
func (e *itemExpr) children() []node    { return present(e.of, e.arg) }
func (e *sliceExpr) children() []node   { return present(e.of, e.start, e.stop, e.step) }
func (a *arguments) children() []node {
	return append(nodes(a.args, a.named), present(a.star)...)
}
func (e *callExpr) children() []node   { return append(present(e.of), e.arguments.children()...) }
func (e *filterExpr) children() []node { return append(present(e.of), e.arguments.children()...) }
func (e *testExpr) children() []node   { return append(present(e.of), e.arguments.children()...) }

func (s *textStmt) children() []node   { return nil }
func (s *outputStmt) children() []node { return present(s.of) }
func (s *ifStmt) children() []node {
	return append(append(append(present(s.test), nodes(s.body)...), nodes(s.elifs)...), nodes(s.otherwise)...)
}
func (s *forStmt) children() []node {
	return append(append(present(s.target, s.iter), nodes(s.body, s.otherwise)...), present(s.test)...)
}
func (s *setStmt) children() []node { return present(s.target, s.value) }
func (s *setBlockStmt) children() []node {
	return append(present(s.target), nodes(s.body)...)
}
func (d *macroDef) children() []node {
	return append(append(nodes(d.args), nodes(d.defaults)...), nodes(d.body)...)
}
func (s *macroStmt) children() []node      { return s.def.children() }
func (s *generationStmt) children() []node { return s.def.children() }

func (s *breakStmt) children() []node    { return nil }
func (s *continueStmt) children() []node { return nil }
