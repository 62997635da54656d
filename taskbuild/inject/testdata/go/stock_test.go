package stock

import "testing"

func TestPrice(t *testing.T) {
	if Price(2, 5, 0) != 10 || Price(1, 7, 0) != 7 || Price(0, 7, 0) != 0 {
		t.Error("price")
	}
}

func TestDiscount(t *testing.T) {
	if Price(10, 10, 20) != 80 || Price(9, 10, 20) != 90 {
		t.Error("discount")
	}
}

func TestNames(t *testing.T) {
	if n := Names([]string{"a", "b", "c"}, map[string]bool{"a": true, "c": true}); len(n) != 2 || n[1] != "c" {
		t.Error(n)
	}
}

func TestInc(t *testing.T) {
	if Inc(1) != 2 {
		t.Error("inc")
	}
}
