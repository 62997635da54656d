package jinja

// slot is the position of a variable: an index in the function that is out levels outwards.
type slot struct{ out, index int }

// load1 initializes a variable at the start of its scope.
type load1 struct {
	to   slot
	how  how
	from slot
	name string
}

// function is a part with separate variables: the template, a macro or the condition of a loop.
type function struct {
	slots map[string]int
	outer *function
	enter []load1 // only of the template
}

func newFunction(outer *function) *function { return &function{slots: map[string]int{}, outer: outer} }

// scope is a scope during the resolution of names.
type scope struct {
	fn   *function
	syms *symbols
	loop bool // break and continue are allowed
}

func (s scope) inner() scope { return scope{s.fn, newSymbols(s.syms), s.loop} }

// own returns the slot of a variable of this function, creating it if necessary.
func (s scope) own(variable string) slot {
	i, ok := s.fn.slots[variable]
	if !ok {
		i = len(s.fn.slots)
		s.fn.slots[variable] = i
	}
	return slot{0, i}
}

// find returns the slot of a variable of this or an enclosing function.
func (s scope) find(variable string) (slot, bool) {
	out := 0
	for fn := s.fn; fn != nil; fn = fn.outer {
		if i, ok := fn.slots[variable]; ok {
			return slot{out, i}, true
		}
		out++
	}
	return slot{}, false
}

// enter creates the variables of a scope. It returns their initializations and the variables to clear at
// the end of the scope.
func (s scope) enter() ([]load1, []slot) {
	var loads []load1
	var leave []slot
	for _, v := range s.syms.loads.names {
		from := s.syms.loads.origins[v]
		l := load1{to: s.own(v), how: from.how, name: from.from}
		leave = append(leave, l.to)
		if from.how == fromOuter {
			l.from, _ = s.find(from.from)
		}
		if from.how != fromCaller {
			loads = append(loads, l)
		}
	}
	return loads, leave
}

// resolveTemplate sets the slots of a template's names.
func resolveTemplate(body []stmt) (*function, error) {
	root := scope{fn: newFunction(nil), syms: newSymbols(nil)}
	visitAll(root.syms, body)
	root.fn.enter, _ = root.enter()
	return root.fn, resolveAll(root, body)
}

func resolveAll[T node](s scope, list []T) error {
	for _, n := range list {
		if err := s.resolve(n); err != nil {
			return err
		}
	}
	return nil
}

// resolve sets the slots of the names in a node.
func (s scope) resolve(n node) error {
	switch n := n.(type) {
	case *nameExpr:
		return s.resolveName(n.name, n.pos, &n.at)
	case *attrTarget:
		return s.resolveName(n.name, n.pos, &n.at)
	case *breakStmt:
		if !s.loop {
			return faultAt(n.pos, "break outside of a loop")
		}
		return nil
	case *continueStmt:
		if !s.loop {
			return faultAt(n.pos, "continue outside of a loop")
		}
		return nil
	case *forStmt:
		return s.resolveFor(n)
	case *macroStmt:
		if err := s.resolveMacro(&n.def, n.pos); err != nil {
			return err
		}
		return s.resolve(n.target)
	case *generationStmt:
		return s.resolveMacro(&n.def, n.pos)
	case *setBlockStmt:
		return s.resolveSetBlock(n)
	}
	return resolveAll(s, n.children())
}

func (s scope) resolveName(name string, pos int, to *slot) error {
	variable := s.syms.ref(name)
	at, ok := s.find(variable)
	if variable == "" || !ok {
		return faultAt(pos, "the name %s cannot be used here", name)
	}
	*to = at
	return nil
}

func (s scope) resolveSetBlock(n *setBlockStmt) error {
	in := s.inner()
	visitAll(in.syms, n.body)
	n.enter, n.leave = in.enter()
	if err := resolveAll(in, n.body); err != nil {
		return err
	}
	return s.resolve(n.target)
}

func (s scope) resolveFor(n *forStmt) error {
	body, otherwise, test := s.inner(), s.inner(), s.inner()
	n.extended = undeclared(n.body, "loop")["loop"]
	if n.extended {
		body.syms.declare("loop")
	}
	body.syms.visitTarget(n.target)
	visitAll(body.syms, n.body)
	visitAll(otherwise.syms, n.otherwise)
	if n.test != nil {
		test.syms.visitTarget(n.target)
		test.syms.visit(n.test)
		if err := s.resolveTest(n, test); err != nil {
			return err
		}
	}
	if pos, ok := storesLoop(n); ok {
		return faultAt(pos, "can't assign to special loop variable in for-loop target")
	}
	n.enter, n.leave = body.enter()
	if n.extended {
		n.loopAt = body.own(body.syms.ref("loop"))
	}
	if err := body.resolve(n.target); err != nil {
		return err
	}
	body.loop = true
	if err := resolveAll(body, n.body); err != nil {
		return err
	}
	n.enterElse, n.leaveElse = otherwise.enter()
	if err := resolveAll(otherwise, n.otherwise); err != nil {
		return err
	}
	return s.resolve(n.iter)
}

// resolveTest resolves the condition of a loop, which is a separate function.
func (s scope) resolveTest(n *forStmt, test scope) error {
	n.testFunction = newFunction(s.fn)
	test.fn = n.testFunction
	test.loop = false
	n.enterTest, _ = test.enter()
	n.testTarget = copyTarget(n.target)
	if err := test.resolve(n.testTarget); err != nil {
		return err
	}
	return test.resolve(n.test)
}

// copyTarget copies a loop's target for the condition, where it has other slots.
func copyTarget(e expr) expr {
	switch e := e.(type) {
	case *nameExpr:
		c := *e
		return &c
	case *tupleExpr:
		c := &tupleExpr{}
		for _, item := range e.items {
			c.items = append(c.items, copyTarget(item))
		}
		return c
	}
	return e
}

// storesLoop returns the position of an assignment to the name loop in a node; false if there is none.
func storesLoop(n node) (int, bool) {
	if e, ok := n.(*nameExpr); ok && e.use == store && e.name == "loop" {
		return e.pos, true
	}
	for _, c := range n.children() {
		if pos, ok := storesLoop(c); ok {
			return pos, true
		}
	}
	return 0, false
}

// resolveMacro resolves a macro's parameters and body, a separate function.
func (s scope) resolveMacro(d *macroDef, pos int) error {
	in := s.inner()
	in.loop = false
	found := undeclared(d.body, "caller", "kwargs", "varargs")
	for _, a := range d.args {
		if a.name == "caller" {
			return faultAt(pos, "caller in a macro is not supported")
		}
		delete(found, a.name)
	}
	for name := range found {
		return faultAt(pos, "%s in a macro is not supported", name)
	}
	visitAll(in.syms, d.args)
	visitAll(in.syms, d.defaults)
	visitAll(in.syms, d.body)
	d.function = newFunction(s.fn)
	in.fn = d.function
	d.enter, _ = in.enter()
	for _, list := range [][]node{nodes(d.args), nodes(d.defaults), nodes(d.body)} {
		if err := resolveAll(in, list); err != nil {
			return err
		}
	}
	return nil
}
