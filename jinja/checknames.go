package jinja

import "slices"

// checkNames refuses unknown functions and methods by name, before the template runs. It reports
// whether the template calls strftime_now.
func checkNames(body []stmt) (clock bool, err error) {
	c := nameCheck{stored: map[string]bool{}, asked: map[string]bool{}, keys: map[string]bool{}}
	c.collect(nodes(body))
	for _, n := range c.names {
		if why, ok := refusedGlobals[n.name]; ok && !c.stored[n.name] {
			return false, faultAt(n.pos, "%s is not supported: %s", n.name, why)
		}
	}
	for _, call := range c.calls {
		switch of := call.of.(type) {
		case *nameExpr:
			clock = clock || of.name == "strftime_now"
			if _, ok := globals[of.name]; !ok && !c.stored[of.name] && !c.asked[of.name] {
				return false, faultAt(of.pos, "unknown function %s", of.name)
			}
		case *attrExpr:
			if err := c.checkMethod(of); err != nil {
				return false, err
			}
		}
	}
	return clock, nil
}

// nameCheck records how a template uses names.
type nameCheck struct {
	stored map[string]bool // names that are assigned anywhere in the template
	asked  map[string]bool // names whose existence is tested
	keys   map[string]bool // of namespaces and literal maps, which may contain macros
	calls  []*callExpr
	names  []*nameExpr
}

func (c *nameCheck) collect(list []node) {
	for _, n := range list {
		switch n := n.(type) {
		case *nameExpr:
			if n.use != load {
				c.stored[n.name] = true
			}
			c.names = append(c.names, n)
		case *attrTarget:
			c.keys[n.attr] = true
		case *constExpr:
			if s, ok := n.value.(string); ok {
				c.keys[s] = true
			}
		case *macroStmt:
			c.stored[n.def.name] = true
		case *forStmt:
			c.stored["loop"] = true
		case *callExpr:
			for _, name := range n.arguments.names {
				c.keys[name] = true
			}
			c.calls = append(c.calls, n)
		case *testExpr:
			if e, ok := n.of.(*nameExpr); ok && (n.name == "defined" || n.name == "undefined" || n.name == "callable") {
				c.asked[e.name] = true
			}
		}
		c.collect(n.children())
	}
}

// checkMethod refuses unsupported methods and names that no type has.
func (c *nameCheck) checkMethod(e *attrExpr) error {
	if c.keys[e.attr] {
		return nil
	}
	if e.on == 0 && !slices.Contains(refusedLoop, e.attr) {
		return faultAt(e.pos, "unknown method %s", e.attr)
	}
	if !isSupported(e.attr) {
		return faultAt(e.pos, "the method %s is not supported", e.attr)
	}
	return nil
}
