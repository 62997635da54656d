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

// Token is a bearer token, without its secret.
type Token struct {
	Name      string
	Access    Access
	CreatedAt time.Time
	RevokedAt *time.Time // nil unless it is revoked
}

// SessionCookie is the name of the cookie that holds a session's secret. A browser starts a
// session by signing in with a token; revoking the token ends it.
const SessionCookie = "relabel_session"

// Caller identifies the sender of a request.
type Caller struct {
	Access  Access
	Session string // the session's secret; "" unless a browser signed in
	Token   bool   // the server requires tokens, and the request is authenticated by one
	// TokenSHA256 is the hex SHA-256 of the bearer token, "" without one.
	TokenSHA256 string
	Address     string // the client's address, without the port
}

type callerKey struct{}

// WithCaller returns a context that holds the caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller in ctx; known is false if there is none.
func CallerOf(ctx context.Context) (c Caller, known bool) {
	c, known = ctx.Value(callerKey{}).(Caller)
	return c, known
}

// HashSecret is the hex SHA-256 under which tokens and sessions are stored. A plain hash is
// enough, because they are 256 random bits.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// ActorKind says how the caller of a change was authenticated.
type ActorKind string

// The kinds of actors.
const (
	ActorLocal   ActorKind = "local"   // over the loopback address, without a token
	ActorToken   ActorKind = "token"   // by a bearer token
	ActorSession ActorKind = "session" // by a browser's session
	ActorCommand ActorKind = "command" // by a command that opens the database directly
)

// AuditEntry records a change or an attempted change. It never holds a secret, a query or a
// body.
type AuditEntry struct {
	ID        ID        `json:"id" doc:"Its id."`
	CreatedAt time.Time `json:"created_at" doc:"When the request was received."`
	Actor     ActorKind `json:"actor" doc:"How the caller was authenticated: local (over the loopback address, without a token), token, session (a browser that signed in with a token), command (a command on this machine that opened the database directly)."`
	Token     string    `json:"token,omitempty" doc:"Name of the caller's token."`
	TokenID   string    `json:"token_id,omitempty" doc:"The first 12 hexadecimal digits of that token's SHA-256, because a name can be reused."`
	Operation string    `json:"operation" doc:"The operation's id in this description; also sign-in, sign-out, create-token and revoke-token; unknown if no operation has the path."`
	Method    string    `json:"method,omitempty" doc:"HTTP method."`
	Path      string    `json:"path,omitempty" doc:"Path of the request, with ids, without a query."`
	Resource  string    `json:"resource,omitempty" doc:"Id of the changed or created resource."`
	Address   string    `json:"address,omitempty" doc:"The client's address."`
	Status    int       `json:"status" doc:"HTTP status of the response; 0: unknown, for example after a crash of the server."`
	More      int       `json:"more,omitempty" doc:"Further refused requests of the same caller in the same hour: only the first 60 have their own entry. Absent: none."`
}

// AuditFilter narrows the audit log. Zero fields do not narrow.
type AuditFilter struct {
	Token    string // name or id of a token
	Resource string // id, or the name of a run, task set, policy, tokenizer or token
	Since    time.Time
}

// AuditStore stores the audit log.
type AuditStore interface {
	// BeginAudit records a request before it is carried out; EndAudit adds its status and the
	// id of the created resource.
	BeginAudit(ctx context.Context, e AuditEntry, c Caller) error
	EndAudit(ctx context.Context, id ID, status int, resource string) error
	// CountAudit removes the entry of a refused request and adds it to the count of another.
	CountAudit(ctx context.Context, id, at ID, status int) error
	ListAudit(ctx context.Context, f AuditFilter, p Page) (entries []AuditEntry, next string, err error)
}

// IdempotencyStore stores responses by Idempotency-Key.
type IdempotencyStore interface {
	// BeginIdempotent claims a key. It returns nil for the first request, which proceeds, and
	// the stored response once there is one. It returns CodeIdempotency if the key was used with
	// another route or body, and CodeConflict while the first request is running.
	BeginIdempotent(ctx context.Context, i Idempotent) (*Idempotent, error)
	// EndIdempotent stores the response, or frees the key if i.Status is 0.
	EndIdempotent(ctx context.Context, i Idempotent) error
}

// AccessStore checks tokens and sessions.
type AccessStore interface {
	// CheckToken returns the access of the token with this hex SHA-256, NoAccess if it does not
	// exist or is revoked. CheckSession does the same for a session.
	CheckToken(ctx context.Context, sha256 string) (Access, error)
	CheckSession(ctx context.Context, sha256 string) (Access, error)
}
