package syntax

import (
	"strings"

	"github.com/microsoft/typescript-go/shim"
)

// ownName returns the name of a declaration or expression, or "".
func ownName(n *shim.Node) string {
	if name := n.Name(); name != nil && name.Kind == shim.Identifier {
		return name.Text()
	}
	return ""
}

// defaultName is ownName, or default for what has none: export default class { … }.
func defaultName(n *shim.Node) string {
	if n.Name() == nil {
		return "default"
	}
	return ownName(n)
}

// memberName returns the name of a member of a class, an interface or an object literal. A computed
// one is as it stands.
func (w *walk) memberName(n *shim.Node) string {
	if n.Kind == shim.Constructor {
		return "constructor"
	}
	name := n.Name()
	if name.Kind != shim.ComputedPropertyName {
		return oneLine(name.Text())
	}
	if key := name.Expression(); key.Kind == shim.StringLiteral {
		return oneLine(key.Text())
	}
	return oneLine(w.text[shim.Start(w.text, name):name.End()])
}

// oneLine writes white space as single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// assignedName returns the name of what is assigned to: a.b.c, or "" if it is no such chain.
func assignedName(n *shim.Node) string {
	var parts []string
	for n.Kind == shim.PropertyAccessExpression {
		parts = append(parts, n.Name().Text())
		n = n.Expression()
	}
	switch n.Kind {
	case shim.Identifier:
		parts = append(parts, n.Text())
	case shim.ThisKeyword:
		parts = append(parts, "this")
	default:
		return ""
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
		if i > 0 {
			b.WriteByte('.')
		}
	}
	return b.String()
}

// exportedName is an assigned name without what does not tell: exports.f is f, A.prototype.m is A.m.
func exportedName(name string) string {
	for _, prefix := range []string{"module.exports.", "exports.", "this."} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			name = rest
			break
		}
	}
	name = strings.TrimSuffix(name, ".prototype")
	return strings.ReplaceAll(name, ".prototype.", ".")
}

// unwrap returns the value in parentheses and assertions of types.
func unwrap(n *shim.Node) *shim.Node {
	for {
		switch n.Kind {
		case shim.ParenthesizedExpression, shim.AsExpression, shim.SatisfiesExpression, shim.NonNullExpression, shim.TypeAssertionExpression:
			n = n.Expression()
		default:
			return n
		}
	}
}
