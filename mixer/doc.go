// Package mixer rolls teacher and student out together: it takes a trajectory from queued to done
// (paper algorithm 1). It depends only on the interfaces in ports.go, and knows no database,
// container or HTTP.
//
// # A turn
//
// b1…bT are drawn when the iteration is planned. If the teacher executes (bt = 1), one call gives
// both action and label. If the student does (bt = 0), the teacher is asked concurrently; the turn
// commits with the label if it has arrived and with a pending one otherwise. No turn waits for a
// label, and no label is part of a state: st consists of executed actions and observations (eq. 7).
//
// A turn is a state at which an action was executed and committed. A state whose executor gave no
// action (context overflow, wall clock) ends the trajectory and is not a turn: it has no row and no
// label, and a label that was requested meanwhile is cancelled.
//
// # The end
//
// A rollout ends with a relabel.EndReason. Its patch is taken, the sandbox removed, late labels are
// awaited, and the patch is verified in a fresh container. A failure outside of the agent is a
// relabel.FailureReason and never reward 0; only a broken sandbox is retried, within the run's limit.
// A worker that shuts down releases its trajectory. One that lost its lease, or whose trajectory was
// cancelled, stops and writes nothing more.
//
// # Attempts
//
// A claim contains the turns that earlier attempts committed. The rollout replays them in a fresh
// sandbox, adopts them if every turn reaches its recorded state, and continues with the next turn;
// otherwise it starts again (replay.go). A rollout that had ended continues with its labels.
package mixer
