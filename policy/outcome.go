package policy

// outcome is what became of one try, as far as it says something about the endpoint.
type outcome string

const (
	answered    outcome = "answered"
	useless     outcome = "useless"     // the server lives, but gave nothing to use: 4xx, garbage
	broken      outcome = "broken"      // 500: this request broke it, or it is broken for all
	busy        outcome = "busy"        // 429, 529
	unavailable outcome = "unavailable" // 503: busy, or not there yet
	slow        outcome = "timeout"     // no whole answer by the deadline
	down        outcome = "down"        // no connection, or a gateway that has none
	abandoned   outcome = "abandoned"   // the caller left; says nothing
)

// refuses reports whether fewer calls at once may be what the server needs.
func (o outcome) refuses() bool { return o == busy || o == unavailable || o == slow }

// fails reports whether the server may not be there.
func (o outcome) fails() bool { return o == down || o == unavailable || o == slow }

// lives reports whether the server certainly is there.
func (o outcome) lives() bool { return o == answered || o == useless || o == broken || o == busy }

// passes reports whether time alone may mend it, so that a call waits for it and does
// not use up a try.
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
