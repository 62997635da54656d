package cli

import (
	"fmt"
	"slices"
	"testing"

	"relabel"
)

func TestProblemsOfImagesAreCountedWithoutTheirAddresses(t *testing.T) {
	t.Parallel()
	unknown := func(problem string) relabel.ImageNeed {
		return relabel.ImageNeed{State: relabel.ImageUnknown, Problem: problem}
	}
	needs := []relabel.ImageNeed{unknown("no answer\n")}
	for i := range 3 {
		needs = append(needs, unknown(fmt.Sprintf(`the registry cannot be asked: Head "https://r.example/v2/a/b/manifests/%d": dial tcp: lookup r.example: no such host`, i)))
	}
	want := []string{`  3 unknown: the registry cannot be asked: Head "https://r.example/…": dial tcp: lookup r.example: no such host`, "  1 unknown: no answer"}
	if got := problemLines(needs); !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	for i := range 5 {
		needs = append(needs, unknown(fmt.Sprint("other ", i)))
	}
	if got := problemLines(needs); len(got) != 6 || got[5] != "  … and 2 other problems; `relabel tasks images TASKSET` lists them" {
		t.Errorf("%q", got)
	}
}
