package failuremode

import (
	"fmt"
	"strings"
	"testing"
)

func TestWarningsAreNoCompileErrors(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"[WARNING] /app/src/Foo.java:[10,5] deprecated\n[ERROR] COMPILATION ERROR :\n[ERROR] /app/src/BarTest.java:[3,1] cannot find symbol\n": "",
		"[ERROR] COMPILATION ERROR :\n[ERROR] /app/src/Foo.java:[3,1] cannot find symbol\n":                                                    "src/Foo.java",
		"src/Foo.java:3: error: ';' expected\n":                                                    "src/Foo.java",
		"warning: unused variable\n --> src/lib.rs:2:5\nerror: could not compile `x`\n":            "",
		"error[E0425]: cannot find value `y`\n --> src/lib.rs:2:5\nerror: could not compile `x`\n": "src/lib.rs",
		"error: expected `;`\n  --> src/lib.rs:2:5\nerror: could not compile `x`\n":                "src/lib.rs",
	} {
		if file := compileError(output, []string{"src/Foo.java", "src/lib.rs"}); file != want {
			t.Errorf("%q names %q, want %q", output, file, want)
		}
	}
}

func TestAPathMeansTheChangedFileThatEndsAsItDoes(t *testing.T) {
	t.Parallel()
	changed := indexed([]string{"src/a.go", "b/src/a.go", "a.go", "deep/x.go"})
	for named, want := range map[string]string{
		"a.go": "a.go", "/app/a.go": "a.go", "src/a.go": "src/a.go", "/app/src/a.go": "src/a.go", "./src/../src/a.go": "src/a.go",
		"/app/b/src/a.go": "b/src/a.go", "x.go": "deep/x.go", "/x.go": "", "eep/x.go": "", "y.go": "", "": "",
		strings.Repeat("a/", longestPath) + "a.go": "",
	} {
		if file := changed.meant(named); file != want {
			t.Errorf("%.50q means %q, want %q", named, file, want)
		}
	}
}

// TestManyFilesAndManyPathsAreCompared compares each of 60,000 lines with 50,000 files, which takes
// minutes if each file is looked at for each line.
func TestManyFilesAndManyPathsAreCompared(t *testing.T) {
	t.Parallel()
	changed := make([]string, 50_000)
	for i := range changed {
		changed[i] = fmt.Sprintf("d/%d/b.go", i)
	}
	output := strings.Repeat("a.go:1:1: x\n", 60_000) + "49999/b.go:1:1: x\n[build failed]"
	if file := compileError(output, changed); file != "d/49999/b.go" {
		t.Errorf("found %q", file)
	}
}
