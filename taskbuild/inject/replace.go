package inject

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"relabel/codeindex"
)

// replacement is one way to change a part.
type replacement struct {
	kind  Kind
	edits []Edit
}

// boundaries are comparisons that differ only where both sides are equal.
var boundaries = map[string]string{"<": "<=", "<=": "<", ">": ">=", ">=": ">"}

// operators are what operators of all languages become.
var operators = map[string]string{
	"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "!=", "!=": "==",
	"+": "-", "-": "+", "*": "+", "/": "*", "%": "*", "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<",
	"+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "%=": "*=", "&=": "|=", "|=": "&=", "<<=": ">>=", ">>=": "<<=",
}

// brackets are those of the languages with the syntax of C.
var brackets = map[string]string{"&&": "||", "||": "&&", "++": "--", "--": "++"}

// operatorsOf are what the operators of each language become, beside operators.
var operatorsOf = map[codeindex.Language]map[string]string{
	codeindex.Python: {
		"and": "or", "or": "and", "is": "is not", "is not": "is", "in": "not in", "not in": "in", "//": "*", "**": "*", "//=": "*=",
	},
	codeindex.Go:         merged(brackets, map[string]string{"&^": "&"}),
	codeindex.JavaScript: merged(brackets, map[string]string{"===": "!==", "!==": "===", "??": "&&", "**": "*", ">>>": "<<"}),
}

func merged(all ...map[string]string) map[string]string {
	sum := map[string]string{}
	for _, m := range all {
		maps.Copy(sum, m)
	}
	return sum
}

// smallNumber matches numbers that are changed by one.
var smallNumber = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})$`)

// longestArgument is how many bytes an argument may have that is swapped with another.
const longestArgument = 60

// replacements returns the ways to change a part.
func replacements(f file, part codeindex.Part) []replacement {
	was := string(f.source[part.Start:part.End])
	one := func(kind Kind, now string) replacement { return replacement{kind, []Edit{{part.Bytes, was, now}}} }
	switch part.Kind {
	case codeindex.Operator:
		return operatorReplacements(f.language, was, one)
	case codeindex.Condition:
		if slices.Contains([]string{"True", "False", "true", "false", "1", "0"}, was) {
			return nil // an endless loop, or nothing that the other parts do not do
		}
		if f.language == codeindex.Python {
			return []replacement{one(KindCondition, "not ("+was+")")}
		}
		return []replacement{one(KindCondition, "!("+was+")")}
	case codeindex.Boolean:
		return []replacement{one(KindCondition, map[string]string{"True": "False", "False": "True", "true": "false", "false": "true"}[was])}
	case codeindex.Number:
		return numberReplacements(was, one)
	case codeindex.Arguments:
		return swapped(f, part, was)
	case codeindex.Statement:
		return removed(f, part)
	}
	return nil
}

func operatorReplacements(l codeindex.Language, was string, one func(Kind, string) replacement) []replacement {
	if l == codeindex.TypeScript {
		l = codeindex.JavaScript
	}
	var all []replacement
	if now := boundaries[was]; now != "" {
		all = append(all, one(KindBoundary, now))
	}
	if now := operators[was]; now != "" {
		all = append(all, one(KindOperator, now))
	} else if now := operatorsOf[l][strings.Join(strings.Fields(was), " ")]; now != "" {
		all = append(all, one(KindOperator, now))
	}
	return all
}

func numberReplacements(was string, one func(Kind, string) replacement) []replacement {
	if !smallNumber.MatchString(was) {
		return nil
	}
	n, err := strconv.Atoi(was)
	if err != nil {
		return nil
	}
	all := []replacement{one(KindBoundary, strconv.Itoa(n+1))}
	if n > 0 {
		all = append(all, one(KindBoundary, strconv.Itoa(n-1)))
	}
	return all
}

// swapped swaps two short arguments.
func swapped(f file, part codeindex.Part, first string) []replacement {
	second := string(f.source[part.Next.Start:part.Next.End])
	if first == second || len(first) > longestArgument || len(second) > longestArgument || strings.Contains(first+second, "\n") {
		return nil
	}
	return []replacement{{KindArguments, []Edit{{part.Bytes, first, second}, {*part.Next, second, first}}}}
}

// removed removes a statement, with its lines if nothing else is there.
func removed(f file, part codeindex.Part) []replacement {
	if part.Alone && f.language == codeindex.Python {
		return []replacement{{KindRemoved, []Edit{edit(f.source, part.Bytes, "pass")}}}
	}
	lines, whole := wholeLines(f.source, part.Bytes)
	switch {
	case whole:
		return []replacement{{KindRemoved, []Edit{edit(f.source, lines, "")}}}
	case f.language == codeindex.Python:
		return nil // what is beside it on its line may belong to it
	}
	return []replacement{{KindRemoved, []Edit{edit(f.source, part.Bytes, "")}}}
}

func edit(source []byte, at codeindex.Bytes, now string) Edit {
	return Edit{at, string(source[at.Start:at.End]), now}
}

// wholeLines returns the lines of some bytes, with their ends, if nothing but white space is beside these.
func wholeLines(source []byte, at codeindex.Bytes) (lines codeindex.Bytes, whole bool) {
	start := bytes.LastIndexByte(source[:at.Start], '\n') + 1
	end := len(source)
	if i := bytes.IndexByte(source[at.End:], '\n'); i >= 0 {
		end = at.End + i + 1
	}
	beside := slices.Concat(source[start:at.Start], source[at.End:end])
	return codeindex.Bytes{Start: start, End: end}, len(bytes.TrimSpace(beside)) == 0
}
