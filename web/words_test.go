package web

import "testing"

func TestNearlyAllIsNotAll(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{0: "0.00", 0.0001: "0.01", 0.25: "0.25", 0.994: "0.99", 0.9999: "0.99", 1: "1.00", 1.38: "1.38"} {
		if got := share(&x); got != want {
			t.Errorf("%v is written as %s, want %s", x, got, want)
		}
	}
	if got := share(nil); got != "–" {
		t.Error(got)
	}
}
