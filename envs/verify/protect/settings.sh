set -e
index=$1 tree=$2 bytes=$3
shift 3
exec 2>"$index.said"
trap 'code=$?; if [ $code != 0 ]; then cat "$index.said"; fi' EXIT
cat > "$index.gold.patch"
export GIT_INDEX_FILE=$index.gold GIT_LITERAL_PATHSPECS=1
git read-tree "$tree"
git apply --cached --whitespace=nowarn "$index.gold.patch" || git read-tree "$tree"
content() { git cat-file blob "$1" 2>/dev/null | head -c "$bytes" | base64 | tr -d '\n'; echo; }
for path; do
  content "$tree:$path"
  entry=$(git ls-files -s -- "$path")
  read -r mode id _ <<< "$entry"
  echo "$mode${id:+ $id}"
  content ":$path"
  GIT_INDEX_FILE=$index content ":$path"
done
