// Package relabel holds the words of DAgger data collection for LLM agents as
// types: Task, Policy, Run, Iteration, Trajectory, Turn, Action, Verdict and
// Export, with the state machine of a trajectory and the error codes that
// callers may rely on.
//
// It imports no technology: databases, containers, HTTP and file formats live in
// the folders around it, and speak to each other in these types. The formulas
// named in comments are those of "Revisiting DAgger in the Era of LLM-Agents"
// (arXiv 2605.12913); equation and section numbers are that paper's.
//
// Interfaces named …Store are what the database offers, one per aggregate. Their lists
// return the key of the next page, "" at the end; their errors have codes (CodeNotFound,
// CodeConflict, CodeInvalid); their methods are safe for concurrent use.
package relabel

import "github.com/google/uuid"

// ID names a stored thing. Ids are UUID v7: they sort by the time they were made.
type ID = uuid.UUID

// NewID returns a fresh UUID v7. It panics only when the system has no randomness.
func NewID() ID { return uuid.Must(uuid.NewV7()) }

// ParseID reads a UUID and returns a CodeInvalid error on field when it is none.
func ParseID(field, s string) (ID, error) {
	id, err := uuid.Parse(s)
	if err != nil {
		return ID{}, Errorf(CodeInvalid, "%q is not a UUID", s).On(field)
	}
	return id, nil
}
