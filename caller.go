package relabel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
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

// ActorKind says how somebody who changed something was known.
type ActorKind string

// The kinds of actors.
const (
	ActorLocal   ActorKind = "local"   // over the loopback address, where no token is demanded
	ActorToken   ActorKind = "token"   // by a bearer token
	ActorSession ActorKind = "session" // by a browser's session, begun with a token
	ActorCommand ActorKind = "command" // by a command that works on the database itself
)

// AuditEntry says that somebody changed something, or tried to. It never holds a secret, a
// query or a body.
type AuditEntry struct {
	ID        ID        `json:"id" doc:"Its id."`
	CreatedAt time.Time `json:"created_at" doc:"When the request was about to be carried out."`
	Actor     ActorKind `json:"actor" doc:"How the caller was known: local (over the loopback address, without a token), token, session (a browser that signed in with a token), command (on this machine, on the database itself)."`
	Token     string    `json:"token,omitempty" doc:"Name of the token that stands behind it."`
	TokenID   string    `json:"token_id,omitempty" doc:"The first 12 hexadecimal digits of that token's SHA-256: names may be used again."`
	Operation string    `json:"operation" doc:"The operation's id, as this description names it; also sign-in, sign-out, create-token, revoke-token; unknown where the path is none."`
	Method    string    `json:"method,omitempty" doc:"HTTP method."`
	Path      string    `json:"path,omitempty" doc:"Path of the request, with ids, without a query."`
	Resource  string    `json:"resource,omitempty" doc:"Id of what it was done to, or of what was made."`
	Address   string    `json:"address,omitempty" doc:"Address that the request came from."`
	Status    int       `json:"status" doc:"HTTP status of the answer; 0: not known, as after a crash of the server."`
	More      int       `json:"more,omitempty" doc:"Refused requests of the same caller, in the hour of this one, that have no entry of their own: the first 60 have one. Absent: none."`
}

// AuditFilter narrows the audit log; zero fields do not.
type AuditFilter struct {
	Token    string // name or id of a token
	Resource string // id, or the name of a run, task set, policy, tokenizer or token
	Since    time.Time
}

// AuditStore records who changed something.
type AuditStore interface {
	// BeginAudit notes that a caller is about to change something, EndAudit what came of it,
	// with the id of what was made.
	BeginAudit(ctx context.Context, e AuditEntry, c Caller) error
	EndAudit(ctx context.Context, id ID, status int, resource string) error
	// CountAudit removes the entry of a refused request and counts it at another one.
	CountAudit(ctx context.Context, id, at ID, status int) error
	ListAudit(ctx context.Context, f AuditFilter, p Page) (entries []AuditEntry, next string, err error)
}

// IdempotencyStore remembers the answers to keys of requests.
type IdempotencyStore interface {
	// BeginIdempotent claims a key. It returns nil when the caller is the first and shall
	// go on, the stored answer when it was answered, and a CodeIdempotency error when the
	// key was used with another route or body, CodeConflict while the first is at work.
	BeginIdempotent(ctx context.Context, i Idempotent) (*Idempotent, error)
	// EndIdempotent stores the answer, or frees the key when i.Status is 0.
	EndIdempotent(ctx context.Context, i Idempotent) error
}

// AccessStore tells what a bearer may do.
type AccessStore interface {
	// CheckToken says what the token with this hex SHA-256 lets its bearer do: nothing, where
	// there is none or it is revoked. CheckSession says so of a session.
	CheckToken(ctx context.Context, sha256 string) (Access, error)
	CheckSession(ctx context.Context, sha256 string) (Access, error)
}
