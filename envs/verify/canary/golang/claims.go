package golang

import (
	"fmt"
	goparser "go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"relabel/envs/verify/canary"
)

// goLibrary is a package with functions for comparisons, and calls of them that must fail: VALUE is
// a variable with a large number, WRONG another number, TEXT the value as text and ERR an error
// with that text.
type goLibrary struct {
	paths     string // import paths, separated by spaces
	name      string // of the package
	calls     map[string]string
	statement string // with PKG, CALL and ARGS; "": PKG.CALL(t, ARGS)
	methods   bool   // the functions are also methods of other values
}

// goTestify are the functions of testify's assert and require.
var goTestify = map[string]string{
	"Equal": "WRONG, VALUE", "EqualValues": "WRONG, VALUE", "Exactly": "WRONG, VALUE", "NotEqual": "VALUE, VALUE", "NotEqualValues": "VALUE, VALUE",
	"Nil": "VALUE", "NotNil": "nil", "True": "VALUE < 0", "False": "VALUE > 0", "Zero": "VALUE", "NotZero": "VALUE / (VALUE + 1)",
	"NoError": "ERR", "Error": "nil", "EqualError": `ERR, "WRONG"`, "ErrorContains": `ERR, "WRONG"`, "ErrorIs": `ERR, errors.New("WRONG")`,
	"Len": "[]int{VALUE}, 2", "Empty": "[]int{VALUE}", "NotEmpty": "[]int{VALUE}[1:]", "Contains": "[]int{VALUE}, WRONG", "NotContains": "[]int{VALUE}, VALUE",
	"ElementsMatch": "[]int{VALUE}, []int{WRONG}", "Subset": "[]int{VALUE}, []int{WRONG}", "NotSubset": "[]int{VALUE}, []int{VALUE}",
	"Greater": "-VALUE, 0", "GreaterOrEqual": "-VALUE, 0", "Less": "VALUE, 0", "LessOrEqual": "VALUE, 0", "Positive": "-VALUE", "Negative": "VALUE",
	"InDelta": "VALUE, WRONG, 0.5", "JSONEq": `"WRONG", TEXT`, "IsType": `"", VALUE`, "Regexp": `"^WRONG$", TEXT`, "NotRegexp": `"^[0-9]+$", TEXT`,
	"Same": "&[1]int{VALUE}, &[1]int{VALUE}", "Panics": "func() { _ = VALUE }", "NotPanics": "func() { panic(VALUE) }",
	"PanicsWithValue": "WRONG, func() { panic(VALUE) }", "PanicsWithError": `"WRONG", func() { panic(ERR) }`,
	"Condition": "func() bool { return VALUE < 0 }", "Fail": "TEXT", "FailNow": "TEXT",
}

// goUnless reports a failure if a function returns false.
const goUnless = "if !PKG.CALL(ARGS) {\n\t\tt.Errorf(\"got %d\", VALUE)\n\t}"

var goLibraries = []goLibrary{
	{paths: "reflect", name: "reflect", statement: goUnless, calls: map[string]string{"DeepEqual": "[]int{VALUE}, []int{WRONG}"}},
	{paths: "bytes", name: "bytes", statement: goUnless, calls: map[string]string{
		"Equal": "[]byte(TEXT), []byte(\"WRONG\")", "Contains": "[]byte(TEXT), []byte(\"WRONG\")", "HasPrefix": "[]byte(TEXT), []byte(\"WRONG\")",
	}},
	{paths: "strings", name: "strings", statement: goUnless, calls: map[string]string{
		"Contains": `TEXT, "WRONG"`, "HasPrefix": `TEXT, "WRONG"`, "HasSuffix": `TEXT, "WRONG"`, "EqualFold": `TEXT, "WRONG"`,
	}},
	{paths: "errors", name: "errors", statement: goUnless, calls: map[string]string{"Is": `ERR, errors.New("WRONG")`, "As": "ERR, new(*strconv.NumError)"}},
	{paths: "slices golang.org/x/exp/slices", name: "slices", statement: goUnless, calls: map[string]string{"Equal": "[]int{VALUE}, []int{WRONG}"}},
	{paths: "maps golang.org/x/exp/maps", name: "maps", statement: goUnless, calls: map[string]string{"Equal": "map[int]int{1: VALUE}, map[int]int{1: WRONG}"}},
	{paths: "github.com/google/go-cmp/cmp", name: "cmp", statement: goUnless, calls: map[string]string{"Equal": "[]int{VALUE}, []int{WRONG}"}},
	{
		paths: "github.com/google/go-cmp/cmp", name: "cmp", calls: map[string]string{"Diff": "[]int{VALUE}, []int{WRONG}"},
		statement: "if diff := PKG.CALL(ARGS); diff != \"\" {\n\t\tt.Errorf(\"got %d\", VALUE)\n\t}",
	},
	{paths: "github.com/stretchr/testify/assert", name: "assert", calls: goTestify, methods: true},
	{paths: "github.com/stretchr/testify/require", name: "require", calls: goTestify, methods: true},
	{paths: "gotest.tools/v3/assert gotest.tools/assert", name: "assert", calls: map[string]string{
		"Equal": "VALUE, WRONG", "DeepEqual": "[]int{VALUE}, []int{WRONG}", "NilError": "ERR", "Assert": "VALUE < 0", "Check": "VALUE < 0",
		"Error": `ERR, "WRONG"`, "ErrorContains": `ERR, "WRONG"`,
	}},
	{
		paths: "github.com/onsi/gomega", name: "gomega", calls: map[string]string{"Expect": "VALUE"}, methods: true,
		statement: "PKG.NewWithT(t).CALL(ARGS).To(PKG.Equal(WRONG))",
	},
}

// goClaim is a statement that must make its test fail.
type goClaim struct {
	statement string
	imports   []string // lines, without testing
}

// goClaims returns a claim for each function of a library that test files call.
func goClaims(contents [][]byte) []goClaim {
	var claims []goClaim
	for _, content := range contents {
		file, err := goparser.ParseFile(token.NewFileSet(), "", content, goparser.ImportsOnly)
		if err != nil {
			continue
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			name := ""
			if spec.Name != nil {
				name = spec.Name.Name
			}
			for _, claim := range importedClaims(content, imported, name) {
				known := slices.ContainsFunc(claims, func(c goClaim) bool { return c.statement == claim.statement })
				if !known && len(claims) < canary.MaxClaims {
					claims = append(claims, claim)
				}
			}
		}
	}
	return claims
}

// importedClaims are claims with the libraries at an import path. name is the file's own name for
// it, or "". A suite of testify has the functions of assert.
func importedClaims(content []byte, imported, name string) []goClaim {
	if imported == "github.com/stretchr/testify/suite" {
		imported, name = "github.com/stretchr/testify/assert", ""
	}
	var claims []goClaim
	for _, library := range goLibraries {
		if !slices.Contains(strings.Fields(library.paths), imported) || name == "_" {
			continue
		}
		for _, call := range library.called(content, name) {
			claims = append(claims, library.claim(call, imported, name))
		}
	}
	return claims
}

// goMethod matches calls of functions of packages and of methods.
var goMethod = regexp.MustCompile(`(?:\b(\w+)|\))\.(\w+)\(`)

// knows reports whether the library has a function, which may end with an f in testify.
func (l goLibrary) knows(call string) bool {
	_, known := l.calls[call]
	_, formatted := l.calls[strings.TrimSuffix(call, "f")]
	return known || (formatted && l.statement == "" && l.methods)
}

// called returns the functions of the library that a file calls, sorted.
func (l goLibrary) called(content []byte, name string) []string {
	if name == "" || name == "." {
		name = l.name
	}
	var calls []string
	for _, m := range goMethod.FindAllSubmatch(content, -1) {
		call := string(m[2])
		if l.knows(call) && (l.methods || string(m[1]) == name) && !slices.Contains(calls, call) {
			calls = append(calls, call)
		}
	}
	slices.Sort(calls)
	return calls
}

// claim is a claim with a function of the library.
func (l goLibrary) claim(call, imported, name string) goClaim {
	if name == "" || name == "." {
		name = l.name
	}
	args, known := l.calls[call]
	if !known {
		args = l.calls[strings.TrimSuffix(call, "f")] + `, "got"`
	}
	statement := l.statement
	if statement == "" {
		statement = "PKG.CALL(t, ARGS)"
	}
	statement = strings.NewReplacer("PKG", name, "CALL", call, "ARGS", args).Replace(statement)
	statement = strings.NewReplacer("ERR", "errors.New(strconv.Itoa(VALUE))", "TEXT", "strconv.Itoa(VALUE)").Replace(statement)
	imports := []string{strconv.Quote(imported)}
	if name != path.Base(imported) {
		imports[0] = name + " " + imports[0]
	}
	for _, needed := range []string{"errors", "strconv"} {
		if (imported != needed || name != needed) && strings.Contains(statement, needed+".") {
			imports = append(imports, strconv.Quote(needed))
		}
	}
	return goClaim{statement: statement, imports: imports}
}

// claims is a file with a failing test for each claim; "" without claims. Keys begin with the
// folder.
func (c *goCode) claims(g canary.Garden, folder, pkg string, contents [][]byte) string {
	imports := []string{`"testing"`}
	var code []string
	for _, claim := range goClaims(contents) {
		key := folder + ": " + claim.statement
		if g.Left[canary.BelowKey] || g.Left[key] {
			continue
		}
		name, variable, s := c.function(), c.Pick(canary.Nouns)+"Of", c.Sum()
		c.must(name, true, 0).Key = key
		statement := strings.NewReplacer("VALUE", variable, "WRONG", fmt.Sprint(c.Claimed(s, true))).Replace(claim.statement)
		code = append(code, fmt.Sprintf("func %s(t *testing.T) {\n\t%s := %s\n\t_ = %s\n\t%s\n}\n", name, variable, s.Code, variable, statement))
		for _, line := range claim.imports {
			if !slices.Contains(imports, line) {
				imports = append(imports, line)
			}
		}
	}
	if len(code) == 0 {
		return ""
	}
	slices.Sort(imports)
	c.Shuffle(code)
	return fmt.Sprintf("package %s\n\nimport (\n\t%s\n)\n\n", pkg, strings.Join(imports, "\n\t")) + strings.Join(code, "\n")
}
