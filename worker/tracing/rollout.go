package tracing

import (
	"errors"
	"time"

	"relabel"
)

// Attempt describes an attempt that has ended.
type Attempt struct {
	Claim     relabel.Claim
	StartedAt time.Time
	Spent     relabel.TimeSpent
	Reason    relabel.EndReason     // why the rollout ended; "" if it has not
	Failure   relabel.FailureReason // what ended the attempt outside of the agent; "" for nothing
	Err       error                 // of the store, or of a release
}

func placeOf(c relabel.Claim) place { return place{c.TrajectoryID, c.Attempt} }

// Attempt sends the invoke_agent span of an attempt. Its turns were sent before.
func (t *Tracer) Attempt(a Attempt) {
	if t == nil {
		return
	}
	c, at := a.Claim, placeOf(a.Claim)
	s := span{place: at, id: at.turn(0), name: operationAgent + " " + c.Run.Scaffold, kind: kindInternal,
		begun: a.StartedAt, ended: time.Now()}
	outcome := ""
	outcome, s.failed = outcomeOf(a)
	s.attributes = []attribute{
		{operationName, operationAgent}, {agentName, c.Run.Scaffold}, {conversationID, c.TrajectoryID},
		{"relabel.run", c.Run.Name}, {"relabel.instance_id", c.Trajectory.InstanceID},
		{"relabel.kind", c.Iteration.Kind}, {"relabel.iteration", c.Iteration.Number},
		{"relabel.generation", c.Trajectory.Generation}, {"relabel.attempt", c.Attempt},
		{"relabel.executors", c.Trajectory.Executors}, {"relabel.end_reason", a.Reason},
		{"relabel.replayed_turns", len(c.Turns)}, {"relabel.outcome", outcome},
	}
	for part, ms := range a.Spent.Parts() {
		s.attributes = append(s.attributes, attribute{"relabel.time." + part + "_ms", ms})
	}
	if c.Trajectory.Trail > 0 && c.Trajectory.Trail != c.Attempt { // its turns are in that attempt's trace
		earlier := place{c.TrajectoryID, c.Trajectory.Trail}
		s.links = []link{{earlier, earlier.turn(0)}}
	}
	t.send(s)
}

// outcomeOf says how an attempt ended, and what went wrong if anything did. A release is not an error: another
// attempt continues.
func outcomeOf(a Attempt) (outcome string, failed relabel.Code) {
	var known *relabel.Error
	switch {
	case a.Failure != "":
		return "failed", relabel.Code(a.Failure)
	case a.Err == nil:
		return "ended", ""
	case !errors.As(a.Err, &known):
		return "released", ""
	case known.Code == relabel.CodeLeaseLost:
		return "lost", ""
	}
	return "released", known.Code
}

// Started sends a span of the preparation of the sandbox.
func (t *Tracer) Started(c relabel.Claim, begun time.Time, err error) {
	if t == nil {
		return
	}
	at := placeOf(c)
	t.send(span{place: at, parent: at.turn(0), name: "start sandbox", kind: kindInternal, begun: begun, ended: time.Now(),
		attributes: []attribute{{conversationID, c.TrajectoryID}}, failed: relabel.CodeOf(err)})
}

// Verified sends a span of the verification.
func (t *Tracer) Verified(c relabel.Claim, begun time.Time, v relabel.Verdict, err error) {
	if t == nil {
		return
	}
	t.send(t.verification(placeOf(c), begun, v, err))
}

// verification is the span of a verification that has ended now.
func (t *Tracer) verification(at place, begun time.Time, v relabel.Verdict, err error) span {
	s := span{place: at, parent: at.turn(0), name: "verify", kind: kindInternal, begun: begun, ended: time.Now(), failed: relabel.CodeOf(err)}
	s.attributes = []attribute{{conversationID, at.trajectory}}
	switch {
	case err != nil:
	case v.Infra != "":
		s.failed = relabel.Code(relabel.FailVerifier)
	default:
		s.attributes = append(s.attributes, verdictAttributes(v)...)
	}
	return s
}

func verdictAttributes(v relabel.Verdict) []attribute {
	score, label := 0.0, relabel.VerdictFailed
	if v.Passed {
		score, label = 1, relabel.VerdictPassed
	}
	if v.Score != nil {
		score, label = *v.Score, relabel.VerdictScore
	}
	return []attribute{{evaluationName, "verdict"}, {evaluationScore, score},
		{evaluationLabel, label}, {"relabel.verdict.reason", v.Reason}}
}
