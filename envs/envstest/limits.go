package envstest

import (
	"errors"
	"slices"
	"testing"

	"relabel/envs"
)

func (s *suite) testLargePatch(t *testing.T) {
	b, base := s.repository(t)
	b.bash("yes text | head -c 150M >big.txt; echo new >file")
	if p := b.patchWith(base, "+new"); !slices.Equal(p.Dropped, []string{"big.txt"}) {
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

// A patch excludes and names files that git cannot read and files that are too large.
func (s *suite) testBounds(t *testing.T) {
	b, base := s.repository(t)
	b.bash(`truncate -s 9G sparse; echo secret >unreadable; chmod 0 unreadable; printf 'odd\n' >"$(printf 'a\nb\377')"
python3 - <<'end'
import os
for i in range(40):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
open("file", "w").write("deep")
end`)
	first := b.fingerprint()
	b.bash("truncate -s 8G sparse")
	b.changed(first, "the size of a large file")
	p := b.patchWith(base, "+secret\n", `"b/a\nb\377"`)
	if !slices.Contains(p.Dropped, "sparse") || !slices.ContainsFunc(p.Dropped, func(name string) bool { return len(name) > 3000 }) {
		t.Errorf("excluded: %.80q", p.Dropped)
	}
	b.bash("rm -rf d*")
}
