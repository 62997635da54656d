set -e
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
