package failuremode

import (
	"regexp"
	"slices"
	"strings"
)

// compiler recognises a compiler's message about a file in the output of tests.
type compiler struct {
	where *regexp.Regexp // a line that names the file, its first group
	what  *regexp.Regexp // the error itself, in the same line or one of the next; nil: the line is the error
	after int            // lines after the first in which the error may stand
	above *regexp.Regexp // the line before; nil: any
	needs string         // a text that the output then has, "" for none
}

// compilers are those of the languages that the verifier's log parsers read.
var compilers = []compiler{
	{where: regexp.MustCompile(`File "([^"]+)", line \d+\s*$`), what: regexp.MustCompile(`\b(SyntaxError|IndentationError|TabError): `), after: 5},
	{where: regexp.MustCompile(`\b(?:SyntaxError|IndentationError|TabError): .*\(([^()]+\.py), line \d+\)`)},
	{where: regexp.MustCompile(`\bSyntaxError: (\S+\.[cm]?[jt]sx?): `)},
	{where: regexp.MustCompile(`^\s*(\S+\.[cm]?[jt]sx?):\d+$`), what: regexp.MustCompile(`^\s*SyntaxError: `), after: 6},
	{where: regexp.MustCompile(`(\S+\.[cm]?tsx?)[:(]\d+[:,]\d+\)?:?\s(?:- )?error TS\d+`)},
	{where: regexp.MustCompile(`^\s*(?:vet: )?(\S+\.go):\d+:\d+: `), needs: "[build failed]"},
	{where: regexp.MustCompile(`^\s*(?:vet: )?(\S+\.go):\d+:\d+: `), needs: "[setup failed]"},
	{where: regexp.MustCompile(`^\s*--> (\S+\.rs):\d+:\d+`), above: regexp.MustCompile(`^\s*error(\[E\d+\])?: `), needs: "could not compile"},
	{where: regexp.MustCompile(`^\[ERROR\] (\S+\.java):\[\d+,\d+\] `), needs: "COMPILATION ERROR"},
	{where: regexp.MustCompile(`^(\S+\.java):\d+: error: `)},
	{where: regexp.MustCompile(`^(\S+\.(?:c|cc|cpp|cxx|h|hpp)):\d+:\d+: (?:fatal )?error: `)},
}

// compileError returns the first changed file that does not compile according to the output of the
// tests, "" if there is none.
func compileError(output string, changed []string) string {
	files := indexed(changed)
	lines := strings.Split(output, "\n")
	possible := slices.DeleteFunc(slices.Clone(compilers), func(c compiler) bool { return !strings.Contains(output, c.needs) })
	for i, line := range lines {
		for _, c := range possible {
			found := c.where.FindStringSubmatch(line)
			if found == nil {
				continue
			}
			if c.what != nil && !c.what.MatchString(strings.Join(lines[i:min(len(lines), i+c.after+1)], "\n")) {
				continue
			}
			if c.above != nil && (i == 0 || !c.above.MatchString(lines[i-1])) {
				continue
			}
			if file := files.meant(found[1]); file != "" {
				return file
			}
		}
	}
	return ""
}
