package jinja

import (
	"maps"
	"strconv"
)

// In Jinja2 the value of a name depends on whether the whole scope stores and reads it, before anything
// runs. This is Jinja2's analysis (idtracking.py), rule by rule: names become variables
// l_LEVEL_NAME, and a scope starts by loading them.

// how is the source of a variable's first value.
type how int

const (
	fromCaller  how = iota // a parameter
	fromContext            // a variable of Render, or a global
	fromOuter              // a copy of a variable of an enclosing scope
	fromNothing            // undefined until it is assigned
)

type origin struct {
	how  how
	from string // the outer variable, or the name in the context
}

// symbols are the names of one scope.
type symbols struct {
	level  int
	parent *symbols
	refs   map[string]string // name to variable
	loads  *ordered          // variable to origin
	stores map[string]bool
}

// ordered keeps the order of insertion.
type ordered struct {
	names   []string
	origins map[string]origin
}

func (o *ordered) set(name string, from origin) {
	if _, ok := o.origins[name]; !ok {
		o.names = append(o.names, name)
	}
	o.origins[name] = from
}

func (o *ordered) clone() *ordered {
	return &ordered{append([]string(nil), o.names...), maps.Clone(o.origins)}
}

func newSymbols(parent *symbols) *symbols {
	s := &symbols{parent: parent, refs: map[string]string{}, loads: &ordered{origins: map[string]origin{}}, stores: map[string]bool{}}
	if parent != nil {
		s.level = parent.level + 1
	}
	return s
}

func (s *symbols) define(name string, from origin) string {
	v := "l_" + strconv.Itoa(s.level) + "_" + name
	s.refs[name] = v
	s.loads.set(v, from)
	return v
}

// ref returns the variable of a name; "" if there is none.
func (s *symbols) ref(name string) string {
	for ; s != nil; s = s.parent {
		if v, ok := s.refs[name]; ok {
			return v
		}
	}
	return ""
}

func (s *symbols) copy() *symbols {
	c := *s
	c.refs, c.loads, c.stores = maps.Clone(s.refs), s.loads.clone(), maps.Clone(s.stores)
	return &c
}

func (s *symbols) store(name string) {
	s.stores[name] = true
	if _, ok := s.refs[name]; ok {
		return
	}
	if outer := s.parent.ref(name); outer != "" {
		s.define(name, origin{fromOuter, outer})
		return
	}
	s.define(name, origin{how: fromNothing})
}

func (s *symbols) declare(name string) string {
	s.stores[name] = true
	return s.define(name, origin{how: fromCaller})
}

func (s *symbols) load(name string) {
	if s.ref(name) == "" {
		s.define(name, origin{fromContext, name})
	}
}

// merge adds the names that the branches of a condition store. A name that only some branches store
// keeps its outer value in the others.
func (s *symbols) merge(branches []*symbols) {
	stored := map[string]bool{}
	for _, b := range branches {
		for name := range b.stores {
			if !s.stores[name] {
				stored[name] = true
			}
		}
	}
	for _, b := range branches {
		maps.Copy(s.refs, b.refs)
		for _, v := range b.loads.names {
			s.loads.set(v, b.loads.origins[v])
		}
		maps.Copy(s.stores, b.stores)
	}
	for name := range stored {
		v := s.ref(name)
		if outer := s.parent.ref(name); outer != "" {
			s.loads.set(v, origin{fromOuter, outer})
			continue
		}
		s.loads.set(v, origin{fromContext, name})
	}
}

// visitAll finds the names in nodes that belong to this scope.
func visitAll[T node](s *symbols, list []T) {
	for _, n := range list {
		s.visit(n)
	}
}

func (s *symbols) visit(n node) {
	switch n := n.(type) {
	case *nameExpr:
		s.visitName(n, false)
	case *attrTarget:
		s.load(n.name)
	case *ifStmt:
		s.visitIf(n)
	case *macroStmt:
		s.store(n.def.name)
	case *setStmt:
		s.visit(n.value)
		s.visit(n.target)
	case *setBlockStmt:
		s.visit(n.target)
	case *forStmt:
		s.visit(n.iter)
	case *generationStmt:
	default:
		visitAll(s, n.children())
	}
}

func (s *symbols) visitName(n *nameExpr, asParam bool) {
	switch {
	case asParam || n.use == param:
		s.declare(n.name)
	case n.use == store:
		s.store(n.name)
	default:
		s.load(n.name)
	}
}

// visitTarget declares the names of a loop's target as parameters.
func (s *symbols) visitTarget(target node) {
	if n, ok := target.(*nameExpr); ok {
		s.visitName(n, true)
		return
	}
	for _, c := range target.children() {
		s.visitTarget(c)
	}
}

func (s *symbols) visitIf(n *ifStmt) {
	s.visit(n.test)
	body, elifs, otherwise := s.copy(), s.copy(), s.copy()
	visitAll(body, n.body)
	visitAll(elifs, n.elifs)
	visitAll(otherwise, n.otherwise)
	s.merge([]*symbols{body, elifs, otherwise})
}

// undeclared returns the names that are read before they are stored anywhere in the nodes, including
// inner scopes.
func undeclared[T node](list []T, names ...string) map[string]bool {
	wanted, found := map[string]bool{}, map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	var visit func(n node)
	visit = func(n node) {
		if e, ok := n.(*nameExpr); ok {
			if e.use == load && wanted[e.name] {
				found[e.name] = true
			} else if e.use != load {
				delete(wanted, e.name)
			}
		}
		for _, c := range n.children() {
			visit(c)
		}
	}
	for _, n := range list {
		visit(n)
	}
	return found
}
