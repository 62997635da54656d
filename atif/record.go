package atif

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"relabel"
)

// Record is a trajectory with everything that a document says of it.
type Record struct {
	// Own is nil for a trajectory of another harness.
	Own *Own
	// AgentName and AgentVersion name the agent: of relabel's trajectories its scaffold, and a hash of its
	// prompts and tools.
	AgentName, AgentVersion string
	Model                   string // of the agent, "" if it is unknown
	SessionID, TrajectoryID string // may be ""
	Opening                 []relabel.Message
	Tools                   []relabel.Tool
	Turns                   []relabel.Turn
	// Ignored counts what another writer's document has and relabel does not keep, by field.
	Ignored map[string]int
}

// Own is what relabel knows of its own trajectory, beside its messages.
type Own struct {
	Trajectory relabel.Trajectory
	Run        RunRef
	Teacher    *PolicyRef // nil in a run without one
	Student    *PolicyRef // nil if there is none
	Patch      []byte     // what was submitted; nil if nothing was
}

// RunRef names the run of a trajectory.
type RunRef struct {
	ID       relabel.ID     `json:"id"`
	Name     string         `json:"name"`
	Recipe   relabel.Recipe `json:"recipe"`
	Scaffold string         `json:"scaffold"`
}

// PolicyRef names a policy version.
type PolicyRef struct {
	ID      relabel.ID     `json:"id"`
	Name    string         `json:"name"`
	Version int            `json:"version"`
	Model   string         `json:"model"`
	Price   *relabel.Price `json:"price,omitempty"`
}

// Policy returns the reference to a policy version.
func Policy(p relabel.Policy) *PolicyRef {
	return &PolicyRef{ID: p.ID, Name: p.Name, Version: p.Version, Model: p.Model, Price: p.Price}
}

// policy returns the policy with an id, nil if it is neither teacher nor student.
func (o *Own) policy(id relabel.ID) *PolicyRef {
	for _, p := range []*PolicyRef{o.Student, o.Teacher} {
		if p != nil && p.ID == id {
			return p
		}
	}
	return nil
}

// costUSD is the cost of u in dollars, nil if it is unknown or in another currency.
func (o *Own) costUSD(id relabel.ID, u *relabel.Usage) *float64 {
	p := o.policy(id)
	if p == nil || p.Price == nil || p.Price.Currency != "USD" {
		return nil
	}
	micros := p.Price.CostMicros(u)
	if micros == nil {
		return nil
	}
	return new(float64(*micros) / 1e6)
}

// The fields under the key relabel of extra objects.
type (
	// ownRoot is in the extra of a document. Format is the version of all these fields.
	ownRoot struct {
		Format     int                `json:"format"`
		Run        RunRef             `json:"run"`
		Trajectory relabel.Trajectory `json:"trajectory"`
		Teacher    *PolicyRef         `json:"teacher,omitempty"`
		Student    *PolicyRef         `json:"student,omitempty"`
		Patch      exactText          `json:"patch,omitempty"`
	}

	// ownTurn is in the extra of an agent's step.
	ownTurn struct {
		T           int              `json:"t"`
		Executor    relabel.Role     `json:"executor"`
		Action      ownAction        `json:"action"` // its message is the step, its ids are in the metrics
		Label       *ownLabel        `json:"label,omitempty"`
		LabelChance *float64         `json:"label_chance,omitempty"`
		Others      []ownAction      `json:"others,omitempty"`
		Tree        text             `json:"tree,omitempty"`
		StartedAt   time.Time        `json:"started_at"`
		EndedAt     time.Time        `json:"ended_at"`
		Time        relabel.TurnTime `json:"time"`
	}

	// ownLabel is the teacher's action at the step's state.
	ownLabel struct {
		IsAction bool `json:"is_action,omitempty"` // the teacher executed: the label is the step itself
		ownAction
	}

	ownAction struct {
		PolicyID       relabel.ID           `json:"policy_id,omitzero"`
		Status         relabel.ActionStatus `json:"status,omitempty"`
		Reason         text                 `json:"reason,omitempty"`
		Message        json.RawMessage      `json:"message,omitempty"`
		MessageBase64  []byte               `json:"message_base64,omitempty"` // if JSON cannot represent it
		FinishReason   text                 `json:"finish_reason,omitempty"`
		Refusal        exactText            `json:"refusal,omitempty"`
		Parse          relabel.ParseOutcome `json:"parse,omitempty"`
		ReadAs         []relabel.CallForm   `json:"read_as,omitempty"`
		NotGiven       []string             `json:"not_given,omitempty"`
		TokenIDs       []int32              `json:"token_ids,omitempty"`
		PromptTokenIDs []int32              `json:"prompt_token_ids,omitempty"`
		Logprobs       []float32            `json:"logprobs,omitempty"`
		Usage          *relabel.Usage       `json:"usage,omitempty"`
		Model          text                 `json:"model,omitempty"`
		Fingerprint    text                 `json:"fingerprint,omitempty"`
		Millis         int64                `json:"millis,omitempty"`
	}

	// ownCall is in the extra of a tool call: the model's own text, which may not be an object at all.
	ownCall struct {
		Arguments exactText `json:"arguments"`
	}

	// ownResult is in the extra of an observation's result.
	ownResult struct {
		Tool     exactText  `json:"tool,omitempty"`
		Content  *exactText `json:"content,omitempty"` // if JSON cannot represent it
		ExitCode *int       `json:"exit_code,omitempty"`
		Failed   bool       `json:"failed,omitempty"`
		Millis   int64      `json:"millis,omitempty"`
	}
)

// ownFormat is the version of the fields under the key relabel.
const ownFormat = 1

// ours is an extra object with relabel's fields.
type ours[T any] struct {
	Relabel T `json:"relabel"`
}

// AgentVersion identifies what a run's agents see besides their task: the first 12 hex digits of a SHA-256 of the
// run's prompts and tools.
func AgentVersion(p relabel.Prompts) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q%q", p.System, p.First)
	for _, t := range p.Tools {
		fmt.Fprintf(h, "%q%q%q", t.Name, t.Description, t.Parameters)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
