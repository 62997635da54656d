package relabel

import "time"

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
	ID        ID        `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	Actor     ActorKind `json:"actor"`
	Token     string    `json:"token,omitempty"`    // name of the token; "" where none stands behind it
	TokenID   string    `json:"token_id,omitempty"` // first 12 hex digits of its SHA-256: names may be used again
	Operation string    `json:"operation"`          // as the interface's description names it
	Method    string    `json:"method,omitempty"`
	Path      string    `json:"path,omitempty"` // with ids, without a query
	Resource  string    `json:"resource,omitempty"`
	Address   string    `json:"address,omitempty"` // of the caller, without its port
	Status    int       `json:"status"`            // HTTP status; 0: not known, as after a crash
	More      int       `json:"more,omitempty"`    // requests of the same caller in the same hour that have no entry of their own
}

// AuditFilter narrows the audit log; zero fields do not.
type AuditFilter struct {
	Token    string // name or id of a token
	Resource string // id, or the name of a run, task set, policy, tokenizer or token
	Since    time.Time
}
