package policy

import (
	"strings"
	"testing"

	"relabel"
)

func TestAnEndpointIsReachedUnlessItsAddressModelOrKeyIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   string // in the error; "": none
	}{
		"good":         {200, goodBody, ""},
		"busy":         {429, `{"error":{"message":"slow down"}}`, ""},
		"loading":      {503, `{"error":{"message":"Loading model"}}`, ""},
		"no money":     {429, `{"error":{"message":"pay","code":"insufficient_quota"}}`, "pay"},
		"no such path": {404, `{"detail":"Not Found"}`, "ends with the version"},
		"no key":       {401, `{"error":{"message":"no key"}}`, "names the secret"},
		"a web page":   {200, `<html>`, "not JSON"},
		"a redirect":   {302, ``, "302"},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, say(c.status, c.body), nil)
			err := Reach(t.Context(), b.policy, Options{HTTP: b.server.Client()})
			if c.want == "" && err != nil || c.want != "" && (relabel.CodeOf(err) != relabel.CodeEndpoint || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestADeadAddressIsReportedAtOnceAndASlowModelIsReachable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := open(t, inTurn(hang, good), nil)
		if err := Reach(t.Context(), b.policy, Options{HTTP: b.server.Client()}); err != nil {
			t.Errorf("a slow model: %v", err)
		}
		nobody := aPolicy(func(p *relabel.Policy) { p.BaseURL = "http://nobody/v1" })
		err := Reach(t.Context(), nobody, Options{HTTP: b.server.Client()})
		if relabel.CodeOf(err) != relabel.CodeEndpoint || !strings.Contains(err.Error(), "http://nobody/v1") || !strings.Contains(err.Error(), "check that the server runs") {
			t.Errorf("nobody: %v", err)
		}
	})
}
