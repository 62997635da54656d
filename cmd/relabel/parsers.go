package main

import (
	"fmt"
	"strings"

	"relabel/codeindex"
	"relabel/codeindex/languages"
)

// checkParsers says which languages can be indexed, and why others cannot. None is needed for tasks to
// repair.
func checkParsers() string {
	parsers, missing := languages.Open("")
	defer parsers.Close()
	var there, absent []string
	for _, l := range codeindex.Languages {
		if parsers.Parser(l) != nil {
			there = append(there, string(l))
		} else {
			absent = append(absent, string(l))
		}
	}
	found := "indexed: " + strings.Join(there, ", ")
	if len(absent) > 0 {
		found += "; not indexed: " + strings.Join(absent, ", ")
	}
	for _, err := range missing {
		found += fmt.Sprint("\n    ", err)
	}
	return found
}
