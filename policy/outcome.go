package policy

// outcome is how one try ended, as far as that says something about the endpoint.
type outcome string

const (
	answered    outcome = "answered"
	useless     outcome = "useless"     // the server answered, but not usably: 4xx, garbage
	broken      outcome = "broken"      // 500: this request broke it, or it is broken for all
	busy        outcome = "busy"        // 429, 529
	unavailable outcome = "unavailable" // 503: busy, or not there yet
	slow        outcome = "timeout"     // no whole answer by the deadline
	down        outcome = "down"        // no connection, or a gateway that has none
	abandoned   outcome = "abandoned"   // the caller left; says nothing
)

// refuses reports whether fewer calls at once may be what the server needs.
func (o outcome) refuses() bool { return o == busy || o == unavailable || o == slow }

// fails reports whether the server may be unreachable.
func (o outcome) fails() bool { return o == down || o == unavailable || o == slow }

// reached reports whether the server certainly was reached.
func (o outcome) reached() bool { return o == answered || o == useless || o == broken || o == busy }

// passes reports whether the failure may pass with time: then a call waits and uses up no
// retry.
func (o outcome) passes() bool { return o == busy || o == unavailable || o == down }

// ofStatus is what an answer other than 200 says.
func ofStatus(status int) outcome {
	switch status {
	case 500:
		return broken
	case 429, 529: // 529: Anthropic's "overloaded"
		return busy
	case 503:
		return unavailable
	case 502, 504, 521, 522, 523, 524: // from 521: Cloudflare's words for a server that is not reached
		return down
	}
	return useless
}
