set -e
index=$1 tree=$2
shift 2
trap 'rm -f -- "$index" "$index.tests"' EXIT
cat > "$index.tests"
export GIT_INDEX_FILE=$index
git read-tree "$tree"
git apply --cached --whitespace=nowarn "$index.tests" >&2
for path; do
  git cat-file blob ":$path" 2>/dev/null | base64 | tr -d '\n'
  echo
done
