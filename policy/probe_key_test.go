package policy

import (
	"net/http"
	"testing"
	"time"

	"relabel"
)

func TestAnEndpointWithAMissingKeyRecovers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		t.Setenv("RELABEL_SECRET_KEY_OF_PROBES", "k")
		n := &network{}
		n.serve(t, "model", func() http.HandlerFunc { return say(http.StatusUnauthorized, "{}") }())
		c := openAs(t, aPolicy(func(p *relabel.Policy) { p.Secret = "key-of-probes" }), Options{HTTP: n.client(t)})
		t.Setenv("RELABEL_SECRET_KEY_OF_PROBES", "")
		e := c.replicas[0].at
		e.mu.Lock()
		e.silent, e.down = "no answer", "no answer"
		e.mu.Unlock()
		e.probe(t.Context(), e.endpointProbe, true, time.Second)
		if why, _ := c.Down(); why != "" {
			t.Errorf("it is down: %s", why)
		}
	})
}
