package web

import "testing"

func TestWeightsAreTheDarkerTheLarger(t *testing.T) {
	t.Parallel()
	for w, want := range map[float32]string{0: "w0", -1: "w0", 0.1: "w1", 0.5: "w1", 0.6: "w2", 1: "w2", 1.5: "w3", 2: "w4"} {
		if got := weightLevel(w, 2); got != want {
			t.Errorf("%v of 2 is %s, want %s", w, got, want)
		}
	}
}
