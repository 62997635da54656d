package web

import "testing"

func TestSigningInLeadsToThisServerAlone(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"/runs/1?a=b#t2": "/runs/1?a=b#t2", "": "/", "runs": "/", "//evil.example": "/", "/\\evil.example": "/", "https://evil.example/": "/", "/\t/evil.example": "/", "/\r\nx": "/", "javascript:alert(1)": "/",
	} {
		if got := ownAddress(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}
