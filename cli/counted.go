package cli

import (
	"fmt"
	"strings"
)

// counted returns a number with its noun, which is given in the singular: "1 task", "2 entries".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, found := strings.CutSuffix(noun, "y"); found {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
