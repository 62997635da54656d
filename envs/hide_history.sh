# Makes everything later than the commit $1 (HEAD's where it is empty) of the repository here unreachable: in the
# repository, in others on the disk, and in files that git or patch wrote. Ends with 0 only if no later object is left.
asked=${1:-HEAD}
top=$(pwd -P)
main=$(cd "$(git rev-parse --git-dir)" && pwd -P)
tree=$(git rev-parse --show-toplevel)
base=$(commit_of "$asked")
[ -n "$base" ] || fail "there is no commit $asked in the repository"
(
	enter "$main" "$tree"
	rm -f "$main/index.lock" "$main/HEAD.lock"
	# What earlier and later states of it and copies of it have in common with the base: commits and their trees,
	# the first commits, and files.
	git log --format='%H%n%T' "$base" | sort -u >"$scratch/history"
	git rev-list --max-parents=0 "$base" >"$scratch/roots"
	git ls-tree -r "$base" | sed -n 's/^[0-9]* blob \([0-9a-f]*\).*/\1/p' | sort -u | { grep -vFx "$(git hash-object --stdin </dev/null)" || true; } | awk 'NR <= 1000' >"$scratch/files"
	hide "$base"
)
main_common=$(cd "$(git rev-parse --git-common-dir)" && pwd -P)

# The whole disk is searched only where sandboxd is the first process, in a sandbox of its own; else the work folder is.
root=$tree
[ "$(cat /proc/1/comm)" != sandboxd ] || root=/

# walk lists what may hold history: the HEAD of a repository, object stores, packs, bundles, files near the top.
walk() {
	local places=()
	mapfile -t places < <(find "$root" -maxdepth 1 -mindepth 1 ! -path /proc ! -path /sys ! -path /dev ! -path /relabel ! -path '/.relabel-*')
	find "${places[@]}" \( -name HEAD \( -type f -o -type l \) -o -name objects -type d -o -name '*.pack' -type f -o -name '*.bundle' -type f \) -print0 2>/dev/null || true
	[ "$root" = "$tree" ] || find / -maxdepth 3 \( -path /proc -o -path /sys -o -path /dev -o -path /usr -o -path /etc -o -path /relabel \) -prune -o -type f -size +0 -print0 2>/dev/null || true
}

# tracked says whether the repository around the folder $1 has the file $2 of it as its own, such as data of its tests.
tracked() { (cd "$1" && git ls-files --error-unmatch -- ":(literal)$2") >/dev/null 2>&1; }

# related says whether the object store of the repository that was entered has a part of the base's history, or half of its files.
related() {
	local found all
	found=$({ echo "$base" && cat "$scratch/roots"; } | git cat-file --batch-check | grep -c ' commit ' || true)
	[ "$found" -eq 0 ] || return 0
	all=$(wc -l <"$scratch/files")
	found=$(git cat-file --batch-check <"$scratch/files" | grep -c ' blob ' || true)
	[ "$all" -gt 0 ] && [ $((2 * found)) -ge "$all" ]
}

# earlier says whether the commit $1, or its tree, is in the history of the base.
earlier() {
	[ -n "$1" ] && { grep -qFx "$1" "$scratch/history" || grep -qFx "$(git rev-parse "$1^{tree}")" "$scratch/history"; }
}

# tree_of prints the working tree of the git folder $1, if it has one on this disk.
tree_of() {
	local tree
	tree=$(git config --file "$1/config" --get core.worktree || true)
	if [ -n "$tree" ]; then
		tree=$(cd "$1" && cd "$tree" 2>/dev/null && pwd -P || true)
	elif [ "$(basename "$1")" = .git ]; then
		tree=$(dirname "$1")
	fi
	[ -z "$tree" ] || [ ! -d "$tree" ] || printf '%s\n' "$tree"
}

# pinned prints the commit that the repository around the working tree $1 has for it as a submodule.
pinned() {
	local parent
	parent=$(cd "$(dirname "$1")" && git rev-parse --show-toplevel 2>/dev/null) || return 0
	(cd "$parent" && git ls-tree HEAD -- "${1#"$parent"/}" | sed -n 's/^160000 commit \([0-9a-f]*\).*/\1/p')
}

# visit hides the later history of another repository, with the git folder $1 and the working tree $2.
visit() (
	local pin head
	pin=
	[ -z "$2" ] || pin=$(pinned "$2")
	enter "$1" "$2"
	head=$(commit_of HEAD)
	if related; then
		if [ -n "$(commit_of "$base")" ] && ! earlier "$head"; then
			hide "$base"
		elif earlier "$head"; then
			hide "$head"
		else
			remove "$1" "$2"
		fi
	elif [ -n "$pin" ] && [ -n "$(commit_of "$pin")" ]; then
		hide "$pin"
	elif case $1 in "$main_common"/modules/*) [ -z "$pin" ] ;; *) false ;; esac; then
		remove "$1" "$2" # of a submodule that the base does not have
	elif [ -n "$head" ] && case $1 in "$top"/* | "$main_common"/*) true ;; *) false ;; esac; then
		hide "$head"
	fi
)

# remove deletes a repository with its working tree.
remove() {
	local path
	for path in "$2" "$1"; do
		[ -n "$path" ] || continue
		case $top/ in "$path"/*) fail "$path is a repository at a later commit, and $top is in it: remove it from the image" ;; esac
		cd /
		rm -rf "$path" || fail "$path has later commits, and $(id -un) may not remove it: remove it from the image"
	done
}

# store deletes the object store $1, which belongs to no repository, if it has the task's objects.
store() (
	command git init -q --bare "$scratch/probe"
	export GIT_OBJECT_DIRECTORY=$1
	enter "$scratch/probe" ""
	! related || rm -rf "$1" || fail "$1 has later objects, and $(id -un) may not remove it: remove it from the image"
)

repositories=() stores=() files=()
while IFS= read -r -d '' path; do
	folder=${path%/*}
	case $path in
	*/HEAD) if [ -d "$folder/objects" ] && [ -d "$folder/refs" ]; then repositories+=("$folder"); fi ;;
	*/objects) if [ ! -e "$folder/HEAD" ] && [ -d "$path/pack" ]; then stores+=("$path"); fi ;;
	*) files+=("$path") ;;
	esac
done < <(walk | sort -zu)

# Outer repositories come before those in them: their commits name the ones of submodules.
while IFS= read -r folder; do
	[ -n "$folder" ] && [ -d "$folder" ] && [ "$folder" != "$main_common" ] && ! tracked "${folder%/*}/" "${folder##*/}/HEAD" || continue
	where=$folder
	visit "$folder" "$(tree_of "$folder")"
done < <(printf '%s\n' "${repositories[@]}" | awk '{ print length($0), $0 }' | sort -n | cut -d' ' -f2-)
for path in "${stores[@]}"; do
	where=$path
	store "$path"
done

# Files: bundles, packs outside of object stores, patches that would apply, what patch and merges left.
where=$top
cd "$tree"
mapfile -d '' -t more < <(git ls-files -o -z --exclude-standard)
for path in "${more[@]}"; do
	files+=("$tree/$path")
done
for path in "${files[@]}"; do
	[ -f "$path" ] && [ ! -L "$path" ] || continue
	IFS= read -r -N 14 start <"$path" 2>/dev/null || true
	case $start in
	'# v2 git bundl' | '# v3 git bundl') ;;
	PACK*) case $path in */objects/pack/*) continue ;; esac ;;
	*)
		case $path in *.patch | *.diff) ;; *) continue ;; esac
		git apply --check "$path" 2>/dev/null || continue
		;;
	esac
	tracked "${path%/*}/" "${path##*/}" || rm -f "$path" || fail "$path has later history, and $(id -un) may not remove it: remove it from the image"
done
git ls-files -o -z -- '*.rej' '*.orig' '*~' '.*.sw[a-p]' '**/.*.sw[a-p]' | xargs -0 rm -f --
# Compiled files of other versions of the tracked ones.
git ls-files -z -- '*.py' | while IFS= read -r -d '' path; do
	case $path in */*) printf '%s\0' "${path%/*}/__pycache__" ;; *) printf '__pycache__\0' ;; esac
done | sort -zu | xargs -0 rm -rf --
