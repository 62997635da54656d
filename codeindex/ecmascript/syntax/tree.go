package syntax

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/microsoft/typescript-go/shim"
)

// tree returns a digest of a tree: the kinds of its nodes, and the text of those without children.
func (w *walk) tree(n *shim.Node) string {
	sum := sha256.New()
	w.write(sum, n)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

func (w *walk) write(sum hash.Hash, n *shim.Node) {
	fmt.Fprintf(sum, "(%d", n.Kind)
	switch n.Kind {
	case shim.PrefixUnaryExpression:
		fmt.Fprintf(sum, " %d", n.AsPrefixUnaryExpression().Operator)
	case shim.PostfixUnaryExpression:
		fmt.Fprintf(sum, " %d", n.AsPostfixUnaryExpression().Operator)
	}
	leaf := true
	n.ForEachChild(func(child *shim.Node) bool {
		leaf = false
		w.write(sum, child)
		return false
	})
	if leaf {
		fmt.Fprintf(sum, " %q", w.text[shim.Start(w.text, n):max(n.End(), shim.Start(w.text, n))])
	}
	fmt.Fprint(sum, ")")
}
