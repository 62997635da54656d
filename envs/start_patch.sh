# Applies the patch of stdin to the commit $1 (HEAD's if it is empty), and commits the result without a parent. Ends
# with 42 if the patch does not apply.
set -euo pipefail
export LC_ALL=C GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' GIT_CONFIG_KEY_1=core.hooksPath GIT_CONFIG_VALUE_1=/dev/null
# The same commit each time: a replay compares it.
export GIT_AUTHOR_NAME=relabel GIT_AUTHOR_EMAIL=relabel@localhost GIT_AUTHOR_DATE='2000-01-01T00:00:00Z'
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
base=$(git rev-parse --verify --quiet --end-of-options "${1:-HEAD}^{commit}") || {
	echo "there is no commit ${1:-HEAD}"
	exit 42
}
[ "$(git rev-parse HEAD)" = "$base" ] || git checkout --quiet --force --detach "$base"
patch=$(mktemp)
trap 'rm -f "$patch"' EXIT
cat >"$patch"
if ! git apply --index --whitespace=nowarn "$patch" 2>"$patch.said"; then
	# A working tree that differs from HEAD, or a patch that is a little off.
	if ! git apply --whitespace=nowarn "$patch" 2>>"$patch.said" &&
		! patch --batch --forward --unified --fuzz=5 -p1 --no-backup-if-mismatch --reject-file=- --input="$patch" >>"$patch.said" 2>&1; then
		cat "$patch.said"
		rm -f "$patch.said"
		exit 42
	fi
	git apply --numstat -z "$patch" | while IFS=$'\t' read -r -d '' _ _ path; do
		if [ -n "$path" ]; then git add -A -- "$path"; fi
	done
fi
rm -f "$patch.said"
commit=$(git commit-tree -m 'Start of the task' "$(git write-tree)")
git update-ref HEAD "$commit"
# Untracked copies of a file before the patch, such as those of a build, show what the patch changed.
declare -A before
while IFS= read -r -d '' path; do
	before[${path##*/}]+=" $(git rev-parse "$base:$path")"
done < <(git diff --no-renames --diff-filter=MD --name-only -z "$base" "$commit")
empty=$(git hash-object --stdin </dev/null)
git ls-files -o -z | while IFS= read -r -d '' file; do
	blobs=${before[${file##*/}]:-}
	[ -n "$blobs" ] && [ -f "$file" ] && [ ! -L "$file" ] || continue
	blob=$(git hash-object --no-filters -- "$file")
	case "$blobs " in *" $blob "*) [ "$blob" = "$empty" ] || rm -f -- "$file" ;; esac
done
