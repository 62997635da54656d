# Functions that hide the later history of one git repository. hide_history.sh runs after them.
set -Eeuo pipefail
export LC_ALL=C
for name in $(compgen -v); do
	case $name in GIT_*) unset "$name" ;; esac
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Repositories of other users count too.
printf '[safe]\n\tdirectory = *\n' >"$scratch/gitconfig"
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=$scratch/gitconfig
# Replacements and grafts would show another history than the objects'.
export GIT_NO_REPLACE_OBJECTS=1 GIT_GRAFT_FILE=$scratch/none GIT_NO_LAZY_FETCH=1
where=$PWD # what is being worked on, for messages
trap 'echo "in $where: $BASH_COMMAND failed (line $LINENO)" >&2' ERR

# What an image set up for git must not run or hinder here.
git() {
	command git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.commitGraph=false -c submodule.recurse=false \
		-c core.multiPackIndex=false -c gc.auto=0 -c maintenance.auto=false -c advice.detachedHead=false "$@"
}
fail() {
	trap - ERR
	echo "$*"
	exit 1
}

# enter selects the repository with the git folder $1 and the working tree $2, "" if it has none. Run it in a subshell.
enter() {
	where=$1
	export GIT_DIR=$1
	if [ -n "$2" ]; then
		export GIT_WORK_TREE=$2
		cd "$2"
	else
		cd "$1"
	fi
	dir=$1
	common=$(cd "$(git rev-parse --git-common-dir)" && pwd -P)
}

# commit_of prints the commit that $1 names; nothing if there is none.
commit_of() { git rev-parse --verify --quiet --end-of-options "$1^{commit}" || true; }

# hide removes from the repository that was entered what the commit $1 does not lead to. HEAD is $1 afterwards, on
# its branch; so are the index and, if HEAD was another commit, the files of the working tree.
hide() {
	local base=$1 head branch
	[ -w "$common" ] || fail "$common has later commits, and $(id -un) may not change it: remove it from the image, or make it writable"
	head=$(commit_of HEAD)
	branch=$(git symbolic-ref --quiet HEAD || true)
	release_worktrees "$base"
	clear_names "$base"
	select_commit "$base" "$head"
	case $branch in
	refs/heads/*)
		git update-ref "$branch" "$base"
		git symbolic-ref HEAD "$branch"
		;;
	esac
	rm -rf "$common/logs" "$dir/logs" "$dir/ORIG_HEAD" # of these commands
	clear_config
	clear_objects "$base"
	clear_files
	[ "$(commit_of HEAD)" = "$base" ] || fail "$where: HEAD is not at the commit $base"
	[ "$(git for-each-ref --format='%(refname)' | wc -l)" -le 1 ] || fail "$where: other refs are still there"
}

# release_worktrees brings the other working trees of the repository to the commit $1, unless they are at it or an
# earlier one, and detaches them from the repository.
release_worktrees() {
	local entry tree
	if [ "$dir" != "$common" ]; then
		tree=$(dirname "$common") # the main working tree
		[ "$(basename "$common")" != .git ] || reach "$common" "$tree" "$1"
	fi
	for entry in "$common"/worktrees/*/; do
		entry=${entry%/}
		[ -f "$entry/gitdir" ] && [ "$(cd "$entry" && pwd -P)" != "$(cd "$dir" && pwd -P)" ] || continue
		tree=$(dirname "$(cat "$entry/gitdir")")
		[ ! -d "$tree" ] || reach "$entry" "$tree" "$1"
		rm -rf "$entry" "$tree/.git"
	done
}

# reach brings the working tree $2 of the git folder $1 to the commit $3, unless $3 contains what it is at.
reach() (
	enter "$1" "$2"
	local head
	head=$(commit_of HEAD)
	if [ -z "$head" ] || ! git merge-base --is-ancestor "$head" "$3"; then
		rm -f "$1/index.lock" "$1/HEAD.lock"
		printf '%s\n' "$3" >"$1/HEAD"
		git reset --quiet --hard "$3"
	fi
)

# clear_names removes every name of a commit: refs of all kinds, their logs, the heads and messages that commands
# leave. Of the git folders it keeps only what a repository needs.
clear_names() {
	local keep=(! -name config ! -name config.worktree ! -name description ! -name hooks ! -name index ! -name 'sharedindex.*'
		! -name info ! -name objects ! -name shallow ! -name modules ! -name lfs ! -name annex ! -name commondir ! -name gitdir)
	if [ "$dir" = "$common" ]; then
		find "$common" -mindepth 1 -maxdepth 1 "${keep[@]}" -exec rm -rf {} +
	else
		find "$common" -mindepth 1 -maxdepth 1 "${keep[@]}" ! -name worktrees -exec rm -rf {} +
		find "$dir" -mindepth 1 -maxdepth 1 "${keep[@]}" -exec rm -rf {} +
		printf '%s\n' "$1" >"$common/HEAD"
	fi
	find "$common/info" "$dir/info" -mindepth 1 ! -name exclude ! -name attributes ! -name sparse-checkout -exec rm -rf {} + 2>/dev/null || true
	rm -f "$common/config.lock"
	git config --file "$common/config" --unset-all extensions.refStorage || true # the refs were in tables
	mkdir -p "$common/refs/heads" "$common/refs/tags"
	printf '%s\n' "$1" >"$dir/HEAD"
}

# select_commit makes index and working tree those of the commit $1. If HEAD was at it ($2), only what was staged goes.
select_commit() {
	[ -n "${GIT_WORK_TREE:-}" ] || return 0
	if [ "$1" != "$2" ]; then
		git reset --quiet --hard "$1"
	elif [ -e "$dir/index" ] && { ! git diff-index --cached --quiet "$1" -- || [ -n "$(git ls-files --resolve-undo)" ]; }; then
		git read-tree --reset "$1"
		git update-index -q --refresh >/dev/null || true
	fi
}

# clear_config removes remotes, and what is written about branches.
clear_config() {
	local section
	{ git config --file "$common/config" --name-only --get-regexp '^(remote|branch)\.' || true; } | sed 's/\.[^.]*$//' | sort -u | while read -r section; do
		git config --file "$common/config" --remove-section "$section"
	done
}

# closure prints the names of the objects that the commit $1 leads to.
closure() {
	local lenient=
	# A partial clone lacks some, which it would fetch.
	if compgen -G "$common/objects/pack/*.promisor" >/dev/null; then
		git config --file "$common/config" --unset-all extensions.partialClone || true
		lenient=--missing=allow-any
	fi
	git rev-list --objects $lenient "$1" | cut -d' ' -f1 | sort -u
}

# differ prints the objects that are either in the list $1 or in the store, or in one that it borrows from.
differ() {
	comm -3 <(git cat-file --batch-all-objects --unordered --batch-check='%(objectname)' | sort -u) "$1" | head -n 3 | tr '\n\t' '  ' || true
}

# clear_objects leaves only the objects that the commit $1 leads to, in one pack, if there are others.
clear_objects() {
	local store=$common/objects list=$common/relabel-closure fresh=$common/relabel-objects
	# Indexes over packs name what is in them; without them git looks into the packs.
	rm -rf "$store"/info/{commit-graph,commit-graphs,packs} "$store"/pack/{multi-pack-index*,*.bitmap}
	closure "$1" >"$list"
	if [ -n "$(differ "$list")" ] || [ -n "$(foreign "$store")" ]; then
		rm -rf "$fresh"
		mkdir -p "$fresh/pack" "$fresh/info"
		# The deltas stay as they are.
		git pack-objects -q --window=0 --delta-base-offset "$fresh/pack/pack" <"$list" >/dev/null
		rm -rf "$store"
		mv "$fresh" "$store"
	fi
	[ -z "$(differ "$list")" ] || fail "$where: later objects are still there, or earlier ones are not: $(differ "$list")"
	if [ -f "$common/shallow" ]; then
		{ grep -Fx -f "$list" "$common/shallow" || true; } >"$list.shallow"
		mv "$list.shallow" "$common/shallow"
		[ -s "$common/shallow" ] || rm -f "$common/shallow"
	fi
	rm -f "$list"
}

# foreign prints what is in the object store $1 beside objects and packs that git reads: unfinished files, packs
# without an index, addresses of other stores, a link to another folder.
foreign() {
	local pack
	find "$1" -type l -o -type f | grep -vE '/[0-9a-f]{2}/[0-9a-f]{38,62}$|/pack/pack-[0-9a-f]{40,64}\.(pack|idx|rev)$' || true
	for pack in "$1"/pack/*.pack; do
		[ ! -e "$pack" ] || [ -e "${pack%.pack}.idx" ] || echo "$pack"
	done
}

# clear_files removes contents that git keeps beside its objects: large files (LFS) of other commits.
clear_files() {
	[ -d "$common/lfs" ] || return 0
	{ git grep -I -h -o -E 'oid sha256:[0-9a-f]{64}' HEAD -- || true; } | sed 's/^.*oid sha256://' | sort -u >"$scratch/lfs"
	find "$common/lfs" -type f | while read -r file; do
		grep -qFx "$(basename "$file")" "$scratch/lfs" || rm -f "$file"
	done
}
