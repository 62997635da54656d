set -e
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
