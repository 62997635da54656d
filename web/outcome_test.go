package web

import (
	"strings"
	"testing"

	"relabel/web/show"
)

func TestASubmissionThatIsTheGoldPatchIsSaidToBe(t *testing.T) {
	t.Parallel()
	gold := "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n"
	for patch, want := range map[string]bool{gold: true, strings.Replace(gold, "@@ -1 +1 @@", "@@ -9 +9 @@", 1): true, strings.Replace(gold, "+y", "+z", 1): false, "": false} {
		var v outcomeView
		if v.showPatches(patch, gold, show.Limits{}); v.Same != want {
			t.Errorf("%q: %v", patch, v.Same)
		}
	}
}

func TestAPatchsLongLineIsCutBesideTheOthers(t *testing.T) {
	t.Parallel()
	var v outcomeView
	v.showPatches("diff --git a/a b/a\n@@ -0,0 +1,2 @@\n+"+strings.Repeat("x", 5_000_000)+"\n+end\n", "", show.Limits{Head: show.HeadShown, Lines: 200, All: "/all"})
	if html := string(v.Patch); len(html) > 5000 || !strings.Contains(html, `<a class="gap" href="/all">5.0 MB are not shown`) || !strings.Contains(html, "+end") {
		t.Errorf("%d bytes: %.3000s", len(html), html)
	}
}
