package overlap_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"relabel/overlap"
)

const fix = `diff --git a/src/queue.py b/src/queue.py
index 1..2 100644
--- a/src/queue.py
+++ b/src/queue.py
@@ -10,6 +10,9 @@ class Queue:
     def pop(self):
         if not self.items:
-            return None
+            raise Empty("the queue has no item", self.name)
+        first, *self.items = self.items
+        self.metrics.popped.labels(queue=self.name).inc()
         return first
 
 def close(): pass
`

func TestFormattingContextAndDirectionDoNotMatter(t *testing.T) {
	grams := overlap.Of(fix)
	if len(grams) < 20 {
		t.Fatalf("%d grams", len(grams))
	}
	indented := strings.ReplaceAll(fix, "+        first", "+\t\tfirst")
	lessContext := strings.Replace(strings.Replace(strings.Replace(fix, " \n def close(): pass\n", "", 1), "     def pop(self):\n", "", 1), "-10,6 +10,9", "-11,3 +11,6", 1)
	reverse := strings.NewReplacer("\n-  ", "\n+  ", "\n+  ", "\n-  ", "-10,6 +10,9", "-10,9 +10,6").Replace(fix)
	lessContext = strings.Replace(lessContext, "-11,3 +11,6", "-11,3 +11,5", 1)
	reverse = strings.Replace(reverse, "-10,9 +10,6", "-10,8 +10,6", 1)
	elsewhere := strings.ReplaceAll(fix, "src/queue.py", "lib/fifo.py")
	other := "--- a/z.py\n+++ b/z.py\n@@ -1 +1 @@\n-a\n+b\n"
	for name, same := range map[string]string{"indentation": indented, "context": lessContext, "reverse": reverse, "another path": elsewhere, "with another file": other + fix} {
		if got := overlap.Of(same); !slices.Equal(got, grams) {
			t.Errorf("%s: %d of %d grams are the same", name, len(got), len(grams))
		}
	}
}

func TestTheShareIsThatOfTheSmallerPatch(t *testing.T) {
	part, whole := patch("a.py", words(1, 20)), patch("b.py", words(1, 20)+"\n"+words(100, 40))
	share, common := overlap.Share(overlap.Of(part), overlap.Of(whole))
	if share != 1 || common != 8 {
		t.Errorf("contained: %g, %d", share, common)
	}
	half := patch("a.py", words(1, 16)+" "+words(200, 16)) // 20 grams, 4 of them in part, which has 8
	if share, common = overlap.Share(overlap.Of(part), overlap.Of(half)); share != 0.5 || common != 4 {
		t.Errorf("half: %g, %d", share, common)
	}
	if share, common = overlap.Share(overlap.Of(part), overlap.Of(patch("a.py", words(300, 30)))); share != 0 || common != 0 {
		t.Errorf("different: %g, %d", share, common)
	}
	if share, _ = overlap.Share(nil, nil); share != 0 {
		t.Errorf("empty: %g", share)
	}
}

func TestSmallChangesAreTheSameOnlyAsAWhole(t *testing.T) {
	small := func(path, before, after string) overlap.Grams {
		return overlap.Of(fmt.Sprintf("--- a/%s\n+++ b/%s\n@@ -7 +7 @@\n-%s\n+%s\n", path, path, before, after))
	}
	a := small("x.py", "return None", "return 0")
	if len(a) != 1 {
		t.Fatalf("%d grams", len(a))
	}
	if share, _ := overlap.Share(a, small("x.py", "    return None", "    return 0")); share != 1 {
		t.Errorf("the same change has share %g", share)
	}
	for name, other := range map[string]overlap.Grams{"path": small("y.py", "return None", "return 0"), "text": small("x.py", "return None", "return 1"),
		"direction": small("x.py", "return 0", "return None")} {
		if share, _ := overlap.Share(a, other); share != 0 {
			t.Errorf("another %s has share %g", name, share)
		}
	}
	for _, none := range []string{"", "no diff", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"} {
		if got := overlap.Of(none); len(got) != 0 {
			t.Errorf("%q has %d grams", none, len(got))
		}
	}
}

func TestAnIndexFindsWhatPairsOfPatchesShare(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []overlap.Grams
	for range 60 {
		start := random.IntN(300)
		all = append(all, overlap.Of(patch("a.go", words(start, 14+random.IntN(60)))))
	}
	var index overlap.Index
	for i, grams := range all[:40] {
		if number := index.Add(grams); number != i {
			t.Fatalf("number %d, want %d", number, i)
		}
	}
	found := 0
	for _, grams := range all[40:] {
		got := map[int]overlap.Match{}
		for _, m := range index.Find(grams, 0.3) {
			got[m.Number] = m
		}
		for number, other := range all[:40] {
			share, common := overlap.Share(grams, other)
			m, ok := got[number]
			if ok != (share >= 0.3) || ok && (m.Share != share || m.Common != common) {
				t.Errorf("patch %d: %+v, want share %g of %d", number, m, share, common)
			}
		}
		found += len(got)
	}
	if found == 0 {
		t.Error("no pair overlaps")
	}
}

func FuzzAnyTextHasGrams(f *testing.F) {
	f.Add(fix)
	f.Add("@@ -1,2 +1 @@\n-\xff\n+é\n--- \n+++ \t")
	f.Fuzz(func(t *testing.T, text string) {
		grams := overlap.Of(text)
		if !slices.IsSorted(grams) {
			t.Error("not sorted")
		}
		if share, common := overlap.Share(grams, grams); common != len(grams) || len(grams) > 0 && share != 1 {
			t.Errorf("with itself: %g, %d", share, common)
		}
	})
}

// BenchmarkTasks finds the patches among 1,000 that overlap with one of 500: the time per patch is what an import
// of tasks adds.
func BenchmarkTasks(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var index overlap.Index
	for range 500 {
		index.Add(overlap.Of(patch("a.py", words(random.IntN(1_000_000), 150+random.IntN(300)))))
	}
	patches := make([]string, 1000)
	for i := range patches {
		patches[i] = patch("b.py", words(random.IntN(1_000_000), 150+random.IntN(300)))
	}
	b.ResetTimer()
	for i := range b.N {
		text := patches[i%len(patches)]
		b.SetBytes(int64(len(text)))
		index.Find(overlap.Of(text), overlap.Threshold)
	}
}

// words are n words, 5 in a line, that no other start gives.
func words(start, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%d", start+i)
		b.WriteByte(" \n"[max(0, i%5-3)])
	}
	return strings.TrimSpace(b.String())
}

// patch adds the lines of a text to a file.
func patch(path, text string) string {
	lines := strings.Split(text, "\n")
	return fmt.Sprintf("diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n@@ -0,0 +1,%d @@\n+%s\n", path, path, path, path, len(lines), strings.Join(lines, "\n+"))
}
