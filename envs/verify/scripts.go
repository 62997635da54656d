package verify

import _ "embed"

// inspectProgram is INSPECT of readScript.
//
//go:embed inspect.py
var inspectProgram string

// trustRepository lets git use a repository of another user, without its hooks. In the C locale each
// byte is a character. In UTF-8, bash's read would treat the NUL after an incomplete character as a
// part of it.
var trustRepository = []string{
	"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	"GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=/dev/null",
	"GIT_PAGER=cat", "PAGER=cat", "LC_ALL=C",
}

// Exit codes of the scripts below.
const (
	notApplied = 42 // the patch does not apply
	unreadable = 43 // git cannot read the patch or finds no change, or the patch adds too many links or files
)

// readScript INDEX BASE INSPECT OWN COMMAND… checks out BASE ("" is HEAD) and writes all files that git
// does not ignore, also untracked files of the image, into a tree. It applies the patch on standard
// input only to INDEX. OWN, unless empty: the patch is the task's own, so patch(1) may apply it, in
// the working tree.
//
// It prints fields that end with NUL, in lists that end with an empty field: the tree's name; the
// paths of the tree; git's raw difference between the tree and INDEX; the paths that the patch adds
// and git ignores at BASE, with "./" because git treats a leading colon as a pattern; the paths that
// the patch adds and that exist outside of the tree; pairs of a symlink and its target; and the output
// of INSPECT, a Python program, with the first interpreter among COMMAND….
//
// git check-ignore reads all added paths at once. It fails at a path below a symlink of BASE; then it
// reads them one by one, at most 5,000. Warnings of git are printed only if the script fails.
//
//go:embed read.sh
var readScript string

// layScript INDEX TREE reads entries of an index that end with NUL, an empty entry, and the task's test
// patch from standard input. It restores the entries in INDEX, applies the test patch there and
// changes the working tree from TREE to INDEX: it removes each path that differs, and any link or
// file in the place of a folder above it, and writes the path again. It leaves no files of its own
// to code under test.
//
//go:embed lay.sh
var layScript string

// testScript COMMAND WITNESS PLAIN BEFORE AFTER reads a nonce from standard input, because code under
// test can read arguments. It runs the test command between two lines with the nonce, in the conda
// environment testbed if the image has one, and exits with the command's exit code, which is also in
// the second line. WITNESS, unless empty, is the path of pytest's report. PLAIN, unless empty: pytest
// loads no plugins of installed distributions. BEFORE and AFTER are the rest of an evaluation script.
//
//go:embed test.sh
var testScript string

// endScript ends all processes that the tests left, so that they cannot change the report.
const endScript = `read -r first < /proc/1/comm && [ "$first" = sandboxd ] && kill -9 -1
exit 0
`
