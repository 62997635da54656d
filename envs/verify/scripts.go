package verify

import _ "embed"

// inspectProgram is INSPECT of readScript.
//
//go:embed inspect.py
var inspectProgram string

// trustRepository lets git work on a repository that another user owns, without its hooks. In the
// C locale each byte is a character: in UTF-8, bash's read takes the NUL after an incomplete
// character for part of it, and loses the next entry of a list.
var trustRepository = []string{
	"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	"GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=/dev/null",
	"GIT_PAGER=cat", "PAGER=cat", "LC_ALL=C",
}

// Exit codes of the scripts below.
const (
	notApplied = 42 // the patch does not apply
	unreadable = 43 // git cannot read the patch, or sees nothing in it, or it adds too many links or files: see readScript
)

// readScript INDEX BASE INSPECT OWN COMMAND… brings the repository to BASE ("" is HEAD),
// writes all of it that git does not ignore into a tree by way of INDEX, and applies the
// patch on standard input to INDEX alone: nothing of it reaches the working tree. OWN,
// unless empty, says that the patch is the task's own; such a one may also be applied by
// patch(1), in the working tree. It prints fields that end with NUL, in lists that end
// with an empty field: the tree's name; the paths of the tree; git's raw difference between
// the tree and INDEX; of the paths that the patch adds, those that git ignores at BASE, with
// "./" before them, for git takes a name that begins with a colon for a pattern, and those that
// are there already and not in the tree; pairs of a symlink and its target; and what INSPECT,
// a Python program, prints of the interpreter that COMMAND names. Git is asked for all added
// paths at once, and gives up at one below a symlink of BASE: then it is asked for one by one,
// and a patch that adds more than 5,000 is refused.
// Untracked files that the image brings are part of the tree. What git warns of is shown
// only where it fails.
const readScript = `set -e
index=$1 inspect=$3 own=$4
exec 2>"$index.said"
trap 'code=$?; if [ $code != 0 ]; then cat "$index.said"; fi' EXIT
base=${2:-HEAD}
shift 4
want=$(git rev-parse --verify --quiet --end-of-options "$base^{commit}") || {
  if git rev-parse --git-dir >/dev/null 2>&1; then echo "there is no commit $base in it"; fi
  exit 1
}
look() {
  for python in "$@"; do
    if [[ $python == ./* ]]; then python=$here/$python; fi
    if command -v "$python" >/dev/null 2>&1 && (cd / && LC_ALL=C.UTF-8 "$python" -c "$inspect" "$here"); then return; fi
  done
}
here=$PWD
if [ "$(git rev-parse HEAD)" != "$want" ]; then git checkout -q --force --detach "$want"; fi
look "$@" > "$index.facts" 2>/dev/null &
cp -- "$(git rev-parse --git-path index)" "$index" 2>/dev/null || true
export GIT_INDEX_FILE=$index
git add -A 2>/dev/null || git add -A
tree=$(git write-tree)
cat > "$index.patch"
if [ -s "$index.patch" ]; then
  cp -- "$index" "$index.base"
  if ! git apply --numstat -z "$index.patch" > "$index.numstat" || ! [ -s "$index.numstat" ]; then
    if [ -z "$own" ]; then exit 43; fi
  fi
  plain() { git apply --cached --whitespace=nowarn "$index.patch"; }
  by3way() {
    cp -- "$index.base" "$index"
    git apply --cached --3way --whitespace=nowarn "$index.patch" && [ -z "$(git ls-files -u)" ]
  }
  byPatch() {
    cp -- "$index.base" "$index"
    [ -n "$own" ] && command -v patch >/dev/null &&
      patch --batch --forward --unified --fuzz=5 -p1 --no-backup-if-mismatch --reject-file=- --input="$index.patch" && git add -A
  }
  if ! { plain || by3way || byPatch; } >&2; then
    head -c 262144 /dev/zero > "$index.room" && rm -- "$index.room" || exit 3
    exit 42
  fi
fi
printf '%s\0\0' "$tree"
git ls-tree -r -z --name-only "$tree"
printf '\0'
git diff-index --cached --raw -z --no-renames --no-abbrev --ignore-submodules=none "$tree" > "$index.raw"
cat "$index.raw"
printf '\0'
git diff-index --cached --name-only --diff-filter=A -z --no-renames --ignore-submodules=none "$tree" > "$index.added"
while IFS= read -r -d '' path; do printf './%s\0' "$path"; done < "$index.added" > "$index.asked"
oneByOne() {
  one=0
  while IFS= read -r -d '' path; do
    if [ $((one += 1)) -gt 5000 ]; then exit 43; fi
    if git check-ignore --no-index -q -- "$path"; then printf '%s\0' "$path"; fi
  done < "$index.asked"
}
git check-ignore --no-index -z --stdin < "$index.asked" > "$index.ignored" || [ $? = 1 ] || oneByOne > "$index.ignored"
cat "$index.ignored"
printf '\0'
while IFS= read -r -d '' path; do
  if [ -e "$path" ] || [ -L "$path" ]; then printf '%s\0' "$path"; fi
done < "$index.added"
printf '\0'
links=0
while IFS= read -r -d '' meta && IFS= read -r -d '' path; do
  read -r _ mode _ id _ <<< "$meta"
  if [ "$mode" != 120000 ]; then continue; fi
  if [ $((links += 1)) -gt 500 ]; then exit 43; fi
  printf '%s\0=' "$path"; git cat-file blob "$id" | tr '\0' '\n'; printf '\0'
done < "$index.raw"
printf '\0'
wait
cat "$index.facts"
`

// layScript INDEX TREE takes entries of an index, each ended with NUL, an empty entry and
// the task's test patch on standard input. It puts the entries back into INDEX, applies the
// test patch there and brings the working tree, which is as TREE has it, to what INDEX
// says: for each path that differs, whatever stands there is removed, with any link or
// file in the place of a folder above it, and then written again. It leaves nothing of ours
// behind, from which code under test could tell what is in the tree besides.
const layScript = `set -e
index=$1 tree=$2
export GIT_INDEX_FILE=$index
while IFS= read -r -d '' entry && [ -n "$entry" ]; do printf '%s\0' "$entry"; done > "$index.back"
cat > "$index.tests"
git update-index -z --add --replace --index-info < "$index.back"
late=
if [ -s "$index.tests" ]; then git apply --cached --whitespace=nowarn "$index.tests" || late=1; fi
differing() { git diff-index --cached --name-only -z --no-renames --ignore-submodules=none "$@" "$tree"; }
differing > "$index.differing"
while IFS= read -r -d '' path; do
  above= rest=$path
  while [[ $rest == */* ]]; do
    above=$above${rest%%/*} rest=${rest#*/}
    if [[ -L $above || -f $above ]]; then rm -f -- "$above"; fi
    above=$above/
  done
  if [[ -e $path || -L $path ]]; then rm -rf -- "$path"; fi
done < "$index.differing"
differing --diff-filter=D > "$index.gone"
while IFS= read -r -d '' path; do
  while [[ $path == */* ]] && path=${path%/*} && rmdir -- "$path" 2>/dev/null; do :; done
done < "$index.gone"
differing --diff-filter=d > "$index.there"
git checkout-index -f -u -q -z --stdin < "$index.there"
if [ -n "$late" ]; then
  git apply --whitespace=nowarn "$index.tests" || git apply --3way --whitespace=nowarn "$index.tests" ||
    patch --batch --forward --unified --fuzz=5 -p1 --no-backup-if-mismatch --reject-file=- --input="$index.tests"
fi
rm -rf -- "$index" "$index".*
`

// testScript COMMAND WITNESS PLAIN BEFORE AFTER reads a nonce from standard input and runs
// the test command between two lines that hold it, inside the conda environment testbed
// where the image has one. It ends with the exit code of the command, which is in the
// second line too. WITNESS, unless empty, is where pytest is to write its report. PLAIN,
// unless empty, says that pytest is to load no plugin of an installed distribution. BEFORE
// and AFTER are the rest of an evaluation script, in the same shell. The nonce is no
// argument: code under test can read those.
const testScript = `IFS= read -r relabel_nonce
exec </dev/null
for conda in /opt/miniconda3 /opt/conda /root/miniconda3; do
  if [ -d "$conda/envs/testbed" ]; then . "$conda/bin/activate" testbed; break; fi
done
relabel_tests=$1 relabel_report=$2 relabel_plain=$3 relabel_after=$5
eval "$4"
set +e
if [ -n "$relabel_report" ]; then export PYTEST_ADDOPTS="${PYTEST_ADDOPTS:-} --junitxml=$relabel_report"; fi
if [ -n "$relabel_plain" ]; then export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1; fi
printf '\n%s begin\n' "$relabel_nonce"
( eval "$relabel_tests" )
relabel_code=$?
printf '\n%s end %s\n' "$relabel_nonce" "$relabel_code"
( eval "$relabel_after" )
exit "$relabel_code"
`

// endScript ends every process that the tests left behind, so that none changes what is
// read afterwards.
const endScript = `read -r first < /proc/1/comm && [ "$first" = sandboxd ] && kill -9 -1
exit 0
`
