package relabel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// Access is what a token lets its bearer do.
type Access string

// The kinds of access.
const (
	NoAccess   Access = ""
	ReadAccess Access = "read" // look at everything, change nothing
	FullAccess Access = "full"
)

// SessionCookie is the name of the cookie that holds a session's secret. A session is a
// browser's, begun with a token, and ends with it.
const SessionCookie = "relabel_session"

// Caller is who makes a request.
type Caller struct {
	Access  Access
	Session string // the session's secret; "" where it is no browser that signed in
	Token   bool   // tokens are demanded here, and one stands behind the request
	// TokenSHA256 is the hex SHA-256 of the bearer token, "" where it is none.
	TokenSHA256 string
	Address     string // where the request comes from, without its port
}

type callerKey struct{}

// WithCaller returns a context that knows who makes the request.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns who makes the request; known is false where nobody has looked.
func CallerOf(ctx context.Context) (c Caller, known bool) {
	c, known = ctx.Value(callerKey{}).(Caller)
	return c, known
}

// HashSecret is the hex SHA-256 under which tokens and sessions are kept: they are 256
// random bits, so that a plain hash is enough.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
