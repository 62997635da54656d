package relabel

// Phase is what a rollout does. It is in exactly one phase at any time, so the times of
// all phases sum up to the attempt's.
type Phase string

// The phases of an attempt, in about the order they come.
const (
	PhaseStart    Phase = "start"    // its sandbox is made ready
	PhaseSlot     Phase = "slot"     // it waits for a place among those that roll out or are verified
	PhaseReplay   Phase = "replay"   // what an earlier attempt executed is executed again
	PhaseStudent  Phase = "student"  // the student is asked for an action
	PhaseTeacher  Phase = "teacher"  // the teacher is asked for an action
	PhaseSandbox  Phase = "sandbox"  // an action is executed and the working tree's fingerprint taken
	PhaseDatabase Phase = "database" // what was found is written
	PhaseEnd      Phase = "end"      // the patch is taken and the sandbox removed
	PhaseLabels   Phase = "labels"   // the rollout is over and waits for late labels
	PhaseVerify   Phase = "verify"   // the patch is tested
	PhaseEngine   Phase = "engine"   // none of these: requests are made, answers taken apart
)

// Phases lists them in that order.
var Phases = []Phase{PhaseStart, PhaseSlot, PhaseReplay, PhaseStudent, PhaseTeacher, PhaseSandbox, PhaseDatabase,
	PhaseEnd, PhaseLabels, PhaseVerify, PhaseEngine}

// TimeSpent says where an attempt's time went, in milliseconds. The parts sum up to the
// time from its claim to its end.
type TimeSpent struct {
	Start    int64 `json:"start_ms" doc:"Milliseconds in which sandboxes were made ready."`
	Slot     int64 `json:"slot_ms" doc:"Milliseconds of waiting for a place among those that roll out or are verified."`
	Replay   int64 `json:"replay_ms" doc:"Milliseconds in which what earlier attempts had executed was executed again."`
	Endpoint int64 `json:"endpoint_ms" doc:"Milliseconds of executors' calls beside model_ms: waits for a place at the endpoint, failed tries, pauses."`
	Model    int64 `json:"model_ms" doc:"Milliseconds of executors' requests that were answered, from sending to the last byte."`
	Sandbox  int64 `json:"sandbox_ms" doc:"Milliseconds in which actions were executed and fingerprints taken."`
	Database int64 `json:"database_ms" doc:"Milliseconds of writes that the rollouts waited for."`
	End      int64 `json:"end_ms" doc:"Milliseconds in which patches were taken and sandboxes removed."`
	Labels   int64 `json:"labels_ms" doc:"Milliseconds of waiting for late labels after the rollouts' ends."`
	Verify   int64 `json:"verify_ms" doc:"Milliseconds in which patches were tested."`
	Engine   int64 `json:"engine_ms" doc:"Milliseconds of everything else: the engine itself."`
}

// Parts are the parts by name.
func (s TimeSpent) Parts() map[string]int64 {
	return map[string]int64{"start": s.Start, "slot": s.Slot, "replay": s.Replay, "endpoint": s.Endpoint, "model": s.Model,
		"sandbox": s.Sandbox, "database": s.Database, "end": s.End, "labels": s.Labels, "verify": s.Verify, "engine": s.Engine}
}

// TurnTime says where a turn's time went beside its model, which the executed action's
// Millis tell; in milliseconds.
type TurnTime struct {
	Endpoint int64 `json:"endpoint_ms" doc:"Milliseconds of the executor's call beside its action's millis: waits for a place at the endpoint, failed tries, pauses."`
	Sandbox  int64 `json:"sandbox_ms" doc:"Milliseconds in which the action was executed and the fingerprint taken."`
	Database int64 `json:"database_ms" doc:"Milliseconds of writes since the turn before, its commit above all."`
}

// TimeReport says where the time of some attempts went: of a trajectory, an iteration or
// a run. Attempts that still run are not in it.
type TimeReport struct {
	Attempts int       `json:"attempts" doc:"Attempts that have ended and said where their time went."`
	Spent    TimeSpent `json:"spent" doc:"Where it went."`
	// Lost is the time of attempts whose worker died and told nothing, in milliseconds: from
	// their claim until it was noticed.
	Lost int64 `json:"lost_ms" doc:"Milliseconds of attempts whose worker died and said nothing, from their claim until that was noticed."`
	// Ideal and Actual are sums over the trajectories that are done, in milliseconds: of the
	// critical path, and of the time on it. Their quotient is the efficiency.
	Ideal      int64    `json:"ideal_ms" doc:"Critical paths of the trajectories that are done, in milliseconds."`
	Actual     int64    `json:"actual_ms" doc:"Milliseconds that those trajectories were on their critical paths: all of spent but start, slot and verify, and what was lost."`
	Efficiency *float64 `json:"efficiency" doc:"ideal_ms ÷ actual_ms; null where nothing is done."`
}

// Efficiency is ideal ÷ actual; nil where there is nothing to divide.
func Efficiency(ideal, actual int64) *float64 {
	if actual <= 0 {
		return nil
	}
	e := float64(ideal) / float64(actual)
	return &e
}

// Add adds the sums of another report to r.
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
	Kind        IterationKind `json:"kind" doc:"collect or evaluate."`
	TimeReport
}
