package tracing

import (
	"time"

	"relabel"
)

// ofBatch is the trace of a batch of labels. No attempt has the number 0.
func ofBatch(id relabel.ID) place { return place{id, 0} }

// sentAt is when the endpoint accepted a batch, or when it was made if no endpoint did.
func sentAt(b relabel.LabelBatch) time.Time {
	if b.SentAt != nil {
		return *b.SentAt
	}
	return b.CreatedAt
}

// BatchAnswer sends a chat span of a label that a batch answered, below its turn, with a link to the batch. Its text of the
// state is not sent. The same answer again has the same id.
func (t *Tracer) BatchAnswer(c relabel.BatchClaim, item relabel.BatchItem, a relabel.BatchAnswer) {
	if t == nil {
		return
	}
	at, batch := place{item.TrajectoryID, item.Attempt}, ofBatch(c.BatchID)
	s := span{place: at, id: batch.answer(a.CustomID), parent: at.turn(item.T), name: operationChat + " " + c.Policy.Model,
		kind: kindClient, begun: sentAt(c.Batch), ended: time.Now(), links: []link{{batch, batch.turn(0)}}}
	s.attributes = append(policyAttributes(operationChat, c.Policy), attribute{conversationID, item.TrajectoryID},
		attribute{"relabel.purpose", relabel.PurposeLabel}, attribute{"relabel.turn", item.T}, attribute{"relabel.attempt", item.Attempt},
		attribute{"relabel.batch", c.BatchID})
	if a.Err != nil {
		s.failed = relabel.CodeOf(a.Err)
	} else {
		s.attributes = append(s.attributes, answerAttributes(a.Completion)...)
		if t.content {
			s.attributes = append(s.attributes, attribute{outputMessages, outputText(a.Completion)})
		}
	}
	t.send(s)
}

// Batch sends the span of a batch of labels that has ended, a trace of its own.
func (t *Tracer) Batch(c relabel.BatchClaim, as relabel.BatchState, remoteState string) {
	if t == nil {
		return
	}
	at := ofBatch(c.BatchID)
	s := span{place: at, id: at.turn(0), name: "label_batch " + c.Policy.Model, kind: kindClient, begun: sentAt(c.Batch), ended: time.Now()}
	s.attributes = append(policyAttributes(operationChat, c.Policy), attribute{"relabel.batch", c.BatchID}, attribute{"relabel.run", c.Run.Name},
		attribute{"relabel.batch.state", as}, attribute{"relabel.batch.remote_state", remoteState},
		attribute{"relabel.batch.labels", c.Batch.Labels}, attribute{"relabel.batch.round", c.Batch.Round})
	if as == relabel.BatchFailed {
		s.failed = relabel.CodeEndpoint
	}
	t.send(s)
}

// Regraded sends a span of a verification of a stored submission, in the trace of the attempt that has its turns.
func (t *Tracer) Regraded(c relabel.RegradeClaim, begun time.Time, v relabel.Verdict, err error) {
	if t == nil {
		return
	}
	at := place{c.Trajectory.ID, c.Trajectory.Trail}
	s := t.verification(at, begun, v, err)
	s.attributes = append(s.attributes, attribute{"relabel.regrading", c.RegradingID})
	t.send(s)
}
