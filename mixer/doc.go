// Package mixer rolls teacher and student out together: it takes a trajectory from
// queued to done (paper algorithm 1). What it needs of the environment it asks of the small
// interfaces in ports.go; it knows no database, no container and no HTTP.
//
// # A turn
//
// b1…bT are drawn when the iteration is planned. Where the teacher executes (bt = 1)
// one call is both the action and the label. Where the student does (bt = 0) the
// teacher is asked concurrently, and the turn commits with the label if it is there by
// then and owed if not; a late label is settled when it comes. No turn waits for a
// label, and no label has a part in any state: st is made of executed actions and
// observations alone (eq. 7).
//
// A turn is a state at which an action was executed and committed. A state whose
// executor gave no action (context overflow, wall clock) is the end of the trajectory
// and no turn of it: it has no row and no label, and a label that was asked for
// in the meantime stops.
//
// # The end
//
// A rollout ends with a relabel.EndReason. Its patch is taken, the sandbox removed,
// late labels are waited for, and the patch is verified in a fresh container. What is
// no doing of the agent is a relabel.FailureReason and never reward 0; only a broken
// sandbox is retried on its own, within the run's budget. A worker that shuts down
// gives its trajectory back; one that lost its lease, or whose trajectory was cancelled,
// releases everything and writes nothing more.
//
// # Attempts
//
// A claim brings what earlier attempts committed. The rollout replays it in a fresh
// sandbox, takes it over where every turn comes to its recorded state, and continues with
// the next turn; where one does not, it begins again (replay.go). A rollout that was over
// continues with its labels.
package mixer
