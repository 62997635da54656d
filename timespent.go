package relabel

// Phase is a phase of an attempt. An attempt is in exactly one phase at any time, so the times
// of all phases sum to the attempt's.
type Phase string

// The phases of an attempt, in their usual order.
const (
	PhaseStart    Phase = "start"    // preparing the sandbox
	PhaseSlot     Phase = "slot"     // waiting for a slot for the rollout or the verification
	PhaseReplay   Phase = "replay"   // replaying the turns of an earlier attempt
	PhaseStudent  Phase = "student"  // waiting for the student's action
	PhaseTeacher  Phase = "teacher"  // waiting for the teacher's action
	PhaseSandbox  Phase = "sandbox"  // executing an action and taking the fingerprint of the working tree
	PhaseDatabase Phase = "database" // writing to the database
	PhaseEnd      Phase = "end"      // taking the patch and removing the sandbox
	PhaseLabels   Phase = "labels"   // waiting for late labels after the rollout
	PhaseVerify   Phase = "verify"   // testing the patch
	PhaseEngine   Phase = "engine"   // everything else: building requests, parsing answers
)

// Phases lists the phases in that order.
var Phases = []Phase{PhaseStart, PhaseSlot, PhaseReplay, PhaseStudent, PhaseTeacher, PhaseSandbox, PhaseDatabase,
	PhaseEnd, PhaseLabels, PhaseVerify, PhaseEngine}

// TimeSpent is the time of attempts by phase, in milliseconds. The parts sum to the time from
// the claim to the end.
type TimeSpent struct {
	Start    int64 `json:"start_ms" doc:"Milliseconds of preparing sandboxes."`
	Slot     int64 `json:"slot_ms" doc:"Milliseconds of waiting for a slot for rollouts and verifications."`
	Replay   int64 `json:"replay_ms" doc:"Milliseconds of replaying the turns of earlier attempts."`
	Endpoint int64 `json:"endpoint_ms" doc:"Milliseconds of executors' calls outside model_ms: waits for a place at the endpoint, failed tries, backoff."`
	Model    int64 `json:"model_ms" doc:"Milliseconds of executors' answered requests, from sending to the last byte."`
	Sandbox  int64 `json:"sandbox_ms" doc:"Milliseconds of executing actions and taking fingerprints."`
	Database int64 `json:"database_ms" doc:"Milliseconds of database writes that rollouts waited for."`
	End      int64 `json:"end_ms" doc:"Milliseconds of taking patches and removing sandboxes."`
	Labels   int64 `json:"labels_ms" doc:"Milliseconds of waiting for late labels after rollouts."`
	Verify   int64 `json:"verify_ms" doc:"Milliseconds of testing patches."`
	Engine   int64 `json:"engine_ms" doc:"Milliseconds of everything else: relabel's own work."`
}

// Parts are the parts by name.
func (s TimeSpent) Parts() map[string]int64 {
	return map[string]int64{"start": s.Start, "slot": s.Slot, "replay": s.Replay, "endpoint": s.Endpoint, "model": s.Model,
		"sandbox": s.Sandbox, "database": s.Database, "end": s.End, "labels": s.Labels, "verify": s.Verify, "engine": s.Engine}
}

// TurnTime is the time of a turn by part, in milliseconds, without the executed action's
// Millis.
type TurnTime struct {
	Endpoint int64 `json:"endpoint_ms" doc:"Milliseconds of the executor's call outside its action's millis: waits for a place at the endpoint, failed tries, backoff."`
	Sandbox  int64 `json:"sandbox_ms" doc:"Milliseconds of executing the action and taking the fingerprint."`
	Database int64 `json:"database_ms" doc:"Milliseconds of database writes since the previous turn, mostly its commit."`
}

// TimeReport is the time of the ended attempts of a trajectory, an iteration or a run.
type TimeReport struct {
	Attempts int       `json:"attempts" doc:"Ended attempts that reported their times."`
	Spent    TimeSpent `json:"spent" doc:"Time by phase."`
	// Lost is the time of attempts whose worker died, in milliseconds from the claim to the
	// expiry of the lease.
	Lost int64 `json:"lost_ms" doc:"Milliseconds of attempts whose worker died, from the claim to the expiry of the lease."`
	// Ideal and Actual sum, over the done trajectories, the length of the critical path and the
	// time spent on it, in milliseconds. Their quotient is the efficiency.
	Ideal      int64    `json:"ideal_ms" doc:"Critical paths of the done trajectories, in milliseconds."`
	Actual     int64    `json:"actual_ms" doc:"Milliseconds that those trajectories spent on their critical paths: everything but start, slot and verify, and including lost_ms."`
	Efficiency *float64 `json:"efficiency" doc:"ideal_ms ÷ actual_ms; null if nothing is done."`
}

// Efficiency is ideal ÷ actual; nil if actual is not positive.
func Efficiency(ideal, actual int64) *float64 {
	if actual <= 0 {
		return nil
	}
	e := float64(ideal) / float64(actual)
	return &e
}

// Add returns the sum of two reports.
func (r TimeReport) Add(o TimeReport) TimeReport {
	r.Attempts += o.Attempts
	r.Spent = r.Spent.add(o.Spent)
	r.Lost += o.Lost
	r.Ideal += o.Ideal
	r.Actual += o.Actual
	r.Efficiency = Efficiency(r.Ideal, r.Actual)
	return r
}

func (s TimeSpent) add(o TimeSpent) TimeSpent {
	return TimeSpent{Start: s.Start + o.Start, Slot: s.Slot + o.Slot, Replay: s.Replay + o.Replay,
		Endpoint: s.Endpoint + o.Endpoint, Model: s.Model + o.Model, Sandbox: s.Sandbox + o.Sandbox, Database: s.Database + o.Database,
		End: s.End + o.End, Labels: s.Labels + o.Labels, Verify: s.Verify + o.Verify, Engine: s.Engine + o.Engine}
}

// IterationTime is the TimeReport of an iteration.
type IterationTime struct {
	IterationID ID            `json:"iteration_id" doc:"The iteration."`
	Number      int           `json:"number" doc:"Its number i."`
	Kind        IterationKind `json:"kind" doc:"collect, evaluate or sample."`
	TimeReport
}
