# Makes a repository here whose later commit has the fix, and leaves the fix in every place that git and the tools
# around it use. Each place has a text of its own: FIX-place. Prints the commit before the fix.
set -eu
export GIT_AUTHOR_NAME=nobody GIT_AUTHOR_EMAIL=nobody@invalid GIT_COMMITTER_NAME=nobody GIT_COMMITTER_EMAIL=nobody@invalid
git config --global init.defaultBranch main
git config --global protocol.file.allow always
git config --global safe.directory '*'
root=$PWD

# commit_fix PLACE commits a file with the text of a place, in the repository here, on top of HEAD.
commit_fix() {
	echo "fix = 'FIX-$1'" >"code-$1.py"
	git add "code-$1.py"
	git commit -q -m "the fix, in FIX-$1-message"
}
blob() { echo "fix = 'FIX-$1'" | git hash-object -w --stdin; }
back() { git reset -q --hard "$base"; }

# A library that the repository has as a submodule, and one that is only cloned into it.
git init -q /origin/library && (cd /origin/library && echo 1 >lib.py && git add . && git commit -q -m library)
git init -q vendored && (cd vendored && echo 1 >v.py && git add . && git commit -q -m vendored && git branch keep && commit_fix vendored && git reset -q --hard HEAD~1)

git init -q .
printf 'vendored/\nbuilt/\n__pycache__/\n' >.gitignore
echo old >code.py && mkdir pkg && echo 'a = 1' >pkg/a.py && printf '%s\n' one two three four five >text.txt
git add .gitignore code.py pkg text.txt && git commit -q -m 'an ancestor'
git submodule --quiet add /origin/library library
echo bug >code.py
# Data of the repository's own tests stays as it is.
mkdir data && git bundle create -q data/test.bundle HEAD && git init -q --bare --template= data/bare.git && echo x >data/bare.git/refs/heads/x
git add -f data && git commit -q -a -m base
base=$(git rev-parse HEAD)
mkdir built && echo so >built/lib.so && echo note >untracked.txt

git checkout -q -b branch && commit_fix branch && git checkout -q main
commit_fix tag && git tag v2 && git tag -a -m 'FIX-tag-annotation' v2a && back
commit_fix packed && git branch packed && back && git pack-refs --all
commit_fix reflog && back
commit_fix orig-head && back
commit_fix dangling && back && git update-ref -d ORIG_HEAD
echo "fix = 'FIX-stash'" >code.py && git stash -q -m 'FIX-stash-message'
commit_fix notes-target && git notes add -m 'FIX-notes' && back
export GIT_NO_REPLACE_OBJECTS=1
commit_fix replace && git replace "$base" HEAD && back
commit_fix pull && git update-ref refs/pull/1/head HEAD && back
git worktree add -q /elsewhere/worktree && (cd /elsewhere/worktree && commit_fix worktree)
git clone -q --bare . /mirrors/bare.git && git remote add origin /mirrors/bare.git && git fetch -q origin
(cd library && git checkout -q -b later && commit_fix submodule && git checkout -q - && echo 2 >/dev/null)
git submodule --quiet add /origin/library added 2>/dev/null || true
[ ! -d added ] || (cd added && commit_fix submodule-added)
git rm -q -r -f --cached added && back
commit_fix fetch-head && git rev-parse HEAD >.git/FETCH_HEAD && back
for head in MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD; do
	commit_fix "$(echo $head | tr A-Z_ a-z-)" && git rev-parse HEAD >"$root/head" && back && mv head ".git/$head"
done
rm -f .git/MERGE_HEAD .git/CHERRY_PICK_HEAD .git/REVERT_HEAD
mkdir -p .git/rebase-merge && echo 'FIX-rebase' >.git/rebase-merge/message
mkdir -p .git/rr-cache/1234 && echo 'FIX-rerere' >.git/rr-cache/1234/postimage
mkdir -p .git/lost-found/other && echo 'FIX-lost-found' >.git/lost-found/other/1
echo 'FIX-description' | git config branch.main.description "$(cat)"
mkdir -p .git/lfs/objects/ab && echo 'FIX-lfs' >.git/lfs/objects/ab/abcd
echo "/nowhere #FIX-http-alternates" >.git/objects/info/http-alternates

# Objects: of no commit, staged, packed in several ways, unfinished.
blob loose >/dev/null
echo "fix = 'FIX-staged'" >code.py && git add code.py && git show HEAD:code.py >code.py
id=$(blob resolve-undo)
printf '100644 %s 1\ttext.txt\n100644 %s 2\ttext.txt\n100644 %s 3\ttext.txt\n0 %s 0\ttext.txt\n' "$id" "$id" "$id" "$(printf '0%.0s' $(seq 40))" >/tmp/stages
git update-index --index-info </tmp/stages && git add text.txt && rm /tmp/stages
pack_of() { blob "$1" | git pack-objects -q .git/objects/pack/pack >/dev/null && git prune-packed -q; }
pack_of in-pack
pack_of kept && touch "$(ls -t .git/objects/pack/*.pack | head -n 1 | sed 's/pack$/keep/')"
blob cruft >/dev/null && git repack -q -d --cruft
name=$(blob no-index | git pack-objects -q .git/objects/pack/pack) && git prune-packed -q && rm ".git/objects/pack/pack-$name.idx"
name=$(blob unfinished | git pack-objects -q /tmp/pack) && mv "/tmp/pack-$name.pack" .git/objects/pack/tmp_pack_1
git prune-packed -q && rm -f "/tmp/pack-$name.idx" .git/objects/pack/tmp_idx_1
rm -f ".git/objects/$(blob unfinished | sed 's|^..|&/|')"
git multi-pack-index write 2>/dev/null && git commit-graph write --reachable 2>/dev/null
blob loose-again >/dev/null

# A borrowed store, which belongs to no repository, and copies of the repository in other places.
git clone -q --bare . /store/lender.git && (cd /store/lender.git && git update-ref refs/heads/x "$(git --work-tree=/tmp commit-tree -m 'FIX-alternates' "$base^{tree}")")
rm -rf /store/lender.git/HEAD /store/lender.git/refs && echo /store/lender.git/objects >>.git/objects/info/alternates
mkdir -p /root/.cache/tool && git clone -q . /root/.cache/tool/clone && (cd /root/.cache/tool/clone && git checkout -q -B main "$base" && commit_fix clone)
git clone -q . /tmp/at-base && (cd /tmp/at-base && git checkout -q -B main "$base" && git checkout -q -b side && commit_fix clone-branch && git checkout -q main)
git init -q /tmp/new && cp -r code.py text.txt .gitignore .gitmodules pkg /tmp/new && (cd /tmp/new && git add . && git commit -q -m copy && commit_fix copy)
git clone -q --no-local --depth 1 -b packed . /opt/shallow && (cd /opt/shallow && commit_fix shallow)
git clone -q --shared . /srv/shared && (cd /srv/shared && git checkout -q -B main "$base" && commit_fix shared)

# Files that git and patch write.
git checkout -q -f -B tmp "$base" && commit_fix bundle && git bundle create -q /opt/repository.bundle tmp && git bundle create -q ../other-name tmp "^$base"
git format-patch -q -1 --stdout >/tmp/fix.patch && git show >fix.diff && git show >code.py.rej
git pack-objects -q --all /opt/pack </dev/null >/dev/null
git checkout -q -f main && git branch -q -D tmp
echo "FIX-rejected" >>code.py.rej && echo "FIX-orig" >text.txt.orig
mkdir -p pkg/__pycache__ && echo "FIX-compiled" >pkg/__pycache__/a.cpython-311.pyc
echo 'FIX-commit-message' >.git/COMMIT_EDITMSG
echo "$base"
