package failuremode_test

import (
	"testing"

	"relabel"
	"relabel/failuremode"
)

func TestARolloutThatLocalisesHasNoMode(t *testing.T) {
	e := relabel.FailureEvidence{Kind: relabel.Localise, Trajectory: relabel.Trajectory{EndReason: relabel.EndMaxTurns, Submitted: new(false)}}
	if f := failuremode.Classify(e, nil); f.Mode != "" {
		t.Errorf("%+v", f)
	}
}
