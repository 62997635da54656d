package policy

// outcome is the end of a try, as far as it shows something about the endpoint.
type outcome string

const (
	answered    outcome = "answered"
	useless     outcome = "useless"     // the server gave an unusable answer: 4xx, garbage
	broken      outcome = "broken"      // 500: this request broke it, or it is broken for all
	busy        outcome = "busy"        // 429, 529
	unavailable outcome = "unavailable" // 503: busy or starting
	slow        outcome = "timeout"     // no complete answer by the deadline
	down        outcome = "down"        // no connection, or a gateway without one
	abandoned   outcome = "abandoned"   // the caller left; it shows nothing
)

// refuses reports whether the server may need fewer concurrent calls.
func (o outcome) refuses() bool { return o == busy || o == unavailable || o == slow }

// fails reports whether the server may be unreachable.
func (o outcome) fails() bool { return o == down || o == unavailable || o == slow }

// reached reports whether the server was certainly reached.
func (o outcome) reached() bool { return o == answered || o == useless || o == broken || o == busy }

// passes reports whether the failure may pass with time. Then a call waits and uses up no retry.
func (o outcome) passes() bool { return o == busy || o == unavailable || o == down }

// ofStatus is the outcome of a status other than 200.
func ofStatus(status int) outcome {
	switch status {
	case 500:
		return broken
	case 429, 529: // 529: Anthropic's "overloaded"
		return busy
	case 503:
		return unavailable
	case 502, 504, 521, 522, 523, 524: // from 521: Cloudflare's codes for an unreachable server
		return down
	}
	return useless
}
