package envstest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"relabel/envs"
)

// What the repository's index has git pass over has changed all the same.
func (s *suite) testHiddenChanges(t *testing.T) {
	for _, mark := range []string{"--assume-unchanged", "--skip-worktree"} {
		t.Run(mark, func(t *testing.T) {
			b := s.sandbox(t)
			base := b.repository()
			b.bash("git update-index " + mark + " plain.txt src/a.py")
			first := b.fingerprint()
			b.bash("echo hidden >>plain.txt")
			if b.fingerprint() == first {
				t.Error("the fingerprint does not see it")
			}
			if diff := string(b.patch(base).Diff); !strings.Contains(diff, "+hidden") || strings.Contains(diff, "a.py") {
				t.Errorf("the patch is %q", diff)
			}
		})
	}
	t.Run("a sparse checkout", func(t *testing.T) {
		b := s.sandbox(t)
		base := b.repository()
		b.bash("git update-index --skip-worktree src/a.py && rm -r src")
		if diff := b.patch(base).Diff; len(diff) != 0 {
			t.Errorf("the patch is %q", diff)
		}
	})
	t.Run("below a link", func(t *testing.T) {
		b := s.sandbox(t)
		base := b.repository()
		b.bash(`here=$PWD; cd ..; mv "$here" moved && ln -s moved "$here"; mkdir -p moved/sub; git -C moved/sub init -q; echo inside >moved/sub/file`)
		if diff := string(b.patch(base).Diff); !strings.Contains(diff, "+inside") {
			t.Errorf("the patch is %q", diff)
		}
		b.bash("rm -rf .git")
		first := b.fingerprint()
		b.bash("echo more >>plain.txt")
		if b.fingerprint() == first {
			t.Error("without a repository the fingerprint does not see a change")
		}
	})
}

// Pipes and devices in the place of git's files neither block anything nor run forever.
func (s *suite) testStrangeFiles(t *testing.T) {
	b := s.sandbox(t)
	base := b.repository()
	b.bash(`rm .git/index .git/HEAD .git/info/exclude; mkfifo .git/index .git/info/exclude .git/commondir; ln -s /dev/zero .git/HEAD; echo new >file`)
	ctx, cancel := context.WithTimeout(t.Context(), runTime)
	defer cancel()
	if _, err := b.Fingerprint(ctx); err != nil {
		t.Errorf("fingerprint: %v", err)
	}
	if p, err := b.Patch(ctx, base); err != nil || !strings.Contains(string(p.Diff), "+new") {
		t.Errorf("patch: %q, %v", p.Diff, err)
	}
	b.bash(`rm -rf "$PWD"`)
	gone := b.fingerprint()
	if gone != b.fingerprint() {
		t.Error("a tree that is not there has two fingerprints")
	}
}

func (s *suite) testLargePatch(t *testing.T) {
	b := s.sandbox(t)
	base := b.repository()
	b.bash("yes text | head -c 150M >big.txt; echo new >file")
	if p := b.patch(base); !slices.Equal(p.Dropped, []string{"big.txt"}) || !strings.Contains(string(p.Diff), "+new") {
		t.Errorf("the patch has %d bytes, without %v", len(p.Diff), p.Dropped)
	}
	b.bash(`line=$(printf "text%.0s" $(seq 200)); for i in 1 2 3; do yes $line | head -c 15M >many$i.txt; done`)
	if _, err := b.Patch(t.Context(), base); !errors.Is(err, envs.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	b.bash(`rm *.txt file; git checkout -q .; d=$(printf 'd%.0s' $(seq 200)); mkdir -p $d/$d; for i in $(seq 1000); do printf '\0%d' $i >$d/$d/$i.bin; done`)
	if p := b.patch(base); len(p.Diff) != 0 || len(p.Dropped) == 0 {
		t.Errorf("the patch has %d bytes, without %d files", len(p.Diff), len(p.Dropped))
	}
}
