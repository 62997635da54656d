# Makes everything in the repository here that is later than the commit $1 unreachable;
# HEAD's where $1 is empty. Ends with 0 only if no later commit is left.
set -euo pipefail
export LC_ALL=C GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
# What an image set up for git must not run or hinder here.
git() {
	command git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.commitGraph=false -c submodule.recurse=false \
		-c core.multiPackIndex=false -c gc.auto=0 -c maintenance.auto=false -c advice.detachedHead=false "$@"
}
fail() {
	echo "$*"
	exit 1
}

dir=$(cd "$(git rev-parse --git-dir)" && pwd)
common=$(cd "$(git rev-parse --git-common-dir)" && pwd)
base=$(git rev-parse --verify --quiet "${1:-HEAD}^{commit}") || fail "there is no commit ${1:-HEAD} in the repository"
branch=$(git symbolic-ref --quiet HEAD || true)
rm -f "$dir/index.lock" "$dir/HEAD.lock"

# Replacements and grafts would show another history than the objects'.
rm -rf "$common/refs/replace" "$common/info/grafts"
[ "$(git rev-parse --verify --quiet HEAD)" = "$base" ] || git checkout --quiet --force --detach "$base"

# Every name of a commit goes: refs of all kinds, their logs, the heads that commands leave.
[ ! -d "$common/reftable" ] || fail "the repository keeps its refs in tables, which cannot be cleared"
printf '%s\n' "$base" >"$dir/HEAD"
rm -rf "$common/refs" "$common/packed-refs" "$common/logs" "$dir/logs" "$common/info/refs"
rm -rf "$dir"/{ORIG_HEAD,FETCH_HEAD,MERGE_HEAD,MERGE_MSG,MERGE_MODE,MERGE_AUTOSTASH,CHERRY_PICK_HEAD,REVERT_HEAD,REBASE_HEAD,AUTO_MERGE,SQUASH_MSG,COMMIT_EDITMSG} \
	"$dir"/{rebase-merge,rebase-apply,sequencer} "$dir"/BISECT_*
if [ "$dir" = "$common" ]; then
	rm -rf "$common/worktrees"
fi
mkdir -p "$common/refs/heads" "$common/refs/tags"
case $branch in
refs/heads/*)
	git update-ref "$branch" "$base"
	git symbolic-ref HEAD "$branch"
	;;
esac
rm -rf "$common/logs" "$dir/logs" # update-ref may have begun one
for remote in $(git remote); do
	git config --local --remove-section "remote.$remote"
done
rm -rf "$common/branches" "$common/remotes"

# later prints the commits and tags in the object store that base does not lead to.
later() {
	comm -23 \
		<(git cat-file --batch-all-objects --unordered --batch-check='%(objecttype) %(objectname)' | sed -n 's/^\(commit\|tag\) //p' | sort) \
		<(git rev-list "$base" | sort)
}

# Indexes over packs name what is in them; without them git looks into the packs.
rm -rf "$common"/objects/info/{commit-graph,commit-graphs,packs} "$common"/objects/pack/{multi-pack-index*,*.bitmap}
found=$(later)
if [ -n "$found" ]; then
	rm -f "$common"/objects/pack/*.keep
	# The reachable objects into one pack, with the deltas they have; those of a borrowed
	# object store too, which is then no longer used.
	git repack -a -d -q --window=0
	rm -f "$common/objects/info/alternates"
	git prune --expire=now
	found=$(later)
fi
# What no commit names may hold the fix as well: files that were staged once, or whose
# commit alone was removed. They lie loose: packing takes up what is reachable.
[ -z "$(git count-objects | sed '/^0 objects/d')" ] || git prune --expire=now
[ -z "$found" ] || fail "later commits are still there: $(printf '%s' "$found" | head -n 3 | tr '\n' ' ')"
[ "$(git rev-parse HEAD)" = "$base" ] || fail "HEAD is not at the base commit"
[ "$(git for-each-ref --format='%(refname)' | wc -l)" -le 1 ] || fail "other refs are still there"
