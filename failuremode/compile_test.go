package failuremode

import "testing"

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
