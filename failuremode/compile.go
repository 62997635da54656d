package failuremode

import (
	"path"
	"regexp"
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
	lines := strings.Split(output, "\n")
	for i, line := range lines {
		for _, c := range compilers {
			found := c.where.FindStringSubmatch(line)
			if found == nil || !strings.Contains(output, c.needs) {
				continue
			}
			if c.what != nil && !c.what.MatchString(strings.Join(lines[i:min(len(lines), i+c.after+1)], "\n")) {
				continue
			}
			if c.above != nil && (i == 0 || !c.above.MatchString(lines[i-1])) {
				continue
			}
			if file := changedFile(found[1], changed); file != "" {
				return file
			}
		}
	}
	return ""
}

// changedFile returns the changed file that a compiler's path means: absolute, relative to the
// repository, or relative to a folder of it. "" if there is none.
func changedFile(named string, changed []string) string {
	named = path.Clean(named)
	for _, file := range changed {
		if named == file || strings.HasSuffix(named, "/"+file) || !path.IsAbs(named) && strings.HasSuffix(file, "/"+named) {
			return file
		}
	}
	return ""
}
