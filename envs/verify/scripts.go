package verify

// trustRepository lets git work on a repository that another user owns, without its hooks.
var trustRepository = []string{
	"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	"GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=/dev/null",
	"GIT_PAGER=cat", "PAGER=cat", "LC_ALL=C.UTF-8",
}

// notApplied is the exit code of applyScript that means that the patch does not apply.
const notApplied = 42

// prepareScript INDEX BASE brings the repository to BASE ("" is HEAD), writes all of it
// that git does not ignore into a tree by way of INDEX, and prints the tree's name and
// a newline, then, each ended by NUL, the names at its root and in src and lib.
// Untracked files that the image brings are part of the tree. What git warns of is shown
// only where it fails.
const prepareScript = `set -e
exec 2>"$1.said"
trap 'code=$?; if [ $code != 0 ]; then cat "$1.said"; fi' EXIT
base=${2:-HEAD}
want=$(git rev-parse --verify --quiet --end-of-options "$base^{commit}") || {
  if git rev-parse --git-dir >/dev/null 2>&1; then echo "there is no commit $base in it"; fi
  exit 1
}
if [ "$(git rev-parse HEAD)" != "$want" ]; then git checkout -q --force --detach "$want"; fi
cp -- "$(git rev-parse --git-path index)" "$1" 2>/dev/null || true
export GIT_INDEX_FILE=$1
git add -A 2>/dev/null || git add -A
tree=$(git write-tree)
printf '%s\n' "$tree"
git ls-tree -z --name-only "$tree" .
for d in src lib; do git ls-tree -z --name-only "$tree" "$d/"; done
`

// applyScript INDEX TREE applies the patch on standard input in the first of three ways
// that works, with the working tree brought back to TREE between them.
const applyScript = `export GIT_INDEX_FILE=$1
patch=$1.patch
cat > "$patch" || exit 3
back() { git add -A && git read-tree --reset -u "$tree"; }
tree=$2
if git apply --whitespace=nowarn "$patch"; then exit 0; fi
if git apply --3way --whitespace=nowarn "$patch"; then exit 0; fi
back || exit 3
if command -v patch >/dev/null; then
  if patch --batch --forward --unified --fuzz=5 -p1 --no-backup-if-mismatch --reject-file=- --input="$patch"; then exit 0; fi
  back || exit 3
fi
exit 42
`

// restoreScript INDEX TREE brings each path on standard input, ended by NUL, to its
// state in TREE: it is removed, with any link or file that stands where a folder above
// it belongs, and what TREE has of it is written again.
const restoreScript = `set -e
export GIT_INDEX_FILE=$1
git read-tree "$2"
list=$1.list
cat > "$list"
while IFS= read -r -d '' path; do
  above= rest=$path
  while [[ $rest == */* ]]; do
    above=$above${rest%%/*} rest=${rest#*/}
    if [[ -L $above || -f $above ]]; then rm -f -- "$above"; fi
    above=$above/
  done
  rm -rf -- "$path"
done < "$list"
xargs -0 -r git --literal-pathspecs ls-files -z -- < "$list" > "$list.there"
git checkout-index -f -q -z --stdin < "$list.there"
`

// testScript NONCE COMMAND WITNESS BEFORE AFTER runs the test command between two lines
// that hold the nonce, the last with its exit code, inside the conda environment testbed
// where the image has one. WITNESS, unless empty, is where pytest is to write its report.
// BEFORE and AFTER are the rest of an evaluation script, in the same shell.
const testScript = `for conda in /opt/miniconda3 /opt/conda /root/miniconda3; do
  if [ -d "$conda/envs/testbed" ]; then . "$conda/bin/activate" testbed; break; fi
done
if [ -n "$3" ]; then export PYTEST_ADDOPTS="${PYTEST_ADDOPTS:-} --junitxml=$3"; fi
relabel_nonce=$1 relabel_tests=$2 relabel_after=$5
eval "$4"
printf '\n%s begin\n' "$relabel_nonce"
( eval "$relabel_tests" ) </dev/null
relabel_code=$?
printf '\n%s end %s\n' "$relabel_nonce" "$relabel_code"
eval "$relabel_after"
`
